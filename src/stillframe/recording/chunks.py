"""Takes a table of packed integer rows, chunk by chunk; gives the row of an id without reading the others' chunks.

Must not know what the columns mean: only that the first is the id, and how wide a row is.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from stillframe.recording.codec import unpack_ints

CHUNKS_KEPT = 32


class Damage(Exception):
    """What was read contradicts the format; the message is a full sentence saying how."""


class Found(NamedTuple):
    """A row, and the chunk it stands in."""

    chunk: int
    row: array[int]


class _Chunk(NamedTuple):
    """The rows of a chunk, one after another, and where the row of each id begins."""

    chunk: int
    rows: array[int]
    places: dict[int, int]


class _Index(NamedTuple):
    """One entry a chunk, by ascending `lows`; `reach` is the largest of `highs` up to and with that entry."""

    chunks: list[int]
    lows: list[int]
    highs: list[int]
    reach: list[int]


class Chunks:
    """The rows of one table. Raises Damage or sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection, table: str, width: int) -> None:
        self._connection = connection
        self._table = table
        self._width = width
        self._loaded = lru_cache(CHUNKS_KEPT)(self._load)
        self._last = _Chunk(0, array("q"), {})

    def find(self, id: int) -> Found | None:
        """The row that begins with `id`, or None."""
        place = self._last.places.get(id)
        if place is None:
            place = self._turn_to(id)
        if place is None:
            return None
        return Found(self._last.chunk, self._last.rows[place : place + self._width])

    def cell(self, id: int, column: int) -> int | None:
        """One number of the row that begins with `id`, or None."""
        place = self._last.places.get(id)
        if place is None:
            place = self._turn_to(id)
        return None if place is None else self._last.rows[place + column]

    def _turn_to(self, id: int) -> int | None:
        """Make the chunk that holds `id` the last one looked at: ids that are asked for in turn stand near each other."""
        index = self._index
        at = bisect_right(index.lows, id)
        while at:
            at -= 1
            if index.reach[at] < id:
                break
            if index.highs[at] >= id:
                chunk = self._loaded(index.chunks[at])
                if (place := chunk.places.get(id)) is not None:
                    self._last = chunk
                    return place
        return None

    def all(self) -> Iterator[array[int]]:
        """Every row, chunk by chunk."""
        for chunk in sorted(self._index.chunks):
            rows = self._load(chunk).rows
            for place in range(0, len(rows), self._width):
                yield rows[place : place + self._width]

    @cached_property
    def _index(self) -> _Index:
        lengths = f'SELECT chunk, low, high, count, typeof(rows), length(rows) FROM "{self._table}"'
        entries = []
        seen = set()
        for chunk, low, high, count, kind, length in self._connection.execute(lengths):
            if any(type(number) is not int for number in (chunk, low, high, count)) or kind != "blob" or chunk in seen:
                raise Damage(f"A row of the table {self._table} is not of the kind it should be.")
            if count < 1 or low > high or length != count * self._width * 8:
                raise Damage(f"Chunk {chunk} of {self._table} says {count} rows, and has {length} bytes of them.")
            seen.add(chunk)
            entries.append((low, high, chunk))
        entries.sort()
        highs = [high for _, high, _ in entries]
        return _Index([c for _, _, c in entries], [low for low, _, _ in entries], highs, list(accumulate(highs, max)))

    def _load(self, chunk: int) -> _Chunk:
        sql = f'SELECT low, high, rows FROM "{self._table}" WHERE chunk = ?'
        low, high, blob = self._connection.execute(sql, (chunk,)).fetchone()
        rows = unpack_ints(blob)
        places = {id: place * self._width for place, id in enumerate(rows[:: self._width])}
        if (min(places), max(places)) != (low, high) or len(places) * self._width != len(rows):
            raise Damage(f"Chunk {chunk} of {self._table} has other ids than it says, or one of them twice.")
        return _Chunk(chunk, rows, places)
