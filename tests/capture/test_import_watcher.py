"""The functions of modules imported while recording are woven at once, whoever finds them, and nothing stays behind."""

from __future__ import annotations

import importlib
import sys
import traceback
import types

import pytest

from capture.side_by_side import Seen
from stillframe.capture.hooks import Hooks, ImportWatcher
from stillframe.capture.weave import Loom, weave_source


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


class Weaver:
    """Weaves the modules whose names it is given."""

    def __init__(self, *names: str) -> None:
        self.names, self.asked, self.loom, self.seen = names, [], Loom(), Seen()

    def code_for(self, name: str, path: str) -> types.CodeType | None:
        self.asked.append(name)
        if name not in self.names:
            return None
        with open(path) as file:
            return self.loom.take(weave_source(file.read(), path, whole=True), self.seen.observers, 0)


def test_a_module_imported_meanwhile_is_woven_and_afterwards_is_not(folder):
    (folder / "early.py").write_text("def f(a):\n    return a + 1\n\n\nmade = f(1)\n")
    (folder / "other.py").write_text("def f(a):\n    return a + 1\n")
    weaver, hooks, finders = Weaver("early"), Hooks(), list(sys.meta_path)
    hooks.watch_imports(ImportWatcher(weaver.code_for, {}))
    early, other = importlib.import_module("early"), importlib.import_module("other")
    assert early.made == 2 and weaver.seen.sites, "what ran while it was imported was not seen"
    told = len(weaver.seen.sites)
    assert other.f(1) == 2 and len(weaver.seen.sites) == told and set(weaver.asked) >= {"early", "other"}
    assert early.f(1) == 2 and len(weaver.seen.sites) > told
    hooks.remove()
    hooks.remove()
    assert sys.meta_path == finders
    weaver.loom.restore()
    told = len(weaver.seen.sites)
    assert early.f(1) == 2 and len(weaver.seen.sites) == told and not weaver.loom.is_woven(early.f.__code__)


def test_packages_their_parts_and_reloads_go_as_ever(folder):
    package = folder / "parcel"
    package.mkdir()
    (package / "__init__.py").write_text("from .part import f\nvalue = f(1)\n")
    (package / "part.py").write_text("def f(a):\n    return a + 1\n")
    weaver, hooks = Weaver("parcel", "parcel.part"), Hooks()
    hooks.watch_imports(ImportWatcher(weaver.code_for, {}))
    try:
        parcel = importlib.import_module("parcel")
        assert parcel.value == 2 and parcel.part.__spec__.name == "parcel.part" and weaver.seen.sites
        assert parcel.__file__ == str(package / "__init__.py") and parcel.__path__ == [str(package)]
    finally:
        hooks.remove()
        weaver.loom.restore()
    (package / "part.py").write_text("def f(a):\n    return a + 2000\n")
    assert importlib.reload(parcel.part).f(1) == 2001, "the loader still gives woven code"


def test_a_call_back_comes_once_after_the_module_is_made(folder):
    (folder / "wanted.py").write_text("x = 1\n")
    told, hooks = [], Hooks()
    hooks.watch_imports(ImportWatcher(lambda name, path: None, {"wanted": lambda module: told.append(module.x)}))
    try:
        wanted = importlib.import_module("wanted")
        assert told == [1]
        importlib.import_module("wanted")
        assert told == [1]
    finally:
        hooks.remove()
    importlib.reload(wanted)
    assert told == [1]


def test_errors_of_a_module_are_its_own(folder):
    (folder / "failing.py").write_text("def f(a):\n    return 1 / a\n\n\nf(0)\n")
    (folder / "broken.py").write_text("def f(:\n")
    weaver, hooks = Weaver("failing"), Hooks()
    hooks.watch_imports(ImportWatcher(weaver.code_for, {}))
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            importlib.import_module("failing")
        traced = traceback.extract_tb(caught.value.__traceback__)
        assert [entry.lineno for entry in traced if entry.filename.endswith("failing.py")] == [5, 2]
        with pytest.raises(SyntaxError):
            importlib.import_module("broken")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("nowhere_to_be_found")
    finally:
        hooks.remove()
        weaver.loom.restore()
