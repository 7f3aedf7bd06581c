"""Gives the tests of the command line the real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Done = subprocess.CompletedProcess[str]
Command = Callable[..., Done]


@pytest.fixture(name="environment", scope="session")
def environment_fixture() -> dict[str, str]:
    """What the command's process is to find in its environment."""
    return environment()


def environment(**more: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "PYTHONIOENCODING")}
    return plain | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "2", "PYTHONUTF8": "1"} | more


@pytest.fixture
def stillframe(tmp_path: Path) -> Command:
    """Run `stillframe …` in an empty folder."""

    def run(*words: str, prelude: str = "", **more: str) -> Done:
        start = [sys.executable, "-m", "stillframe"]
        if prelude:
            start = [sys.executable, "-c", f"{prelude}\nimport sys; from stillframe.cli.main import main; sys.exit(main())"]
        return subprocess.run(
            [*start, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=180,
            env=environment(**more),
        )

    return run


@pytest.fixture(scope="session")
def mini_gpt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the articles' GPT."""
    folder = tmp_path_factory.mktemp("mini")
    path = folder / "mini_gpt.still"
    command = [sys.executable, "-m", "stillframe", "run", "-o", str(path), str(ROOT / "examples" / "mini_gpt.py")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=180, env=environment())
    return path
