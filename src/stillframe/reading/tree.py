"""Takes a recording; gives the way through the model: calls and, within each, the tensors that came up and the names
they got.

Must not know how a tree is drawn: a step has a depth, and that is all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stillframe.reading.bindings import bound_by, items_of, targets_of
from stillframe.reading.describe import Described, describe
from stillframe.reading.fold import runs_of
from stillframe.reading.index import Index, Place
from stillframe.records import Frame, Mark, Site

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function in scope. `times` neighbours are equal to it; this is the first, `paths` are the modules of
    all.

    `path` is the module's path ("" for a root or a plain function), `class_name` "" if it is no module's method.
    `left_out` counts calls directly in it, with all they called, in which no new tensor came up.
    """

    depth: int
    frame: int
    function: str
    path: str
    class_name: str
    paths: tuple[str, ...]
    times: int
    phase: str
    place: Place
    left_out: int


@dataclass(frozen=True, slots=True)
class Op:
    """A tensor at a place: what an expression gave, and the name it got ("" if none; "return" for what is returned).

    `new` is whether this state of the tensor comes up here for the first time; `how` as in bindings.Bound, or
    "unnamed".
    """

    depth: int
    event: int
    frame: int
    name: str
    how: str
    expression: str
    node: str
    new: bool
    times: int
    place: Place
    value: Described


@dataclass(frozen=True, slots=True)
class Stop:
    """A `breakpoint()` that was met, with the names there and the ids of their values."""

    depth: int
    mark: int
    frame: int
    times: int
    place: Place
    names: tuple[tuple[str, int], ...]


Step = Call | Op | Stop


@dataclass(frozen=True, slots=True)
class Way:
    """The steps in order, each under the last one of a smaller depth.

    `left_out` counts the calls that are not among them, as no new tensor came up
    in them; `unnamed` the new tensors that got no name.
    """

    steps: tuple[Step, ...]
    left_out: int
    unnamed: int


@dataclass(slots=True)
class _Item:
    """A call (`frame`), a tensor at an event (`event`), or a mark, before it is known whether and how it is shown."""

    key: int
    frame: Frame | None = None
    event: int = -1
    site: int = 0
    name: str = ""
    how: str = "unnamed"
    value: int = 0
    new: bool = False
    mark: Mark | None = None
    times: int = 1
    others: list[Frame] = field(default_factory=list)


def find_way(index: Index, *, everything: bool = False) -> Way:
    """The way through the model. `everything`: also calls with no new tensor, and the unnamed links of expressions."""
    return _Builder(index, everything).way()


def find_ops(index: Index, *, everything: bool = False) -> tuple[Op, ...]:
    """Every tensor, in order, where it first came up or got a name; `everything`: also where it was only read or handed
    on.
    """
    builder = _Builder(index, True)
    ops = []
    for frame, items in builder.items.items():
        for item in items:
            if item.event >= 0 and (everything or item.new or item.how != "unnamed"):
                ops.append(builder.op(item, frame, 0))
    return tuple(sorted(ops, key=lambda op: op.event))


@dataclass(frozen=True, slots=True)
class _Told:
    """Of a tensor its shape and dtype as texts, of a container the tensors in it and what else is."""

    shape: tuple[str, str] | None
    tensors: tuple[int, ...]
    containers: tuple[int, ...]


_NOTHING = _Told(None, (), ())
# What an event of each kind of site means here: a call begun, a value that is met, a value that may be told of.
_ACTS = {"enter": "enter", "param": "meet", "value": "tell", "bind": "tell", "store": "tell"}


class _Builder:
    """One pass over the events sorts them into frames; what is left out and what is equal is decided from the leaves
    up.
    """

    def __init__(self, index: Index, everything: bool) -> None:
        self._index, self._source, self._everything = index, index.source, everything
        self.items: dict[int, list[_Item]] = defaultdict(list)
        self._numbers: dict[object, int] = {}
        self._values: dict[int, _Told] = {}
        self._tensors: dict[int, tuple[Mapping[str, Any], _Told]] = {}
        self._names: dict[int, str] = {}
        self._seen: set[int] = set()
        self._kept: dict[int, list[_Item]] = {}
        self._left_out: dict[int, int] = defaultdict(int)
        self._sort()

    def way(self) -> Way:
        order = sorted(self._source.frames.values(), key=lambda frame: -frame.first_event)
        size: dict[int, int] = {}
        keys: dict[int, int] = {}
        # A frame's calls begin after it: so from the last to the first, the leaves come first.
        for frame in [*order, None]:
            id = frame.id if frame else 0
            kept, size[id] = [], 1
            for item in self.items.get(id, ()):
                if item.frame is None:
                    kept.append(item)
                    continue
                size[id] += size[item.frame.id]
                if self._everything or self._kept[item.frame.id]:
                    item.key = keys[item.frame.id]
                    kept.append(item)
                else:
                    self._left_out[id] += size[item.frame.id]
            folded = self._folded(kept)
            has_new = any(item.frame is not None or item.new or item.mark is not None for item in folded)
            self._kept[id] = folded if has_new or self._everything else []
            if frame is not None:
                keys[id] = self._key_of(frame, folded)
        left_out = 0 if self._everything else sum(not self._kept[frame.id] for frame in order)
        unnamed = sum(item.new and item.how == "unnamed" for items in self.items.values() for item in items)
        return Way(tuple(self._steps()), left_out, 0 if self._everything else unnamed)

    # ---- sorting

    def _sort(self) -> None:
        source, frames = self._source, self._source.frames
        marks = sorted(source.marks, key=lambda mark: (mark.after_event, mark.id), reverse=True)
        next_mark = marks[-1].after_event if marks else source.event_count
        acts = {site.id: _ACTS.get(site.kind, "") for site in source.sites.values()}
        last_return = self._returns()
        tolds, names, seen, items = self._values.get, self._names.get, self._seen, self.items
        for index, (site, frame, value) in enumerate(zip(*source.columns(), strict=True)):
            while next_mark < index:
                self._mark(marks.pop())
                next_mark = marks[-1].after_event if marks else source.event_count
            act = acts.get(site)
            if act == "tell":
                if not value:
                    continue
                told = tolds(value) or self._told(value)
                if told is _NOTHING:
                    seen.add(value)
                    continue
                name = names(site)
                if name is None:
                    name = self._only_name(source.sites[site])
                if name and told.shape is not None:  # by far the most: one tensor, one name
                    new = value not in seen
                    seen.add(value)
                    key = self._number((site, name, told.shape))
                    items[frame].append(_Item(key, None, index, site, name, "assign", value, new))
                else:
                    self._op(index, site, frame, value, told, last_return)
            elif act == "meet":
                self._meet(value)
            elif act == "enter":
                entered = frames[frame] if frame else None
                if entered is not None and entered.first_event == index:
                    self.items[entered.caller].append(_Item(0, frame=entered))
            elif act is None:
                source.sites[site]  # raises: a recording that has no such site is damaged
        while marks:
            self._mark(marks.pop())

    def _returns(self) -> dict[int, int]:
        """The last event of each frame that stands in a `return`: the value returned, unless an exception came after
        it.
        """
        returning = {site.id for site in self._source.sites.values() if site.use == "return"}
        sites, frames, _ = self._source.columns()
        found = {frames[index]: index for index, site in enumerate(sites) if site in returning}
        for raised in self._source.raised:
            for frame in raised.frames:
                found.pop(frame, None)
        return found

    def _op(self, index: int, number: int, frame: int, value: int, told: _Told, last_return: dict[int, int]) -> None:
        if told.shape is None and not told.tensors:
            self._meet(value)
            return
        site = self._source.sites[number]
        handed_on = site.use == "return" and last_return.get(frame) != index
        bounds = () if handed_on else bound_by(self._source, value, site)
        of_names = {bound.value for bound in bounds}
        if told.shape is None:
            self._meet(value)
        for one in told.tensors if told.shape is None else (value,):
            new = self._meet(one)
            like = self._told(one)
            if one not in of_names and one == value:
                self._add(index, number, frame, "", "unnamed", one, like, new)
            for bound in bounds:
                if bound.value == one or (bound.value == value and new):
                    self._add(index, number, frame, bound.name, bound.how, one, like, new)

    def _only_name(self, site: Site) -> str:
        """The one name that a site assigns to, "" if it does something else."""
        name = self._names.get(site.id)
        if name is None:
            targets = targets_of(site.binds) if site.kind == "value" and site.use == "assign" and site.binds else ()
            only = targets[0] if len(targets) == 1 else ""
            name = self._names[site.id] = only if isinstance(only, str) else ""
        return name

    def _add(self, index: int, site: int, frame: int, name: str, how: str, value: int, told: _Told, new: bool) -> None:
        key = self._number((site, name if how != "unnamed" else None, told.shape))
        self.items[frame].append(_Item(key, None, index, site, name, how, value, new))

    def _mark(self, mark: Mark) -> None:
        self.items[mark.frame].append(_Item(self._number(("mark", mark.path, mark.line)), mark=mark))

    def _meet(self, value: int) -> bool:
        """Take note of a value and of the containers in it; whether it is met for the first time."""
        if not value or value in self._seen:
            return False
        self._seen.add(value)
        for container in self._told(value).containers:
            self._meet(container)
        return True

    def _told(self, value: int) -> _Told:
        """What matters here of a value, looked up once."""
        told = self._values.get(value)
        if told is None:
            self._values[value] = _NOTHING  # for a container that, in a damaged recording, is within itself
            about = self._source.about(value)
            kind = about.get("kind")
            if kind == "tensor":  # descriptions are shared: most tensors are like one before
                like = self._tensors.get(id(about))
                told = like[1] if like else _Told((str(about.get("shape")), str(about.get("dtype"))), (), ())
                self._tensors[id(about)] = about, told  # kept, so that its id stays its own
            elif kind in ("tuple", "list"):
                items = [item for item in items_of(self._source, value) or () if item and item != value]
                tensors = tuple(item for item in items if self._told(item).shape is not None)
                told = _Told(None, tensors, tuple(item for item in items if self._told(item).shape is None))
            else:
                told = _NOTHING
            self._values[value] = told
        return told

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    # ---- folding

    def _key_of(self, frame: Frame, items: Sequence[_Item]) -> int:
        module = self._index.module_of(frame)
        inner = tuple((item.key, item.times) for item in items)
        return self._number((frame.function, frame.phase, module.class_name if module else "", inner))

    def _folded(self, items: list[_Item]) -> list[_Item]:
        folded: list[_Item] = []
        for run in runs_of([item.key for item in items]):
            for at in range(run.start, run.start + run.length):
                item = items[at]
                item.times = run.times
                if item.frame is not None:
                    again = [items[at + time * run.length] for time in range(1, run.times)]
                    item.others = [other.frame for other in again if other.frame is not None]
                folded.append(item)
        return folded

    # ---- showing

    def _steps(self) -> Iterator[Step]:
        waiting: list[tuple[int, int, Iterator[_Item]]] = [(0, 0, iter(self._kept[0]))]
        named: dict[int, set[int]] = defaultdict(set)
        while waiting:
            depth, frame, items = waiting[-1]
            item = next(items, None)
            if item is None:
                waiting.pop()
            elif item.frame is not None:
                yield self._call(item, item.frame, depth)
                waiting.append((depth + 1, item.frame.id, iter(self._kept[item.frame.id])))
            elif item.mark is not None:
                yield self._stop(item.mark, item.times, depth)
            elif item.event >= 0:
                if self._everything or self._is_shown(item, named[frame]):
                    yield self.op(item, frame, depth)
                named[frame].add(item.value)

    def _is_shown(self, item: _Item, named: set[int]) -> bool:
        """Names always; what is returned, or the value of a bare statement, only if it is not there under a name."""
        if item.how == "unnamed":
            return False
        return item.how not in ("return", "yield", "expression") or item.value not in named

    def _call(self, item: _Item, frame: Frame, depth: int) -> Call:
        function = self._source.functions[frame.function]
        modules = [module for module in map(self._index.module_of, (frame, *item.others)) if module is not None]
        return Call(
            depth,
            frame.id,
            function.qualname,
            modules[0].path if modules else "",
            modules[0].class_name if modules else "",
            tuple(dict.fromkeys(module.path for module in modules)),
            item.times,
            frame.phase,
            self._index.function_place(function),
            self._left_out[frame.id],
        )

    def op(self, item: _Item, frame: int, depth: int) -> Op:
        site = self._source.sites[item.site]
        return Op(
            depth,
            item.event,
            frame,
            item.name,
            item.how,
            self._index.text(site),
            site.node,
            item.new,
            item.times,
            self._index.place(site),
            describe(self._source, item.value),
        )

    def _stop(self, mark: Mark, times: int, depth: int) -> Stop:
        known = (file.package_path for file in self._source.files.values() if file.path == mark.path)
        place = Place(next(known, mark.path.rpartition("/")[2]), mark.line)
        return Stop(depth, mark.id, mark.frame, times, place, tuple(mark.names.items()))


def paths_text(paths: Iterable[str]) -> str:
    """Module paths that differ in one number as one: "model.layers.0–1"; others joined by commas."""
    known = list(paths)
    parts = [path.split(".") for path in known]
    if len(known) < 2 or len({len(one) for one in parts}) != 1:
        return ", ".join(known)
    columns = list(zip(*parts, strict=True))
    differing = [at for at, column in enumerate(columns) if len(set(column)) > 1]
    if len(differing) != 1 or not all(_NUMBER.fullmatch(one) for one in columns[differing[0]]):
        return ", ".join(known)
    numbers = sorted(map(int, columns[differing[0]]))
    return ".".join([*parts[0][: differing[0]], _spans(numbers), *parts[0][differing[0] + 1 :]])


def _spans(numbers: Sequence[int]) -> str:
    """ "0–3,5" for 0, 1, 2, 3, 5."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(low) if low == high else f"{low}–{high}" for low, high in spans)
