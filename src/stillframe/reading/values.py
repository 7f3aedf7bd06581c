"""Takes the id of a value; gives all a recording knows of it: what it is, its numbers, where it was made and where
seen.

Must not know how it is printed: numbers stay numbers, and the excerpt is cut to a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stillframe.reading.bindings import bound_by, items_of
from stillframe.reading.describe import Described, describe
from stillframe.reading.index import Index, Place
from stillframe.reading.readable import Numbers
from stillframe.records import Event, Value

EXCERPT_SIZE = 6
EXCERPT_ELEMENTS = 144
MOST_MOMENTS = 200
MOST_SHARING = 50


@dataclass(frozen=True, slots=True)
class Moment:
    """An event in which a value was seen: `name` is what it was bound to there, "" if nothing; `value` its id at that
    moment.
    """

    event: int
    frame: int
    function: str
    path: str
    kind: str
    name: str
    expression: str
    place: Place
    value: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What all elements are like, together, as in docs/format.md; None where it is not known."""

    count: int
    min: int | float | None
    max: int | float | None
    mean: float | complex | None
    std: float | None
    nan: int | None
    posinf: int | None
    neginf: int | None
    zero: int | None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first elements along each dimension, as nested lists. `indices` are fixed leading indices, so that few
    dimensions are left. `shape` is that of the excerpt; `steps`: every how-manyth element it is, None if that is not
    known. `whole`: nothing is missing.
    """

    numbers: Any
    indices: tuple[int, ...]
    shape: tuple[int, ...]
    steps: tuple[int, ...] | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Sharing:
    """Another value in the same memory, and where it was first seen (None: only within another value)."""

    value: int
    text: str
    first: Moment | None


@dataclass(frozen=True, slots=True)
class ValueReport:
    """One value. `seen` are the events with this very value (the first of them), `others` those of the same object in
    another state. `storage` and `base_object` are identities of the memory and of what it is a view of (0: none known);
    `base` is that object as it was then, None if no event shows it."""

    value: Described
    about: Mapping[str, Any]
    facts: Facts | None
    excerpt: Excerpt | None
    made: Moment | None
    seen: tuple[Moment, ...]
    seen_count: int
    others: tuple[Moment, ...]
    version: int
    storage: int
    sharing: tuple[Sharing, ...]
    base_object: int
    base: Described | None


def report_value(index: Index, id: int) -> ValueReport:
    """All that is known of a value. Raises RecordingError if there is none of that id."""
    source = index.source
    value = source.value(id)
    seen: list[Event] = []
    others: list[Event] = []
    sharing: dict[int, Event | None] = {}
    base: Value | None = None
    kept: dict[int, Value] = {}
    for event in source.events():
        for one in (event.value, *(items_of(source, event.value) or () if event.value else ())):
            if not one:
                continue
            other = kept.get(one) or kept.setdefault(one, source.value(one))
            if one == id:
                seen.append(event)
            elif value.object and other.object == value.object:
                others.append(event)
            elif value.storage and other.storage == value.storage:
                sharing.setdefault(one, event if one == event.value else None)
            if value.base and other.object == value.base and (base is None or not seen):
                base = other
    numbers = source.numbers(value)
    seen = _once(seen)
    return ValueReport(
        describe(source, id),
        value.about,
        _facts(numbers),
        _excerpt(numbers),
        _moment(index, seen[0], id) if seen else None,
        tuple(_moment(index, event, id) for event in seen[:MOST_MOMENTS]),
        len(seen),
        tuple(_moment(index, event, event.value) for event in _once(others)[:MOST_MOMENTS]),
        value.version,
        value.storage,
        tuple(
            Sharing(one, describe(source, one, with_range=False).text, _moment(index, event, one) if event else None)
            for one, event in list(sharing.items())[:MOST_SHARING]
        ),
        value.base,
        describe(source, base.id) if base is not None else None,
    )


def _once(events: Sequence[Event]) -> list[Event]:
    return list({event.index: event for event in events}.values())


def _moment(index: Index, event: Event, value: int) -> Moment:
    source = index.source
    site = source.sites[event.site]
    names = [bound.name for bound in bound_by(source, event.value, site) if bound.value in (value, event.value)]
    frame = source.frames[event.frame] if event.frame else None
    module = index.module_of(frame) if frame else None
    function = source.functions[site.function].qualname
    path = module.path if module else ""
    name = ", ".join(dict.fromkeys(names))
    return Moment(event.index, event.frame, function, path, site.kind, name, index.text(site), index.place(site), event.value)


def _facts(numbers: Numbers | None) -> Facts | None:
    if numbers is None:
        return None
    found = numbers.statistics()
    return Facts(
        found.count,
        found.min,
        found.max,
        found.mean,
        found.std,
        found.nan,
        found.posinf,
        found.neginf,
        found.zero,
    )


def _excerpt(numbers: Numbers | None) -> Excerpt | None:
    if numbers is None or 0 in numbers.sample_shape:
        return None
    shape = numbers.sample_shape
    leading = (0,) * max(0, len(shape) - 2)
    left = shape[len(leading) :]
    rows = left[0] if len(left) == 2 else 1
    width = max(EXCERPT_SIZE, EXCERPT_ELEMENTS // max(1, min(rows, EXCERPT_SIZE)) // 2)
    columns = left[-1] if left else 1
    if len(left) == 2:
        taken: Any = [numbers.row(*leading, at)[:width] for at in range(min(rows, EXCERPT_SIZE))]
        size: tuple[int, ...] = (len(taken), min(width, columns))
    elif left:
        taken = numbers.row(*leading)[:width]
        size = (len(taken),)
    else:
        taken, size = numbers.row(), ()
    steps = None if numbers.sample_steps is None else tuple(numbers.sample_steps)
    return Excerpt(taken, leading, size, steps, not numbers.sampled and size == left and not leading)
