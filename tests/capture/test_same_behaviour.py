"""Woven code does what the source says: every case of the corpus, under every eye Python lends."""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
import types
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from capture.side_by_side import (  # noqa: E402
    SNIPPETS,
    Seen,
    codes_in,
    little_garbage,
    module_from,
    monitored,
    run_case,
    traced,
    woven,
)
from capture.spies import Kit  # noqa: E402


@pytest.fixture(autouse=True)
def _little_garbage():
    with little_garbage():
        yield


FILES = {path.stem: path for path in sorted(SNIPPETS.glob("*.py"))}
if sys.version_info < (3, 12):
    FILES = {name: path for name, path in FILES.items() if not name.startswith("since_")}
SOURCES = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
SEEDS = range(8)


def cases(name: str) -> list[str]:
    code = compile(SOURCES[name], str(FILES[name]), "exec", dont_inherit=True)
    inner = [one for one in codes_in(code) if "<locals>" not in one.co_qualname and "." not in one.co_qualname]
    optimized = {one.co_name for one in inner if one.co_flags & inspect.CO_OPTIMIZED}
    defined = [one.name for one in ast.parse(SOURCES[name]).body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert optimized.issuperset(defined)
    return defined


CASES = [(name, case) for name in FILES for case in cases(name)]


def both(name: str, run) -> None:
    """Compare what `run(module)` tells, plain and woven, and plain again afterwards."""
    source, path = SOURCES[name], str(FILES[name])
    plain = run(module_from(source, path))
    module = module_from(source, path)
    seen = Seen()
    with woven(source, path, seen.observers):
        observed = run(module)
    after = run(module)
    differences = list(difflib.unified_diff(plain, observed, "plain", "woven", lineterm="", n=3))
    assert not differences, "\n".join(differences[:60])
    assert plain == after, "not restored"


def story(name: str, case: str, seed: int, fuse: int | None = None):
    return lambda module: run_case(getattr(module, case), Kit(seed, fuse))


@pytest.mark.parametrize(("name", "case"), CASES)
def test_same_results_effects_and_lifetimes(name, case):
    for seed in SEEDS:
        both(name, story(name, case, seed))


@pytest.mark.parametrize(("name", "case"), CASES)
def test_same_exception_wherever_it_is_raised(name, case):
    """Each operation in turn fails: the story up to it, the traceback and its carets are the same."""
    path = str(FILES[name])
    for seed in (0, 1):
        kit = Kit(seed)
        run_case(getattr(module_from(SOURCES[name], path), case), kit)
        operations = min(kit.count, 40)

        def run(module, seed=seed, operations=operations):
            function = getattr(module, case)
            return [line for fuse in range(operations) for line in run_case(function, Kit(seed, fuse))]

        both(name, run)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_same_events_under_a_trace_function(name, case):
    path = str(FILES[name])

    def run(module):
        lines = []
        for seed, fuse in [(seed, None) for seed in SEEDS] + [(1, fuse) for fuse in range(12)]:
            lines += [f"seed {seed} fuse {fuse}"]
            lines += traced(path, lambda seed=seed, fuse=fuse: run_case(getattr(module, case), Kit(seed, fuse)))
        return lines

    both(name, run)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
@pytest.mark.parametrize(("name", "case"), CASES)
def test_same_events_under_monitoring(name, case):
    path = str(FILES[name])

    def run(module):
        lines = []
        for seed, fuse in [(seed, None) for seed in SEEDS] + [(1, fuse) for fuse in range(12)]:
            lines += [f"seed {seed} fuse {fuse}"]
            lines += monitored(path, lambda seed=seed, fuse=fuse: run_case(getattr(module, case), Kit(seed, fuse)))
        return lines

    both(name, run)


ATTRIBUTES = [
    *("co_name", "co_qualname", "co_filename", "co_firstlineno", "co_flags", "co_argcount", "co_posonlyargcount"),
    *("co_kwonlyargcount", "co_varnames", "co_freevars", "co_cellvars", "co_nlocals", "co_names"),
]


@pytest.mark.parametrize("name", FILES)
def test_every_code_object_has_a_woven_one_with_the_same_face(name):
    source, path = SOURCES[name], str(FILES[name])
    code = compile(source, path, "exec", dont_inherit=True)
    count = 0
    with woven(source, path) as loom:
        for plain in codes_in(code):
            if plain.co_flags & inspect.CO_OPTIMIZED and plain.co_firstlineno:
                other = types.FunctionType(plain, {}, closure=tuple(types.CellType() for _ in plain.co_freevars))
                assert loom.swap_one(other), plain
                count += 1
                faces = [[getattr(one, attribute) for attribute in ATTRIBUTES] for one in (plain, other.__code__)]
                assert faces[0] == faces[1]
                if not plain.co_name.startswith("<"):
                    documented = [
                        types.FunctionType(one, {}, closure=other.__closure__).__doc__ for one in (plain, other.__code__)
                    ]
                    assert documented[0] == documented[1]
                other.__code__ = plain
    assert count >= len(cases(name))
