"""Gives the shapes of the parts that meet across layers: who takes batches, who hands out records.

Knows no stage of the tool: only records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from stillframe.records import (
    Batch,
    Content,
    Event,
    Frame,
    Function,
    Mark,
    Module,
    Note,
    Raised,
    Site,
    SourceFile,
    Value,
)


class Sink(Protocol):
    """Where a recorder puts what it has: a file, or a list in a test. Called from one thread at a time."""

    def write(self, batch: Batch) -> None:
        """Keep the batch, wholly or not at all. Raises OSError or RecordingError if it cannot."""

    def close(self, batch: Batch) -> None:
        """Keep the last batch and finish. Calling it twice does nothing the second time."""


class Source(Protocol):
    """A recording as the reading half sees it: records, by id or in order."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def event_count(self) -> int: ...
    @property
    def files(self) -> Mapping[int, SourceFile]: ...
    @property
    def functions(self) -> Mapping[int, Function]: ...
    @property
    def sites(self) -> Mapping[int, Site]: ...
    @property
    def frames(self) -> Mapping[int, Frame]: ...
    @property
    def modules(self) -> Sequence[Module]: ...
    @property
    def marks(self) -> Sequence[Mark]: ...
    @property
    def raised(self) -> Sequence[Raised]: ...
    @property
    def notes(self) -> Sequence[Note]: ...
    def events(self, first: int = 0, stop: int | None = None) -> Iterator[Event]: ...
    def columns(self) -> tuple[Sequence[int], Sequence[int], Sequence[int]]: ...
    def event(self, index: int) -> Event: ...
    def value(self, id: int) -> Value: ...
    def about(self, id: int) -> Mapping[str, Any]: ...
    def content(self, id: int) -> Content: ...
