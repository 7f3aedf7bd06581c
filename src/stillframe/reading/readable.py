"""Says what a recording must offer to be read: a Source whose values also have numbers.

Must not know where the numbers come from: a file, or made-up ones in a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from stillframe.protocols import Source
from stillframe.records import Value


class Statistics(Protocol):
    """What a value's numbers are like, together; None where it is not known (see docs/format.md)."""

    @property
    def count(self) -> int: ...
    @property
    def min(self) -> int | float | None: ...
    @property
    def max(self) -> int | float | None: ...
    @property
    def mean(self) -> float | complex | None: ...
    @property
    def std(self) -> float | None: ...
    @property
    def nan(self) -> int | None: ...
    @property
    def posinf(self) -> int | None: ...
    @property
    def neginf(self) -> int | None: ...
    @property
    def zero(self) -> int | None: ...


class Numbers(Protocol):
    """The numbers of one value, or a sample of them."""

    @property
    def sampled(self) -> bool: ...
    @property
    def sample_shape(self) -> tuple[int, ...]: ...
    @property
    def sample_steps(self) -> Sequence[int] | None: ...
    def row(self, *leading: int) -> Any: ...
    def statistics(self) -> Statistics: ...


class Readable(Source, Protocol):
    """A recording, with the numbers of its values."""

    def numbers(self, value: Value) -> Numbers | None: ...
