"""Records a call into a temporary file and reads it back, for tests that need a real recording."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import stillframe.session
from stillframe.recording.reader import Recording, open_recording

OPENED: list[Recording] = []  # closed after each test, by conftest.py


def record_call(path: Path, call: Callable[[], Any], **options: Any) -> tuple[Any, Recording]:
    """What the call returns, and the recording of it."""
    with stillframe.session.record(path, **options):
        result = call()
    OPENED.append(open_recording(path))
    return result, OPENED[-1]


def bindings(recording: Recording, qualname: str) -> Iterator[tuple[str, Any]]:
    """Each name bound in frames of a function, with the value, in order."""
    for event in recording.events():
        site = recording.sites[event.site]
        if site.binds and event.value and recording.functions[site.function].qualname == qualname:
            yield site.binds, recording.value(event.value)


def same_numbers(recording: Recording, value: Any, tensor: Any) -> bool:
    """Whether a recorded value has exactly the shape and elements of a tensor, NaN included."""
    numbers = recording.numbers(value)
    if numbers is None or list(value.about["shape"]) != list(tensor.shape):
        return False
    expected = tensor.flatten().tolist()
    found = list(numbers.flat)
    return len(found) == len(expected) and all(
        one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))
        for one, other in zip(found, expected, strict=True)
    )


def incomplete(recording: Recording) -> list[Any]:
    """The notes that something was lost."""
    return [note for note in recording.notes if note.kind == "incomplete"]
