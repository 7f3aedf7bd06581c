"""Measures where the time of recording goes: what each kind of event costs, and how many of each a tiny forward has.

An observer is called straight, on values like those of a model, by a loop whose own time is taken off. What that
leaves out (the code around a marker, colder caches) is the difference to the time a whole recorded forward takes.
"""

from __future__ import annotations

import gc
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import work
from benchmarks.clock import Clock, Spread, spread
from benchmarks.ours import EVERYTHING, METADATA, RULES
from stillframe.capture.engine import Engine
from stillframe.capture.policy import ValuePolicy
from stillframe.recording.reader import Recording, open_recording
from stillframe.recording.writer import StillWriter
from stillframe.records import Batch

COUNT = 2000


@dataclass(frozen=True, slots=True)
class Cost:
    """A kind of event: seconds each, and how many of them one tiny forward has (with every value's bytes)."""

    kind: str
    each: Spread
    count: int


class _Nowhere:
    """A sink that keeps nothing."""

    def write(self, batch: Batch) -> None:
        return None

    def close(self, batch: Batch) -> None:
        return None


def measure_breakdown(repeats: int) -> list[Cost]:
    """Each kind of event, the costliest in total first; writing comes as a kind of its own."""
    counts = _count_kinds()
    costs = [
        Cost(kind, spread([_once(kind, policy) for _ in range(repeats)]), counts.get(kind.partition(",")[0], 0))
        for kind, policy in KINDS.items()
    ]
    events = sum(counts.values())
    costs.append(Cost("handing over and writing, an event", spread([_writing() for _ in range(repeats)]), events))
    return sorted(costs, key=lambda cost: -cost.each.median * cost.count)


KINDS = {
    "new tensor, its bytes": EVERYTHING,
    "new tensor, metadata": METADATA,
    "new view": EVERYTHING,
    "known tensor": EVERYTHING,
    "constant": EVERYTHING,
    "size": EVERYTHING,
    "container": EVERYTHING,
    "module or function": EVERYTHING,
    "other object": EVERYTHING,
    "tensor attribute": EVERYTHING,
    "enter": EVERYTHING,
}


def _once(kind: str, policy: ValuePolicy) -> float:
    """Seconds of one observer call, in a loop of new values where the kind is of new ones."""
    import torch

    engine = Engine(_Nowhere(), policy, RULES, threaded=False)
    engine.start()
    try:
        observers = engine.roster.observers
        engine.loom.codes.add(id(_in_scope.__code__))  # so that the way up from a frame begun ends there
        observe: Callable[..., Any] = observers.value
        loop: Callable[..., None] = _give_values
        if kind == "enter":
            observe, loop = observers.method, partial(_begin_frames, torch.nn.Linear(2, 2))
        elif kind == "tensor attribute":
            observe = observers.held
        _in_scope(loop, observe, _values(kind, torch))  # warms up
        engine.recorder.flush()
        values = _values(kind, torch)
        gc.collect()
        clock = Clock()
        recorded = clock.time(lambda: _in_scope(loop, observe, values))
        bare = clock.time(lambda: _in_scope(loop, _same, values))
        return max(0.0, recorded.cpu - bare.cpu) / COUNT
    finally:
        engine.stop()


def _same(site: int, *values: Any) -> Any:
    return values[0]


def _in_scope(loop: Callable[..., None], observe: Callable[..., Any], values: Sequence[Any]) -> None:
    """Stands for the function in scope that calls a module: three frames out of scope lie between, as with torch's."""
    _between(3, loop, observe, values)


def _between(depth: int, loop: Callable[..., None], observe: Callable[..., Any], values: Sequence[Any]) -> None:
    if depth > 1:
        _between(depth - 1, loop, observe, values)
    else:
        loop(observe, values)


def _give_values(observe: Callable[..., Any], values: Sequence[Any]) -> None:
    for value in values:
        observe(7, value)


def _begin_frames(owner: Any, observe: Callable[..., Any], values: Sequence[Any]) -> None:
    one, rest = values[0], {"position_ids": None}
    for _ in values:
        observe(7, owner, one, one, None, rest)


def _values(kind: str, torch: Any) -> list[Any]:
    tensor = torch.zeros(2, 8, 128)
    alike: dict[str, Any] = {
        "known tensor": tensor,
        "constant": 128,
        "size": tensor.shape,
        "container": (tensor, tensor),
        "module or function": torch.nn.Linear(2, 2),
        "other object": _Cache(),
        "tensor attribute": torch.nn.Parameter(torch.ones(128)),
        "enter": tensor,
    }
    if kind in alike:
        return [alike[kind]] * COUNT
    if kind == "new view":
        return [tensor.view(2, 8, 4, 32) for _ in range(COUNT)]
    return [torch.zeros(2, 8, 128) for _ in range(COUNT)]


class _Cache:
    def __init__(self) -> None:
        self.layers: list[int] = []
        self.offloading = False


def _writing() -> float:
    """Seconds that turning an event into records and writing them takes, away from the run."""
    tiny, calls, clock = work.forward(work.TINY), 50, Clock()
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
        path = Path(folder) / "bench.still"
        engine = Engine(StillWriter(path), EVERYTHING, RULES, threaded=False)
        engine.start(tiny.names)
        tiny.call()
        engine.recorder.flush()
        for _ in range(calls):
            tiny.call()
        count = len(engine.log.events) // 3
        took = clock.time(engine.recorder.flush).cpu
        engine.stop()
    return took / count


def _count_kinds() -> dict[str, int]:
    """How many events of each kind the second of two tiny forwards has."""
    tiny = work.forward(work.TINY)
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
        path = Path(folder) / "bench.still"
        engine = Engine(StillWriter(path), EVERYTHING, RULES)
        engine.start(tiny.names)
        tiny.call()
        engine.recorder.flush()
        first = engine.recorder._event_count
        tiny.call()
        engine.stop()
        with open_recording(path) as recording:
            return _counted(recording, first)


def _counted(recording: Recording, first: int) -> dict[str, int]:
    seen: set[int] = set()
    counts: Counter[str] = Counter()
    for event in recording.events():
        new = event.value not in seen
        seen.add(event.value)
        if event.index >= first:
            counts[_kind_of(recording, event.site, event.value, new)] += 1
    return dict(counts)


def _kind_of(recording: Recording, site: int, value: int, new: bool) -> str:
    place = recording.sites[site]
    if place.kind == "enter":
        return "enter"
    if place.kind == "param":
        return "argument"  # its time is within that of the enter it belongs to
    if not value:
        return "mark"
    known = recording.value(value)
    kind = known.about["kind"]
    if kind == "tensor":
        if place.node == "Attribute":
            return "tensor attribute"
        return ("new view" if known.base else "new tensor") if new else "known tensor"
    if kind in ("int", "float", "bool", "str", "none", "dtype", "device"):
        return "constant"
    if kind in ("tuple", "list", "dict", "set", "slice"):
        return "size" if known.about.get("type") == "torch.Size" else "container"
    return "module or function" if kind in ("module", "function", "class", "enum", "package") else "other object"
