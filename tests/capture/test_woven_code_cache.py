"""Woven code kept on disk is as good as new, and whatever is wrong with what is kept costs time and nothing else."""

from __future__ import annotations

import hashlib
import marshal
import os
import stat

import pytest

from capture.side_by_side import Seen, codes_in, module_from
from stillframe.capture import cache
from stillframe.capture.sites import Unit
from stillframe.capture.weave import Loom, WovenFile

SOURCE = "def f(a):\n    b = [i * a for i in range(3)]\n    return sum(b) if a else g(b)\n\n\ndef g(b):\n    return len(b)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STILLFRAME_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def woven_anew(monkeypatch):
    """What was woven because it was not found."""
    done = []
    weave = cache.weave_source

    def counted(*arguments, **named):
        done.append(arguments)
        return weave(*arguments, **named)

    monkeypatch.setattr(cache, "weave_source", counted)
    return done


def entries(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def behaviour(file: WovenFile, path: str) -> tuple:
    module, seen, loom = module_from(SOURCE, path, "kept"), Seen(), Loom()
    loom.take(file, seen.observers, 0)
    assert loom.swap([module.f, module.g]) == []
    results = module.f(2), module.f(0)
    loom.restore()
    return results, seen.sites


def same(one: WovenFile, other: WovenFile) -> bool:
    codes = [
        [(code, code.co_linetable) for part in (file.plain, file.marked) for code in codes_in(part)] for file in (one, other)
    ]
    return one.sites == other.sites and one.functions == other.functions and codes[0] == codes[1]


def test_a_hit_behaves_like_what_was_woven(folder, woven_anew):
    first = cache.woven_file(SOURCE, "/nowhere/kept.py")
    second = cache.woven_file(SOURCE, "/nowhere/kept.py")
    assert len(woven_anew) == 1 and same(first, second)
    assert behaviour(first, "/nowhere/kept.py") == behaviour(second, "/nowhere/kept.py")


def test_another_text_path_or_choice_of_units_is_another_entry(folder, woven_anew):
    cache.woven_file(SOURCE, "/nowhere/kept.py")
    changed = cache.woven_file(SOURCE.replace("len(b)", "-len(b)"), "/nowhere/kept.py")
    moved = cache.woven_file(SOURCE, "/nowhere/moved.py")
    part = cache.woven_file(SOURCE, "/nowhere/kept.py", [Unit("g", 6)])
    assert len(woven_anew) == 4 == len(entries(folder))
    assert {code.co_filename for code in codes_in(moved.marked)} == {"/nowhere/moved.py"}
    assert len(part.functions) == 1 and len(changed.functions) == 2


def test_the_order_of_units_makes_no_difference(folder, woven_anew):
    units = [Unit("f", 1), Unit("g", 6)]
    one = cache.woven_file(SOURCE, "/nowhere/kept.py", units)
    other = cache.woven_file(SOURCE, "/nowhere/kept.py", reversed(units))
    assert len(woven_anew) == 1 and same(one, other)


def truncated(data):
    return data[: len(data) // 2]


def with_a_bit_changed(data):
    return data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 1]) + data[len(data) // 3 + 1 :]


def whole(data):
    return hashlib.sha256(data).digest() + data


DAMAGE = {
    "empty": lambda data: b"",
    "truncated": truncated,
    "one bit changed": with_a_bit_changed,
    "not marshalled": lambda data: b"\x80\x04hello" * 9,
    "something else, whole": lambda data: whole(marshal.dumps(["a", {"b": 1}])),
    "rows of another length": lambda data: whole(marshal.dumps(([("f",)], [], None, None))),
    "whole, but not marshalled": lambda data: whole(b"\x80\x04hello" * 9),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_passed_over_and_written_anew(folder, woven_anew, damage):
    good = cache.woven_file(SOURCE, "/nowhere/kept.py")
    [entry] = entries(folder)
    data = entry.read_bytes()
    entry.write_bytes(DAMAGE[damage](data))
    again = cache.woven_file(SOURCE, "/nowhere/kept.py")
    assert same(good, again) and len(woven_anew) == 2
    assert cache.woven_file(SOURCE, "/nowhere/kept.py") and len(woven_anew) == 2, "it was not written anew"


def test_another_interpreter_or_weaver_has_entries_of_its_own(folder, woven_anew, monkeypatch):
    cache.woven_file(SOURCE, "/nowhere/kept.py")
    monkeypatch.setattr(cache, "_fingerprint", ["another"])
    cache.woven_file(SOURCE, "/nowhere/kept.py")
    assert len(woven_anew) == 2 == len(entries(folder))


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("a file where the folder would be")
    monkeypatch.setenv("STILLFRAME_CACHE", str(in_the_way))
    one, other = cache.woven_file(SOURCE, "/nowhere/kept.py"), cache.woven_file(SOURCE, "/nowhere/kept.py")
    assert same(one, other)
    assert in_the_way.read_text() == "a file where the folder would be"


def test_a_disk_that_is_full_leaves_no_rubbish(folder, woven_anew, monkeypatch):
    def full(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert cache.woven_file(SOURCE, "/nowhere/kept.py").sites
    assert entries(folder) == []


def test_the_folder_is_the_users_alone(folder):
    cache.woven_file(SOURCE, "/nowhere/kept.py")
    assert stat.S_IMODE((folder / "woven").stat().st_mode) == 0o700


def test_the_folder_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("STILLFRAME_CACHE", str(tmp_path / "here"))
    assert cache.cache_folder() == tmp_path / "here"
    monkeypatch.delenv("STILLFRAME_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "there"))
    assert cache.cache_folder() == tmp_path / "there" / "stillframe"
