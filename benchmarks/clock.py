"""Takes something to call; gives how long it took, in three kinds of seconds, and what is typical of several times.

Knows no torch and nothing of what is called.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Reading = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds. `cpu`: of the whole process, every thread; `own`: of the calling thread alone; `wall`: by the clock."""

    cpu: float
    own: float
    wall: float

    def __truediv__(self, count: float) -> Span:
        return Span(self.cpu / count, self.own / count, self.wall / count)


@dataclass(frozen=True, slots=True)
class Clock:
    """Reads the three clocks; tests put in their own."""

    cpu: Reading = time.process_time
    own: Reading = time.thread_time
    wall: Reading = time.perf_counter

    def time(self, work: Callable[[], object]) -> Span:
        """How long `work` took. What it returns is dropped when the clock has stopped."""
        wall, own, cpu = self.wall(), self.own(), self.cpu()
        result = work()
        cpu, own, wall = self.cpu() - cpu, self.own() - own, self.wall() - wall
        del result
        return Span(cpu, own, wall)


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some measurements, and the quartiles around it."""

    low: float
    median: float
    high: float
    count: int

    def scaled(self, factor: float) -> Spread:
        return Spread(self.low * factor, self.median * factor, self.high * factor, self.count)


def spread(values: Sequence[float]) -> Spread:
    """What is typical of one or more measurements."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0], 1)
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(low, middle, high, len(values))
