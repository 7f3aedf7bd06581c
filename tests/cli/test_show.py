"""Checks `stillframe show` with the real command: every view, without torch, in JSON, into pipes, and its golden first
screen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., "subprocess.CompletedProcess[str]"]
GOLDEN = Path(__file__).parents[1] / "golden"
UPDATE = os.environ.get("STILLFRAME_UPDATE_GOLDEN") == "1"

NO_TORCH = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "numpy", "tokenizers", "safetensors"):
            raise ImportError(f"{name} is not here")
sys.meta_path.insert(0, Absent())
"""

VIEWS = [
    [],
    ["path"],
    ["path", "--all"],
    ["ops"],
    ["ops", "--all"],
    ["source"],
    ["source", "MiniAttention.forward"],
    ["stack", "f6"],
    ["stack", "e50", "--all"],
]


@pytest.mark.parametrize("words", VIEWS, ids=" ".join)
def test_every_view_opens_where_torch_is_not(stillframe: Command, mini_gpt: Path, words: list[str]) -> None:
    done = stillframe("show", str(mini_gpt), *words, prelude=NO_TORCH)
    assert (done.returncode, done.stderr) == (0, "")
    assert "MiniAttention.forward" in done.stdout or "attn_scores" in done.stdout
    assert "\x1b" not in done.stdout
    told = stillframe("show", str(mini_gpt), *words, "--json", prelude=NO_TORCH)
    assert (told.returncode, told.stderr) == (0, "")
    answer = json.loads(told.stdout)
    assert answer["what"] == (words[0] if words else "overview")


def test_a_value(stillframe: Command, mini_gpt: Path) -> None:
    path = json.loads(stillframe("show", str(mini_gpt), "path", "--json").stdout)
    (scores,) = [step for step in path["steps"] if step.get("name") == "attn_weights"]
    id = scores["value"]["value"]
    done = stillframe("show", str(mini_gpt), "value", f"v{id}", prelude=NO_TORCH)
    assert done.returncode == 0
    assert "(2, 8, 8) f32" in done.stdout
    assert "mini_gpt.py:28" in done.stdout
    told = json.loads(stillframe("show", str(mini_gpt), "value", str(id), "--json").stdout)
    rows = told["value"]["excerpt"]["numbers"]
    assert all(0 <= number <= 1 for row in rows for number in row)
    assert told["value"]["facts"]["count"] == 128


def test_the_dump(stillframe: Command, mini_gpt: Path) -> None:
    done = stillframe("show", str(mini_gpt), "dump", prelude=NO_TORCH)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert records[0]["record"] == "manifest"
    assert records[0]["facts"]["ended"] == "finished"
    assert {record["record"] for record in records} >= {"file", "function", "site", "frame", "event", "value", "content"}


def test_golden_first_screen(stillframe: Command, mini_gpt: Path) -> None:
    """Set STILLFRAME_UPDATE_GOLDEN=1 to take the screen as it is now."""
    screen = stillframe("show", str(mini_gpt)).stdout.replace(str(mini_gpt), "mini_gpt.still")
    screen = screen.replace(str(Path(__file__).parents[2] / "examples") + os.sep, "")
    screen = re.sub(r"^(versions  ).*", r"\1…", screen, flags=re.MULTILINE)
    screen = re.sub(r"calls, [\d.]+ s", "calls, … s", screen)
    screen = re.sub(r"\[-?[\d.e+-]+, -?[\d.e+-]+\] *", "[…] ", screen)
    screen = re.sub(r"\bv\d+", "v…", screen)
    golden = GOLDEN / "mini_gpt.txt"
    if UPDATE:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(screen, encoding="utf-8")
    assert screen == golden.read_text(encoding="utf-8")


def test_the_commands_it_names_work(stillframe: Command, mini_gpt: Path) -> None:
    screen = stillframe("show", str(mini_gpt)).stdout
    commands = [line.split("  ")[0].split()[1:] for line in screen.splitlines() if line.startswith("stillframe show")]
    assert len(commands) == 5
    for words in commands:
        assert stillframe(*words).returncode == 0, words


def test_a_narrow_terminal_without_signs(stillframe: Command, mini_gpt: Path) -> None:
    done = stillframe("show", str(mini_gpt), COLUMNS="72", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    tree = done.stdout.split("The way through")[1].split("Where to go next")[0]
    assert max(map(len, tree.splitlines())) <= 72


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["none.still"], 1, "There is no such file."),
        (["PATH", "source", "MiniAttention.foward"], 2, "MiniAttention.forward"),
        (["PATH", "source", "__init__"], 2, "Several functions"),
        (["PATH", "value"], 2, "No id was given."),
        (["PATH", "value", "v999999"], 2, "no such value"),
        (["PATH", "value", "e3"], 2, "not for values"),
        (["PATH", "stack", "x"], 2, "An id is v, e or f"),
        (["PATH", "path", "x"], 2, "takes no further word"),
    ],
)
def test_mistakes_are_answered(stillframe: Command, mini_gpt: Path, words: list[str], code: int, told: str) -> None:
    done = stillframe("show", *(str(mini_gpt) if word == "PATH" else word for word in words))
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away(mini_gpt: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "stillframe", "show", str(mini_gpt), "dump"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=60)


def test_the_version_and_the_help(stillframe: Command) -> None:
    assert re.fullmatch(r"stillframe .+, Python 3\.\d+\.\d+\n", stillframe("--version").stdout)
    assert stillframe().returncode == 0
    for words in ([], ["read"], ["run"], ["show"]):
        done = stillframe(*words, "--help", prelude=NO_TORCH)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: stillframe")
