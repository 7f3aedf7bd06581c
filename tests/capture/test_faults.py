"""Faults of our own, of the sink and of the disk: the run is unharmed, and the recording says what is missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="a model needs torch")

import stillframe  # noqa: E402
from recorded import record_call  # noqa: E402
from snippets import tiny_models  # noqa: E402
from stillframe.capture import tensors, values  # noqa: E402
from stillframe.recording import writer  # noqa: E402
from stillframe.recording.reader import open_recording  # noqa: E402

SOURCE = Path(__file__).parents[2] / "src"


def plain_and_recorded(path):
    plain = tiny_models.train()
    recorded, recording = record_call(path, tiny_models.train)
    assert all(torch.equal(one, other) for one, other in zip(plain, recorded, strict=True))
    return recording


def test_a_fault_in_the_observer_is_counted_and_said(tmp_path, monkeypatch):
    original, calls = values.ValueKeeper.object_number, []

    def faulty(self, thing):
        calls.append(thing)
        if len(calls) % 3 == 0:
            raise LookupError("injected")
        return original(self, thing)

    monkeypatch.setattr(values.ValueKeeper, "object_number", faulty)
    recording = plain_and_recorded(tmp_path / "x.still")
    notes = [note for note in recording.notes if note.kind == "incomplete"]
    assert any("injected" in note.reason and "times" in note.reason for note in notes)
    assert recording.event_count > 100


def test_a_tensor_that_cannot_be_read_is_described_by_why(tmp_path, monkeypatch):
    def faulty(self, *arguments):
        raise OSError("memory refused")

    monkeypatch.setattr(tensors.TensorShelf, "_content", faulty)
    recording = plain_and_recorded(tmp_path / "x.still")
    abouts = [recording.value(event.value).about for event in recording.events() if event.value]
    assert any("memory refused" in str(about.get("not_had")) for about in abouts)
    assert recording.event_count > 200


@pytest.mark.parametrize("when", [0, 1, 3])
def test_a_sink_that_fails_ends_the_recording_not_the_run(tmp_path, monkeypatch, when):
    original, calls = writer.StillWriter._put, []

    def faulty(self, connection, batch):
        calls.append(batch)
        if len(calls) > when:
            raise OSError(28, "No space left on device")
        return original(self, connection, batch)

    monkeypatch.setattr(writer.StillWriter, "_put", faulty)
    plain = tiny_models.train(steps=3)
    path = tmp_path / "x.still"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with stillframe.record(path) as session:
            found = []
            for _ in range(4):
                found = tiny_models.train(steps=3)
                time.sleep(0.3)
    assert all(torch.equal(one, other) for one, other in zip(plain, found, strict=True))
    assert "No space left" in session.incomplete
    assert any("No space left" in str(warning.message) for warning in said)
    monkeypatch.undo()
    with open_recording(path) as recording:
        assert all(recording.value(event.value) for event in recording.events() if event.value)


def test_a_disk_that_fills_up_mid_run(tmp_path):
    """A real limit on the file's size, in a process of its own."""
    script = tmp_path / "fill.py"
    script.write_text(
        textwrap.dedent(
            """
            import resource, signal, sys
            import torch, stillframe

            def work(n):
                kept = []
                for i in range(n):
                    x = torch.randn(200, 200)
                    y = x @ x
                    kept.append(float(y.sum()))
                return kept

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, 6_000_000))
            torch.manual_seed(0)
            with stillframe.record(sys.argv[1]) as session:
                found = work(200)
            torch.manual_seed(0)
            assert work(200) == found
            print("incomplete:", bool(session.incomplete))
            """
        )
    )
    path = tmp_path / "x.still"
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", script, path],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "incomplete: True\n"
    with open_recording(path) as recording:
        assert all(recording.value(event.value) for event in recording.events() if event.value)


FOREVER = """
import sys, time
import torch, stillframe

def step(i):
    x = torch.full((8,), float(i))
    y = x * 2
    return y

with stillframe.record(sys.argv[1]):
    i = 0
    print("begun", flush=True)
    while True:
        step(i)
        i += 1
        if i % 100 == 0:
            print(i, time.time(), flush=True)
        time.sleep(0.001)
"""


def running_forever(tmp_path):
    script = tmp_path / "forever.py"
    script.write_text(FOREVER)
    child = subprocess.Popen(
        [sys.executable, script, tmp_path / "x.still"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "begun\n"
    return child


def steps_in(recording):
    return sum(1 for frame in recording.frames.values() if recording.functions[frame.function].qualname == "step")


def test_kill_9_loses_at_most_the_last_second(tmp_path):
    child = running_forever(tmp_path)
    lines = [child.stdout.readline() for _ in range(25)]
    child.send_signal(signal.SIGKILL)
    rest, _ = child.communicate(timeout=30)
    lines += rest.splitlines()
    told = [(int(count), float(when)) for count, when in (line.split() for line in lines if len(line.split()) == 2)]
    last = told[-1][1]
    before_the_last_second = max(count for count, when in told if when < last - 1)
    with open_recording(tmp_path / "x.still") as recording:
        assert recording.manifest["ended"] == ""
        assert steps_in(recording) >= before_the_last_second > 0
        assert all(recording.value(event.value) for event in recording.events() if event.value)


def test_ctrl_c_closes_the_recording_and_keeps_it(tmp_path):
    child = running_forever(tmp_path)
    for _ in range(8):
        child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode in (-signal.SIGINT, 1) and "KeyboardInterrupt" in errors
    with open_recording(tmp_path / "x.still") as recording:
        assert recording.manifest["ended"] == "interrupted"
        assert steps_in(recording) >= 700
    assert not list(tmp_path.glob("x.still-*"))


def test_a_forked_child_leaves_the_file_alone(tmp_path):
    def forks():
        pid = os.fork()
        if pid == 0:
            tiny_models.Attention(8, 2).train(False)
            os._exit(0)
        os.waitpid(pid, 0)
        return tiny_models.train(steps=1)

    _, recording = record_call(tmp_path / "x.still", forks)
    assert sum(1 for f in recording.frames.values() if recording.functions[f.function].qualname == "Model.forward") == 1
    assert [note.subject for note in recording.notes if note.kind == "process"] == ["os.fork"]


def test_data_loader_workers_are_reported(tmp_path):
    def loads():
        loader = torch.utils.data.DataLoader(list(range(4)), num_workers=1)
        return [int(item) for item in loader]

    loaded, recording = record_call(tmp_path / "x.still", loads)
    assert loaded == [0, 1, 2, 3]
    assert "process" in [note.kind for note in recording.notes]


def test_what_cannot_be_woven_is_said(tmp_path):
    path = tmp_path / "changed_since.py"
    path.write_text("def f(x):\n    y = x + 1\n    return y\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import changed_since

        path.write_text("def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n")
        result, recording = record_call(tmp_path / "x.still", lambda: changed_since.f(1), include=["changed_since"])
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("changed_since", None)
    assert result == 2
    assert not [f for f in recording.frames.values() if recording.functions[f.function].qualname == "f"]
    assert any(note.kind == "unwoven" and "changed" in note.reason for note in recording.notes)
