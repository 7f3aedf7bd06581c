"""Checks what is made one: runs of equal neighbours and of equal groups, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.reading.fold import runs_of
from stillframe.reading.tree import paths_text


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", []),
        ("a", [("a", 1)]),
        ("abc", [("abc", 1)]),
        ("aaa", [("a", 3)]),
        ("abab", [("ab", 2)]),
        ("xababy", [("x", 1), ("ab", 2), ("y", 1)]),
        ("aab", [("a", 2), ("b", 1)]),
        ("aabaab", [("aab", 2)]),
        ("abcabd", [("abcabd", 1)]),
        ("aaaaab", [("a", 5), ("b", 1)]),
    ],
)
def test_runs(keys: str, expected: list[tuple[str, int]]) -> None:
    runs = runs_of([ord(key) for key in keys])
    assert [(keys[run.start : run.start + run.length], run.times) for run in runs] == expected


@given(st.lists(st.integers(0, 2), max_size=60))
def test_unfolding_the_runs_gives_the_keys(keys: list[int]) -> None:
    unfolded = [key for run in runs_of(keys) for _ in range(run.times) for key in keys[run.start : run.start + run.length]]
    assert unfolded == keys


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["model"], "model"),
        (["layers.0", "layers.1", "layers.2"], "layers.0–2"),
        (["layers.0.mlp", "layers.2.mlp", "layers.3.mlp"], "layers.0,2–3.mlp"),
        (["a.0.b.0", "a.1.b.1"], "a.0.b.0, a.1.b.1"),
        (["left", "right"], "left, right"),
        (["a", "a.0"], "a, a.0"),
    ],
)
def test_paths_as_one(paths: list[str], expected: str) -> None:
    assert paths_text(paths) == expected
