"""Checks what the package promises as a whole: importing it is inert, and its files are small, explained and listed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "stillframe"
FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))

INERT = """
import os, sys, threading
import logging, signal, warnings

def state():
    return (
        sys.gettrace(), sys.getprofile(), list(sys.meta_path), list(sys.path_hooks), list(sys.path), sys.excepthook,
        threading.excepthook, sys.breakpointhook, sys.displayhook, list(warnings.filters), list(logging.root.handlers),
        [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], dict(os.environ),
        sorted(os.listdir(".")),
    )

before = state()
import stillframe
after = state()
assert before == after, (before, after)
heavy = {"torch", "transformers", "tokenizers", "rich", "numpy", "sqlite3"} & set(sys.modules)
assert not heavy, heavy
"""


def test_importing_stillframe_is_inert(tmp_path: Path) -> None:
    command = [sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\n{INERT}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", FILES)
def test_source_file_is_explained_and_small(path: str) -> None:
    text = (SOURCE / path).read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{path} has no module docstring"
    assert text.count("\n") < 500, f"{path} has 500 lines or more: it is two files"


def test_readme_maps_every_source_file() -> None:
    """A map line begins with the path in backquotes, as in "- `target/spec.py` the user's words → a Spec"."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    mapped = re.findall(r"^[\s|*-]*`(?:src/stillframe/)?([\w/.-]+\.py)`", text, re.MULTILINE)
    elsewhere = {path for path in mapped if (ROOT / path).exists()}
    assert sorted(set(mapped) - elsewhere) == [path for path in FILES if not _only_says_what_a_folder_is(path)]
    assert len(mapped) == len(set(mapped)), "a file is listed twice"


def _only_says_what_a_folder_is(path: str) -> bool:
    """Whether it is a folder's `__init__.py` that holds a docstring and nothing else."""
    body = ast.parse((SOURCE / path).read_text(encoding="utf-8")).body
    return path.endswith("/__init__.py") and len(body) <= 1
