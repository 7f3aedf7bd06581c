"""Functions typed in a notebook cell or at a plain prompt: their source is in no file, or nowhere at all."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from stillframe.capture.lines import LineWatch

SOURCE = Path(__file__).parents[2] / "src"

TYPED = """\
import torch, stillframe
def attend(q, k):
    s = q @ k.T
    w = torch.softmax(s, -1)
    w.mul_(2)
    return w

class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(3, 3)
    def forward(self, x):
        y = self.a(x)
        z = attend(y, x)
        return z

m = M().eval()
with stillframe.record({path!r}):
    out = m(torch.ones(2, 3))

"""


def test_a_plain_prompt(tmp_path):
    pytest.importorskip("torch", reason="the prompt types a model")
    from stillframe.recording.reader import open_recording

    path = str(tmp_path / "x.still")
    ran = subprocess.run(
        [sys.executable, "-i", "-q"],
        input=TYPED.format(path=path),
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHON_BASIC_REPL": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Error" not in ran.stderr, ran.stderr
    with open_recording(path) as recording:
        names = {f.qualname for f in recording.functions.values() if f.id in {x.function for x in recording.frames.values()}}
        assert names == {"M.forward", "attend"}
        bound = [
            (recording.sites[event.site].binds, recording.value(event.value)) for event in recording.events() if event.value
        ]
        shapes = {name: tuple(value.about.get("shape", ())) for name, value in bound if name}
        assert shapes["y"] == shapes["q"] == (2, 3) and shapes["s"] == shapes["w"] == shapes["z"] == (2, 2)
        sums = [sum(recording.numbers(value).flat) for name, value in bound if name == "z"]
        assert sums == [pytest.approx(4.0)]


def test_a_notebook_cell(tmp_path):
    torch = pytest.importorskip("torch", reason="the cell uses tensors")
    import stillframe
    from stillframe.recording.reader import open_recording

    name = "<ipython-input-7-0123456789ab>"
    text = "def cell(x):\n    y = x * 2\n    return (y + 1).sum()\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)  # as IPython does
    module = types.ModuleType("__main__")
    exec(compile(text, name, "exec"), module.__dict__)
    cell = module.cell
    with stillframe.record(tmp_path / "x.still"):
        cell(torch.ones(3))
    del linecache.cache[name]
    with open_recording(tmp_path / "x.still") as recording:
        (file,) = [file for file in recording.files.values() if file.path == name]
        assert file.text == text and file.origin == "interactive"
        spans = [
            text.splitlines()[site.line - 1][site.col : site.end_col]
            for site in (recording.sites[event.site] for event in recording.events())
            if site.kind == "value"
        ]
        assert spans == ["x * 2", "y + 1", "(y + 1).sum()"]


def typed(text):
    namespace: dict[str, object] = {}
    exec(compile(text, "<typed>", "exec"), namespace)
    return namespace


def watched(namespace, *names, call):
    told: list[tuple[object, ...]] = []
    watch = LineWatch(
        lambda frame, arguments: told.append(("begin", frame.f_code.co_name, arguments)),
        lambda frame, line, name, value: told.append((line, name, value)),
        lambda value: len(value) if isinstance(value, list) else None,
    )
    means = watch.watch([namespace[name].__code__ for name in names])
    try:
        result = call()
    finally:
        watch.stop()
        watch.stop()
    return means, result, told


def test_lines_are_told_with_what_they_bound():
    namespace = typed(
        "def f(a, *rest, k=1):\n    b = a + 1\n    if b > 5:\n        c = [b]\n        c.append(2)\n    return b\n"
    )
    means, result, told = watched(namespace, "f", call=lambda: [namespace["f"](1), namespace["f"](9, 8, k=2)])
    assert result == [2, 10]
    assert means == ("sys.monitoring" if sys.version_info >= (3, 12) else "a trace function")
    assert told == [
        ("begin", "f", [("a", 1), ("k", 1), ("rest", ())]),
        (2, "b", 2),
        (6, "return", 2),
        ("begin", "f", [("a", 9), ("k", 2), ("rest", (8,))]),
        (2, "b", 10),
        (4, "c", [10, 2]),
        (5, "c", [10, 2]),
        (6, "return", 10),
    ]


def test_recursion_and_exceptions():
    namespace = typed("def g(n):\n    m = n - 1\n    if n == 0:\n        raise KeyError(n)\n    r = g(m)\n    return r\n")

    def call():
        with pytest.raises(KeyError):
            namespace["g"](2)

    _, _, told = watched(namespace, "g", call=call)
    assert [one for one in told if one[0] == "begin"] == [("begin", "g", [("n", n)]) for n in (2, 1, 0)]
    assert [one for one in told if one[0] == 2] == [(2, "m", 1), (2, "m", 0), (2, "m", -1)]
    assert not [one for one in told if one[1] == "return"]
    assert sys.gettrace() is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from 3.12 on no trace function is used")
def test_somebody_elses_trace_function_is_left_alone():
    def trace(frame, event, argument):
        return None

    namespace = typed("def h():\n    x = 1\n    return x\n")
    sys.settrace(trace)
    try:
        means, result, told = watched(namespace, "h", call=namespace["h"])
        assert (means, result, told) == ("", 1, []) and sys.gettrace() is trace
    finally:
        sys.settrace(None)
