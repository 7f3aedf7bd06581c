"""Takes a recording; gives every record in it, one after another, as plain mappings with the record's name.

Must not know how they are spelled: bytes stay bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from stillframe.reading.readable import Readable


def dump_records(source: Readable) -> Iterator[tuple[str, dict[str, Any]]]:
    """All records, in an order in which what is referred to by frames and events comes first, values when they are
    first met.
    """
    yield "manifest", dict(source.manifest)
    for name, records in (
        ("file", source.files.values()),
        ("function", source.functions.values()),
        ("site", source.sites.values()),
        ("module", source.modules),
        ("note", source.notes),
        ("frame", source.frames.values()),
    ):
        for record in records:
            yield name, _plain(record)
    met: set[int] = set()
    contents: set[int] = set()
    for mark in source.marks:
        yield from _values(source, list(mark.names.values()), met, contents)
        yield "mark", _plain(mark)
    for raised in source.raised:
        yield from _values(source, [value for names in raised.names for value in names.values()], met, contents)
        yield "raised", _plain(raised)
    yield from _values(source, [frame.owner for frame in source.frames.values()], met, contents)
    for event in source.events():
        yield from _values(source, [event.value], met, contents)
        yield "event", _plain(event)


def _values(source: Readable, ids: list[int], met: set[int], contents: set[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Values that were not given yet, each after its content and before those within it."""
    waiting = ids[::-1]
    while waiting:
        id = waiting.pop()
        if not id or id in met:
            continue
        met.add(id)
        value = source.value(id)
        if value.content and value.content not in contents:
            contents.add(value.content)
            yield "content", _plain(source.content(value.content))
        yield "value", _plain(value)
        waiting += reversed(_within(value.about))


def _within(about: Mapping[str, Any]) -> list[int]:
    found: list[object] = []
    for key in ("items", "components", "fields", "inner"):
        group = about.get(key)
        found += group.values() if isinstance(group, dict) else group if isinstance(group, list) else ()
    return [one for one in found if type(one) is int and one > 0]


def _plain(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}
