"""Takes a recording; gives what was run and how it went, in facts.

Must not know the way through the model: that is `tree`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stillframe.reading.index import Index, Place
from stillframe.records import Raised


@dataclass(frozen=True, slots=True)
class Root:
    """A model that ran: its class, how many numbers its modules hold in parameters and buffers, and how many such there
    were.
    """

    class_name: str
    modules: int
    numbers: int
    times: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that left the run, or was caught in it by `caught_in`; `stack` holds function and line, outermost
    first.

    `in_flight` are the names in the innermost frame, with the ids of their values.
    """

    type_name: str
    message: str
    caught_in: str
    stack: tuple[tuple[str, Place], ...]
    in_flight: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """What was run. `ended` is finished, raised, interrupted, failed, or "" if the recording does not reach the end.

    `notes` are (kind, subject, reason); those with no subject were said of the model when it was built.
    """

    command: str
    target: str
    args: tuple[str, ...]
    class_name: str
    source_file: str
    scenario: str
    ended: str
    exit_code: int | None
    started: str
    seconds: float | None
    python: str
    versions: Mapping[str, str]
    sizes: Mapping[str, int]
    n_parameters: int | None
    attn: str
    tokens: tuple[tuple[str, ...], ...]
    roots: tuple[Root, ...]
    events: int
    calls: int
    marks: int
    files: int
    failures: tuple[Failure, ...]
    caught: int
    notes: tuple[tuple[str, str, str], ...]


def look_over(index: Index) -> Overview:
    """The facts of a recording; what its manifest does not say is empty."""
    source, facts = index.source, index.source.manifest
    by_path = {file.path: file.package_path for file in source.files.values()}
    path = _text(facts, "source_file")
    said = [("model", "", str(note)) for note in _list(facts.get("notes"))]
    left = [raised for raised in source.raised if not raised.caught_in]
    return Overview(
        command=_text(facts, "command"),
        target=_text(facts, "target"),
        args=tuple(map(str, _list(facts.get("args")))),
        class_name=_text(facts, "class_name"),
        source_file=by_path.get(path, path.replace("\\", "/").rpartition("/")[2]),
        scenario=_text(facts, "scenario"),
        ended=_text(facts, "ended"),
        exit_code=_number(facts, "exit_code"),
        started=_text(facts, "started"),
        seconds=float(facts["seconds"]) if isinstance(facts.get("seconds"), (int, float)) else None,
        python=_text(facts, "python"),
        versions={str(name): str(one) for name, one in _mapping(facts.get("versions")).items()},
        sizes={str(name): size for name, size in _mapping(facts.get("sizes")).items() if isinstance(size, int)},
        n_parameters=_number(facts, "n_parameters"),
        attn=_text(facts, "attn"),
        tokens=tuple(tuple(map(str, _list(row))) for row in _list(facts.get("tokens"))),
        roots=_roots(index),
        events=source.event_count,
        calls=len(source.frames),
        marks=len(source.marks),
        files=len(source.files),
        failures=tuple(_failure(index, raised) for raised in left),
        caught=len(source.raised) - len(left),
        notes=(*said, *((note.kind, note.subject, note.reason) for note in source.notes)),
    )


def _roots(index: Index) -> tuple[Root, ...]:
    names: dict[int, str] = {}
    held: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    for module in index.source.modules:
        if module.object == module.root and not module.path:
            names[module.root] = module.class_name
        counts[module.root] += 1
        held[module.root] += sum(math.prod(shape) for shape in module.parameters.values())
    equal = Counter((name, counts[root], held[root]) for root, name in names.items())
    return tuple(Root(*one, times) for one, times in equal.items())


def _failure(index: Index, raised: Raised) -> Failure:
    source = index.source
    stack = []
    for frame, line in zip(raised.frames, raised.lines, strict=False):
        if frame in source.frames:
            function = source.functions[source.frames[frame].function]
            stack.append((function.qualname, Place(source.files[function.file].package_path, line)))
    caught = ""
    if raised.caught_in in source.frames:
        caught = source.functions[source.frames[raised.caught_in].function].qualname
    names = tuple(raised.names[-1].items()) if raised.names else ()
    message = raised.message.removeprefix(raised.type_name).removeprefix(": ")  # some are kept as Python prints them
    return Failure(raised.type_name, message, caught, tuple(stack), names)


def _text(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key)
    return value if isinstance(value, str) else ""


def _number(facts: Mapping[str, Any], key: str) -> int | None:
    value = facts.get(key)
    return value if type(value) is int else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
