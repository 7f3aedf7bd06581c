"""Takes what went wrong with a request; gives one error that says what was asked, what was found and what to do.

Knows no stage of the tool: every layer raises from here.

    StillframeError            exit code 1
    ├── UsageError             exit code 2: the request itself cannot be met
    │   └── UnknownNameError   a name that nothing answers to; carries the nearest valid names
    ├── RecordingError         a .still file cannot be read, or cannot be written
    └── CaptureError           a run cannot be recorded
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class StillframeError(Exception):
    """A failure a person can meet. `slug` is its heading in docs/errors.md; `exit_code` is what a command ends with."""

    exit_code = 1

    def __init__(self, slug: str, asked: str, found: str, todo: str) -> None:
        """`asked`: what was wanted. `found`: what stood in the way. `todo`: what to do next. Each a full sentence."""
        super().__init__(f"{asked} {found} {todo}")
        self.slug = slug
        self.asked = asked
        self.found = found
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.asked}\n  {self.found}\n  {self.todo}\n  (docs/errors.md#{self.slug})"


class UsageError(StillframeError):
    """The request cannot be met as it stands."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that nothing answers to."""

    def __init__(self, slug: str, kind: str, name: str, known: Iterable[str], todo: str) -> None:
        """`kind` is what the name should have named ("model type"); `known` are the names that would have done."""
        self.nearest = nearest_names(name, known)
        found = f"The nearest are: {', '.join(self.nearest)}." if self.nearest else "Nothing known comes near it."
        super().__init__(slug, f"There is no {kind} called {name!r}.", found, todo)


class RecordingError(StillframeError):
    """A .still file cannot be read, or cannot be written."""


class CaptureError(StillframeError):
    """A run cannot be recorded."""


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The up to `count` known names that look most like `name`, best first."""
    return tuple(difflib.get_close_matches(name, list(known), n=count, cutoff=0.5))
