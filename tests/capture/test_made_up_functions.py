"""Functions nobody wrote do the same woven: results, exceptions with their carets, effects in order, deaths, line events."""

from __future__ import annotations

import difflib
import linecache
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from capture.programs import functions  # noqa: E402
from capture.side_by_side import little_garbage, module_from, run_case, traced, woven  # noqa: E402
from capture.spies import Kit  # noqa: E402

PATH = "<made up>"
BEGINNING = """\
from capture.spies import Boom


def g(*given, **named):
    return Boom(len(given), *named)


def n(thing):
    return type(thing).__name__


"""

many = settings(
    max_examples=300, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)


@pytest.fixture(autouse=True)
def _little_garbage():
    with little_garbage():
        yield
    linecache.cache.pop(PATH, None)


def same(source: str, run: Callable[[types.ModuleType], list[str]]) -> None:
    """Compare what `run(module)` tells, plain and woven."""
    source = BEGINNING + source
    linecache.cache[PATH] = (len(source), None, source.splitlines(keepends=True), PATH)
    plain = run(module_from(source, PATH))
    module = module_from(source, PATH)
    with woven(source, PATH, watch=lambda site: True):
        observed = run(module)
    differences = list(difflib.unified_diff(plain, observed, "plain", "woven", lineterm="", n=3))
    assert not differences, "\n".join([source, *differences[:60]])


@given(functions(wildly=True))
@many
def test_same_results_exceptions_effects_and_lifetimes(source):
    def run(module):
        return [line for seed in range(4) for fuse in (None, 3 * seed) for line in run_case(module.f, Kit(seed, fuse))]

    same(source, run)


@given(functions(wildly=False).filter(lambda source: "'%s'" not in source))
@many
def test_same_events_under_a_trace_function(source):
    """Lines broken after brackets and commas only, and no text formatted by `%`, of which the compiler makes something else.

    Broken anywhere, one function in a thousand gives another line event: the compiler leaves out, or joins, what stood on a
    line of its own. Results, exceptions and carets are the same there too (the test above).
    """

    def run(module):
        return [line for seed in range(3) for line in traced(PATH, lambda seed=seed: run_case(module.f, Kit(seed)))]

    same(source, run)
