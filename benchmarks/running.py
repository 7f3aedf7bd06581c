"""Measures what recording adds to calls of a model: the rows of the budgets that are ratios to a bare call.

One contest a row, or one for two rows that are the same work.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import work
from benchmarks.budgets import Measured
from benchmarks.clock import Span, spread
from benchmarks.contest import Contest, Course
from benchmarks.ours import DEFAULT, EVERYTHING, METADATA, Ours

LAYERS = (2, 8, 32, 126)


def measure_forward(repeats: int) -> list[Measured]:
    """The tiny forward, metadata only and with every value's bytes."""
    tiny = work.forward(work.TINY)
    return _measure([Ours("metadata", tiny, METADATA), Ours("bytes", tiny, EVERYTHING)], repeats, 0.5, 300)


def measure_wide(repeats: int) -> list[Measured]:
    """The wide model: most of its values are too large to keep and are summarised."""
    return _measure([Ours("wide", work.forward(work.WIDE, 4, 256), DEFAULT)], max(2, repeats // 2), 1.0, 3)


def measure_generate(repeats: int) -> list[Measured]:
    """Sixteen tokens, one by one, with a cache."""
    return _measure([Ours("generate", work.generate(work.TINY), EVERYTHING)], repeats, 0.6, 12)


def measure_train(repeats: int) -> list[Measured]:
    """Forward, backward and optimizer step."""
    return _measure([Ours("train", work.train(work.TINY), EVERYTHING)], repeats, 0.5, 100)


def measure_layers(repeats: int) -> list[Measured]:
    """What an event costs as a model gets deeper; how far the worst depth is from the shallowest, in per cent."""
    costs: dict[int, float] = {}
    more = []
    for depth in LAYERS:
        ours = Ours(f"{depth} layers", work.forward({**work.NARROW, "num_hidden_layers": depth}), DEFAULT)
        course = _contest([ours], repeats, 0.4, 200)[ours.name]
        costs[depth] = course.added().median / ours.events[0]
        per = course.added().scaled(1e6 / ours.events[0])
        more.append(
            f"{depth} layers: {ours.events[0]:.0f} events a call, {per.median:.2f} µs each ({per.low:.2f} to {per.high:.2f})"
        )
    off = max(abs(cost / costs[LAYERS[0]] - 1) for cost in costs.values())
    return [Measured("layers", spread([100 * off]), tuple(more))]


def _measure(all_ours: Sequence[Ours], repeats: int, seconds: float, most: int) -> list[Measured]:
    courses = _contest(all_ours, repeats, seconds, most)
    return [Measured(one.name, courses[one.name].ratio(), describe(one, courses[one.name])) for one in all_ours]


def _contest(all_ours: Sequence[Ours], repeats: int, seconds: float, most: int) -> dict[str, Course]:
    contest = Contest(all_ours[0].work.call, [one.contender() for one in all_ours], seconds, most)
    courses = contest.run(repeats)
    for name, course in courses.items():
        if course.failed:
            raise RuntimeError(f"{name}: {course.failed}")
    return courses


def describe(ours: Ours, course: Course) -> tuple[str, ...]:
    """What else there is to know of a course: the other clocks, events, and what starting and stopping cost."""
    own, wall, added = spread(course.own), spread(course.wall), course.added()
    events = spread(ours.events).median
    bare = spread([one.cpu for one in course.bare]).median
    return (
        f"by the calling thread's CPU time {own.median:.2f}×, by the clock on the wall {wall.median:.2f}×",
        f"bare {bare * 1e3:.2f} ms a call; {events:.0f} events a call, {added.median / events * 1e6:.2f} µs each",
        f"start {_seconds(ours.starts)}, first call {_seconds(ours.firsts)}, stop {_seconds(ours.stops)}; "
        f"the file grows by {spread(ours.file_bytes).median / 1024:.0f} KiB a call",
    )


def _seconds(spans: Sequence[Span]) -> str:
    return f"{spread([one.cpu for one in spans]).median:.3f} s"
