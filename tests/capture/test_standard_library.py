"""The standard library's own tests pass as well with the modules they test woven: the same tests, the same outcomes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# Modules written in Python, whose tests need neither network nor time. After a colon: tests left out, those
# that take most of the time, and those that count the frames on the stack, where an observer takes one (hooks.make_room).
MODULES = [
    *("textwrap", "heapq", "bisect", "fractions", "json", "difflib", "configparser", "string", "shlex", "graphlib"),
    *("fnmatch", "copy", "dataclasses", "enum", "contextlib", "reprlib", "pprint", "optparse", "csv"),
    *("ipaddress", "html", "tomllib:recursion_limit", "plistlib", "operator", "statistics:kde:NormalDist"),
]


def outcomes(how: str) -> dict[str, dict]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    run = subprocess.run(
        [sys.executable, str(HERE / "library_tests.py"), how, *MODULES],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def plain():
    missing = [name for one in MODULES if not importlib.util.find_spec(f"test.test_{(name := one.split(':')[0])}")]
    assert not missing, (
        f"this Python lacks the standard library's tests of {', '.join(missing)}: install them (Debian: libpython3-testsuite; "
        "conda and most builds from source have them), or run these tests with another Python"
    )
    return outcomes("plain")


@pytest.fixture(scope="module")
def woven(plain):
    return outcomes("woven")


@pytest.mark.parametrize("module", [one.split(":")[0] for one in MODULES])
def test_its_tests_do_the_same_with_it_woven(module, plain, woven):
    assert plain[module]["tests"] > 1
    assert woven[module]["told"] == plain[module]["told"]
    assert plain[module]["events"] == 0 and woven[module]["events"] > 20
