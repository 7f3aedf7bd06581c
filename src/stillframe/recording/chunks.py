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
        self._rows = lru_cache(CHUNKS_KEPT)(self._load)

    def find(self, id: int) -> Found | None:
        """The row that begins with `id`, or None."""
        index = self._index
        at = bisect_right(index.lows, id)
        while at:
            at -= 1
            if index.reach[at] < id:
                break
            if index.highs[at] >= id:
                rows, places = self._rows(index.chunks[at])
                if (place := places.get(id)) is not None:
                    return Found(index.chunks[at], rows[place : place + self._width])
        return None

    def all(self) -> Iterator[array[int]]:
        """Every row, chunk by chunk."""
        for chunk in sorted(self._index.chunks):
            rows = self._load(chunk)[0]
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

    def _load(self, chunk: int) -> tuple[array[int], dict[int, int]]:
        (blob,) = self._connection.execute(f'SELECT rows FROM "{self._table}" WHERE chunk = ?', (chunk,)).fetchone()
        rows = unpack_ints(blob)
        return rows, {id: place * self._width for place, id in enumerate(rows[:: self._width])}
