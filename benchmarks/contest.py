"""Takes a bare call and several recorders of it; runs blocks of calls in turn, and gives each one's ratios to bare.

Knows no recorder, no model and no budget. A block of bare calls stands before and after each block of a recorder's,
and the ratio is to the mean of the two: what else the machine does meanwhile falls on both alike.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.clock import Clock, Span, Spread, spread

BARE = "bare"
MAX_CALLS = 400


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Ready:
    """A recorder that is on. `settle` finishes the work that calls left behind, such as writing; its time counts.

    It is called before a block, too: what came before the block does not count in it.
    """

    call: Callable[[], object]
    settle: Callable[[], object] = _nothing


@dataclass(frozen=True, slots=True)
class Contender:
    """A recorder by name. `on()` turns it on for a block of calls, and off after, outside the block's time."""

    name: str
    on: Callable[[], AbstractContextManager[Ready]]


@dataclass(slots=True)
class Course:
    """How one contender fared: ratios to bare, one a repeat, and the seconds of a call, its own and bare beside it."""

    cpu: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    bare: list[Span] = field(default_factory=list)
    failed: str = ""

    def add(self, recorded: Span, bare: Span) -> None:
        """One repeat: the time of a call, recorded and bare."""
        self.cpu.append(recorded.cpu / bare.cpu)
        self.own.append(recorded.own / bare.own)
        self.wall.append(recorded.wall / bare.wall)
        self.calls.append(recorded)
        self.bare.append(bare)

    def ratio(self) -> Spread:
        """The ratio that counts: CPU time of the whole process."""
        return spread(self.cpu)

    def added(self) -> Spread:
        """CPU seconds that recording added to a call."""
        return spread([one.cpu - bare.cpu for one, bare in zip(self.calls, self.bare, strict=True)])


def schedule(names: Sequence[str], repeats: int) -> Iterator[str]:
    """The order of blocks: bare first and last and between any two; each repeat begins with another contender."""
    yield BARE
    for repeat in range(repeats):
        start = repeat % len(names)
        for name in (*names[start:], *names[:start]):
            yield name
            yield BARE


@dataclass(slots=True)
class Contest:
    """Contenders on the same work. `seconds` is how long a block should take; `most` how many calls it has at most."""

    bare: Callable[[], object]
    contenders: Sequence[Contender]
    seconds: float = 0.4
    most: int = MAX_CALLS
    clock: Clock = field(default_factory=Clock)

    def run(self, repeats: int, limit: float = float("inf")) -> dict[str, Course]:
        """The courses by name. After `limit` seconds a contender that has three repeats takes no more."""
        courses = {contender.name: Course() for contender in self.contenders}
        by_name = {contender.name: contender for contender in self.contenders}
        self.bare()
        calls = self.calls_in(self.bare)
        before = self._block(Ready(self.bare), calls)
        end = time.monotonic() + limit
        pending: tuple[Course, Span] | None = None
        for name in list(schedule(list(by_name), repeats))[1:]:
            if name == BARE:
                if pending is not None:
                    after = self._block(Ready(self.bare), calls)
                    pending[0].add(pending[1], _between(before, after))
                    before, pending = after, None
                continue
            course = courses[name]
            if course.failed or (time.monotonic() > end and len(course.cpu) >= 3):
                continue
            try:
                with by_name[name].on() as ready:
                    ready.call()
                    count = self.calls_in(ready.call)
                    ready.settle()  # what warming up left behind is not the block's
                    span = self._block(ready, count)
                pending = course, span
            except Exception as error:  # a recorder's failure is a result
                course.failed = f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"
        return courses

    def calls_in(self, call: Callable[[], object]) -> int:
        """How many calls make a block that takes about `seconds`."""
        once = self.clock.time(call).wall
        return max(1, min(self.most, round(self.seconds / once) if once > 0 else self.most))

    def _block(self, ready: Ready, calls: int) -> Span:
        gc.collect()

        def work() -> None:
            for _ in range(calls):
                ready.call()
            ready.settle()

        return self.clock.time(work) / calls


def _between(one: Span, other: Span) -> Span:
    return Span((one.cpu + other.cpu) / 2, (one.own + other.own) / 2, (one.wall + other.wall) / 2)


@contextlib.contextmanager
def always(call: Callable[[], object], kept: Callable[[Any], int] = lambda result: 1) -> Iterator[Ready]:
    """For a recorder that is turned on within each call. `kept` says of what a call returns how much was recorded.

    Raises ValueError at the end if that is nothing: then what was measured was no recording.
    """
    yield Ready(call)
    if not kept(call()):
        raise ValueError("it recorded nothing")
