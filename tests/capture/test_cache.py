"""Woven code that is kept on disk is the code that would be woven anew, and whatever is wrong with it is passed over."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest

from stillframe.capture import cache
from stillframe.capture.cache import cache_folder, woven_file
from stillframe.capture.weave import WovenFile

SOURCE = "def f(x):\n    y = x + 1\n    return [y for _ in range(2)]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STILLFRAME_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "woven"


@pytest.fixture
def weavings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that were woven, not loaded."""
    original, done = cache.weave_source, []

    def counted(source: str, path: str, *arguments: object) -> WovenFile:
        done.append(path)
        return original(source, path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cache, "weave_source", counted)
    return done


def same(one: WovenFile, other: WovenFile) -> bool:
    return (one.functions, one.sites, one.plain, one.marked) == (other.functions, other.sites, other.plain, other.marked)


def test_the_second_time_it_is_loaded_and_equal(folder: Path, weavings: list[str]) -> None:
    first, second = woven_file(SOURCE, "a.py"), woven_file(SOURCE, "a.py")
    assert weavings == ["a.py"]
    assert same(first, second) and first.sites
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(("source", "path"), [(SOURCE + "\n", "a.py"), (SOURCE, "b.py")])
def test_another_text_or_place_is_woven_anew(folder: Path, weavings: list[str], source: str, path: str) -> None:
    woven_file(SOURCE, "a.py")
    woven_file(source, path)
    assert weavings == ["a.py", path]


def test_another_interpreter_is_woven_anew(folder: Path, weavings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    woven_file(SOURCE, "a.py")
    monkeypatch.setattr(cache, "_fingerprint", ["another weaver, another Python"])
    woven_file(SOURCE, "a.py")
    assert weavings == ["a.py", "a.py"]


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped", "foreign", "folder"])
def test_a_damaged_entry_is_passed_over_and_made_anew(folder: Path, weavings: list[str], damage: str) -> None:
    fresh = woven_file(SOURCE, "a.py")
    (entry,) = folder.iterdir()
    kept = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        half = len(kept) // 2
        flipped = kept[:half] + bytes([kept[half] ^ 0x10]) + kept[half + 1 :]
        entry.write_bytes({"empty": b"", "truncated": kept[:half], "flipped": flipped, "foreign": b"\0" * 99}[damage])
    again = woven_file(SOURCE, "a.py")
    assert same(fresh, again) and weavings == ["a.py", "a.py"]
    if damage != "folder":
        assert entry.read_bytes() == kept
        assert same(fresh, woven_file(SOURCE, "a.py")) and len(weavings) == 2


def test_a_place_that_cannot_be_written_costs_time_only(
    tmp_path: Path, weavings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("STILLFRAME_CACHE", str(tmp_path / "file"))
    assert same(woven_file(SOURCE, "a.py"), woven_file(SOURCE, "a.py"))
    assert weavings == ["a.py", "a.py"]
    assert (tmp_path / "file").read_text() == "in the way"


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STILLFRAME_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.join(os.sep, "some", "where"))
    if sys.platform != "win32":
        assert cache_folder() == Path(os.sep, "some", "where", "stillframe")
    monkeypatch.setenv("STILLFRAME_CACHE", "here")
    assert cache_folder() == Path("here")


def test_code_that_was_kept_runs_as_what_was_woven(folder: Path) -> None:
    from capture.side_by_side import Seen
    from stillframe.capture.weave import Loom

    def run(woven: WovenFile) -> tuple[object, list[int]]:
        module, seen = types.ModuleType("m"), Seen()
        exec(compile(SOURCE, "a.py", "exec", dont_inherit=True), module.__dict__)
        loom = Loom()
        loom.take(woven, seen.observers, 0)
        assert loom.swap_one(module.f)
        try:
            return module.f(2), seen.sites
        finally:
            loom.restore()

    assert run(woven_file(SOURCE, "a.py")) == run(woven_file(SOURCE, "a.py")) == ([3, 3], run(woven_file(SOURCE, "a.py"))[1])
    assert run(woven_file(SOURCE, "a.py"))[1]
