"""Checks, with the real command, that a script runs as under python: its output, exit code, arguments, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stillframe.reading.still import open_still

Command = Callable[..., "subprocess.CompletedProcess[str]"]
RECORDED = "stillframe: recorded in {0}.still; look at it with: stillframe show {0}.still\n"

ENDS = {
    "nothing": ("", 0),
    "exit_3": ("import sys\nsys.exit(3)\n", 3),
    "exit_true": ("import sys\nsys.exit(True)\n", 1),
    "exit_none": ("import sys\nsys.exit()\n", 0),
    "exit_text": ("import sys\nsys.exit('no more')\n", 1),
    "raises": ("def f(x):\n    return x / 0\nf(1)\n", 1),
    "not_python": ("def f(:\n", 1),
    "catches_all": ("try:\n    raise SystemExit(5)\nexcept SystemExit:\n    print('caught')\n", 0),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_as_under_python(stillframe: Command, tmp_path: Path, name: str) -> None:
    source, code = ENDS[name]
    (tmp_path / f"{name}.py").write_text(source)
    plain = subprocess.run([sys.executable, f"{name}.py"], cwd=tmp_path, capture_output=True, text=True)
    done = stillframe("run", f"{name}.py")
    assert (done.returncode, plain.returncode) == (code, code)
    assert done.stdout == plain.stdout
    assert done.stderr == plain.stderr + RECORDED.format(name)
    with open_still(tmp_path / f"{name}.still") as still:
        assert still.manifest["ended"] == ("raised" if name in ("raises", "not_python") else "finished")


def test_all_after_the_script_is_its_own(stillframe: Command, tmp_path: Path) -> None:
    (tmp_path / "args.py").write_text("import sys\nprint(sys.argv, sys.stdin.read(), __name__)\n")
    done = stillframe("run", "-o", "a.still", "args.py", "-o", "x", "--json", "--", "-m", "--help")
    assert done.stdout == "['args.py', '-o', 'x', '--json', '--', '-m', '--help']  __main__\n"
    assert done.stderr == RECORDED.format("a")
    assert (tmp_path / "a.still").exists()


def test_a_module(stillframe: Command, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "main.py").write_text("import sys\nprint(sys.argv[1:], __package__)\nsys.exit(4)\n")
    done = stillframe("run", "-m", "pack.main", "-m", "x")
    assert (done.returncode, done.stdout) == (4, "['-m', 'x'] pack\n")
    assert (tmp_path / "main.still").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_it_as_python_ends(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "waits.py").write_text("import time\nx = 41 + 1\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "stillframe", "run", "waits.py"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.endswith("KeyboardInterrupt\n" + RECORDED.format("waits"))
    with open_still(tmp_path / "waits.still") as still:
        assert still.manifest["ended"] == "interrupted"
        assert "Ctrl-C" in _screen(tmp_path / "waits.still") or "KeyboardInterrupt" in _screen(tmp_path / "waits.still")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_it_opens_and_says_so(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "waits.py").write_text(
        "import time\ndef f(n):\n    a = n\n    print('ready', flush=True)\n    time.sleep(60)\n    b = 2\nf(1)\n"
    )
    command = [sys.executable, "-m", "stillframe", "run", "waits.py"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(2)
    process.kill()
    process.wait(timeout=60)
    assert "stops before the run came to its end" in _screen(tmp_path / "waits.still")
    with open_still(tmp_path / "waits.still") as still:
        (source,) = still.source("f")
        assert [line.status for line in source.lines] == ["ran", "ran", "ran", "unknown", "unknown"]


def _screen(path: Path) -> str:
    from stillframe.views.overview import overview_document
    from stillframe.views.text import to_text

    with open_still(path) as still:
        return to_text(overview_document(still.overview(), still.path(), path))


@pytest.mark.parametrize("mode", ["mark", "off"])
def test_breakpoints(stillframe: Command, tmp_path: Path, mode: str) -> None:
    (tmp_path / "stops.py").write_text("def f(a):\n    breakpoint()\n    return a\nprint(f(1))\n")
    done = stillframe("run", "--breakpoints", mode, "stops.py")
    assert (done.returncode, done.stdout) == (0, "1\n")
    with open_still(tmp_path / "stops.still") as still:
        assert [dict(mark.names).keys() for mark in still.recording.marks] == ([{"a"}] if mode == "mark" else [])


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["run", "none.py"], 2, "There is no such file."),
        (["run", "-o", "no/where.still", "none.py"], 1, "There is no folder no."),
        (["run", "-o", "here.py", "here.py"], 2, "That is the script itself."),
        (["run"], 2, "required"),
        (["read", "lama"], 2, "llama"),
        (["read", "llama", "-o", "no/where.still"], 1, "There is no folder no."),
        (["read", "llama", "--batch", "0"], 2, "at least one row"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_run(
    stillframe: Command, tmp_path: Path, words: list[str], code: int, told: str
) -> None:
    (tmp_path / "here.py").write_text("print('ran')\n")
    done = stillframe(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "none.still" not in done.stderr  # what we made ourselves is no near name
    assert [path.name for path in tmp_path.iterdir()] == ["here.py"]


def test_an_older_recording_outlives_a_typo(stillframe: Command, tmp_path: Path) -> None:
    (tmp_path / "none.still").write_bytes(b"")
    done = stillframe("run", "none.py")
    assert done.returncode == 2
    assert (tmp_path / "none.still").read_bytes() == b""


def test_what_cannot_be_built_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="a model needs torch")
    from stillframe import session

    def refuse(spec: object) -> None:
        raise MemoryError("injected")

    monkeypatch.setattr(session, "build", refuse)
    with pytest.raises(MemoryError):
        session.record_target(session.parse_spec("llama"), tmp_path / "x.still", session.ValuePolicy())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("where", "kept"), [("build", False), ("scenario_called", True)])
def test_it_is_said_that_the_model_raised_only_if_it_did(stillframe: Command, tmp_path: Path, where: str, kept: bool) -> None:
    pytest.importorskip("torch", reason="a model needs torch")
    fault = "lambda *_: 1 / 0" if where == "build" else "lambda name: lambda *_: 1 / 0"
    done = stillframe("read", "llama", prelude=f"from stillframe import session\nsession.{where} = {fault}")
    assert done.returncode == 1
    assert ("the model raised ZeroDivisionError; all up to it is in llama.still" in done.stderr) == kept
    assert (tmp_path / "llama.still").exists() == kept


def test_read_llama(stillframe: Command, tmp_path: Path) -> None:
    done = stillframe("read", "llama", "--seq", "5", "--text", "What a day")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("llama: LlamaForCausalLM · forward\n")
    assert "sizes       B=" in done.stdout
    assert "random weights: structure, not quality" in done.stdout
    assert "layers.0–1: LlamaDecoderLayer.forward ×2" in done.stdout
    assert "tokens      W h a t ␣" in done.stdout
    (command,) = [line for line in done.stdout.splitlines() if line.startswith("stillframe show llama.still source")]
    again = stillframe("show", "llama.still", "source", command.split("source ")[1].split()[0])
    assert again.returncode == 0
    assert "query_states (2, 12, 5, 10) f32 [" in again.stdout


def test_read_without_values(stillframe: Command) -> None:
    done = stillframe("read", "llama", "--no-values", "-o", "bare.still")
    (logits,) = [line for line in done.stdout.splitlines() if " logits " in line]
    assert "(2, 7, 259) f32  " in logits
    assert "[" not in logits


def test_an_older_recording_outlives_a_module_that_cannot_be_run(stillframe: Command, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "part.py").write_text("print('ran')\n")
    assert stillframe("run", "-o", "pack.still", "-m", "pack.part").returncode == 0
    before = (tmp_path / "pack.still").read_bytes()
    done = stillframe("run", "-o", "pack.still", "-m", "pack")
    assert done.returncode == 2 and "__main__" in done.stderr
    assert (tmp_path / "pack.still").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"pack", "pack.still"}
    assert stillframe("run", "-o", "pack.still", "-m", "pack.part").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"pack", "pack.still"}


def test_stepping_at_the_prompt_stays_out_of_the_observers(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "stops.py").write_text("def f(a):\n    breakpoint()\n    b = a + 1\n    c = b * 2\n    return c\nprint(f(1))\n")
    command = [sys.executable, "-m", "stillframe", "run", "--breakpoints", "prompt", "stops.py"]
    asked = "step\nstep\nstep\np c\ncontinue\n"
    done = subprocess.run(
        command, cwd=tmp_path, input=asked, capture_output=True, text=True, timeout=120, env=environment, check=True
    )
    stops = [line for line in done.stdout.splitlines() if "stops.py(" in line or "observe" in line]
    assert stops and not any("observe" in line for line in stops)
    assert "(Pdb) 4\n" in done.stdout and done.stdout.endswith("4\n")
