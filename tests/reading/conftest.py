"""Gives the tests of reading real recordings, made once a session through the real command, and a way to make small
ones.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stillframe.reading.still import Still, open_still

ROOT = Path(__file__).parents[2]
SNIPPETS = Path(__file__).parent / "snippets"


def record(script: Path, output: Path) -> Path:
    """Record a script as the command does; its exit code does not matter."""
    command = [sys.executable, "-m", "stillframe", "run", "-o", str(output), str(script)]
    done = subprocess.run(command, cwd=output.parent, capture_output=True, text=True, timeout=120, env=_environment())
    assert output.exists(), done.stderr
    return output


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "2"}


@pytest.fixture(scope="session")
def run_environment() -> dict[str, str]:
    """What the command's process is to find in its environment."""
    return _environment()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings")


@pytest.fixture(scope="session")
def mini_gpt(folder: Path) -> Iterator[Still]:
    """The articles' GPT: two layers, a breakpoint in each."""
    with open_still(record(ROOT / "examples" / "mini_gpt.py", folder / "mini_gpt.still")) as still:
        yield still


@pytest.fixture(scope="session")
def llama(folder: Path) -> Iterator[Still]:
    """The embedded default: two layers of Llama, sdpa."""
    output = folder / "llama.still"
    command = [sys.executable, "-m", "stillframe", "read", "llama", "-o", str(output), "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=_environment())
    assert done.returncode == 0, done.stderr
    with open_still(output) as still:
        yield still


@pytest.fixture(scope="session")
def snippets(folder: Path) -> Iterator[Still]:
    """The marked statements."""
    with open_still(record(SNIPPETS / "ran.py", folder / "ran.still")) as still:
        yield still


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Callable[[str], Still]]:
    """Records a small program."""
    opened: list[Still] = []

    def run(text: str) -> Still:
        script = tmp_path / f"program{len(opened)}.py"
        script.write_text(textwrap.dedent(text), encoding="utf-8")
        opened.append(open_still(record(script, script.with_suffix(".still"))))
        return opened[-1]

    yield run
    for still in opened:
        still.close()
