"""Runs the standard library's own tests of some modules, as they are or with those modules woven; tells every outcome.

Run as a program: `python library_tests.py plain|woven module ...`. Prints one JSON object.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import sys
import tokenize
import types
import unittest
import warnings
from collections.abc import Iterator
from typing import Any

from stillframe.capture.weave import Loom, Observers, functions_alive, weave_source


class Outcomes(unittest.TestResult):
    """What became of each test, those within `subTest` counted."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[list[str]] = []

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.told.append(["ran", test.id()])

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addFailure(test, error)
        self.told.append(["failed", test.id(), self.failures[-1][1]])

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        super().addError(test, error)
        self.told.append(["had an error", test.id(), self.errors[-1][1]])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.told.append(["was skipped", test.id(), reason])

    def addSubTest(self, test: unittest.TestCase, part: unittest.TestCase, error: Any) -> None:
        super().addSubTest(test, part, error)
        self.told.append(["had a part that failed" if error else "had a part", test.id()])


def suite_of(module: str, leaving_out: tuple[str, ...]) -> unittest.TestSuite:
    """The tests that the standard library has of a module."""
    loaded = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"test.test_{module}"))
    return unittest.TestSuite(test for test in _each(loaded) if not any(name in test.id() for name in leaving_out))


def _each(suite: Any) -> Iterator[unittest.TestCase]:
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _each(part)
        else:
            yield part


def files_of(module: str) -> dict[str, types.ModuleType]:
    """The files of a module, or of a package and its modules."""
    named = [one for name, one in sys.modules.items() if name == module or name.startswith(module + ".")]
    return {one.__file__: one for one in named if (one.__file__ or "").endswith(".py") and ".tests" not in one.__name__}


def run(module: str, leaving_out: tuple[str, ...], woven: bool) -> dict[str, Any]:
    """The outcome of each test, and how much was observed."""
    suite = suite_of(module, leaving_out)
    importlib.import_module(module)
    events = [0]

    def value(site: int, value: Any) -> Any:
        events[0] += 1
        return value

    def mark(site: int, *arguments: Any) -> None:
        events[0] += 1

    looms = []
    for path in files_of(module) if woven else ():
        with tokenize.open(path) as file:
            text = file.read()
        loom = Loom()
        loom.take(weave_source(text, path), Observers(value, value, value, mark, mark, value, mark, mark, mark), 0)
        missed = loom.swap(functions_alive())
        assert not missed, missed
        looms.append(loom)
    result = Outcomes()
    stdout, sys.stdout = sys.stdout, io.StringIO()
    try:
        suite.run(result)
    finally:
        sys.stdout = stdout
        for loom in looms:
            loom.restore()
    return {"tests": result.testsRun, "told": result.told, "events": events[0]}


if __name__ == "__main__":
    how, *asked = sys.argv[1:]
    warnings.simplefilter("ignore")
    answer = {}
    for one in asked:
        name, *left_out = one.split(":")
        answer[name] = run(name, tuple(left_out), how == "woven")
    print(json.dumps(answer))
