"""Measures what starting a recording spends on weaving a Llama's files, with the cache of woven code empty and full.

Starting does two things: it looks through what the garbage collector knows for the functions and module classes there
are, and it weaves what a model can reach. The budget is for the second; both are shown.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import work
from benchmarks.budgets import Measured
from benchmarks.clock import Clock, Span, spread
from benchmarks.ours import METADATA, RULES
from stillframe.capture.engine import Engine
from stillframe.recording.writer import StillWriter

CACHE = "STILLFRAME_CACHE"


@contextmanager
def cache_at(folder: str) -> Iterator[None]:
    """Keep woven code in another folder for a while."""
    before = os.environ.get(CACHE)
    os.environ[CACHE] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ[CACHE]
        else:
            os.environ[CACHE] = before


def measure_weaving(repeats: int) -> list[Measured]:
    """Both rows: the first time, and from the cache."""
    tiny = work.forward(work.TINY)
    first: list[tuple[Span, Span]] = []
    again: list[tuple[Span, Span]] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder, cache_at(folder):
            first.append(_start(tiny.names))
            again.append(_start(tiny.names))
    del tiny
    return [_row("weave-first", first), _row("weave-cached", again)]


def _start(names: tuple[str, ...]) -> tuple[Span, Span]:
    """A start, and the garbage-collector scan alone."""
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
        engine = Engine(StillWriter(Path(folder) / "bench.still"), METADATA, RULES, threaded=False)
        try:
            whole = clock.time(lambda: engine.start(names))
        finally:
            engine.stop()
    return whole, clock.time(scan)


def scan() -> object:
    """What a start does to find functions and classes."""
    things = gc.get_objects()
    functions = [thing for thing in things if type(thing) is types.FunctionType]
    return functions, {type(thing) for thing in things} if "torch" in sys.modules else set()


def _row(key: str, starts: list[tuple[Span, Span]]) -> Measured:
    whole, alone = spread([one.cpu for one, _ in starts]), spread([one.cpu for _, one in starts])
    more = f"{whole.median:.3f} s with the scan ({alone.median:.3f} s, {len(gc.get_objects()):,} objects), CPU time"
    return Measured(key, spread([one.cpu - other.cpu for one, other in starts]), (more,))
