"""Takes an event, a value or a frame; gives the chain of calls it stood in, from the outermost on.

Must not know which of the names are shown: those out of scope are there too, between the frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from stillframe.errors import UsageError
from stillframe.reading.bindings import items_of
from stillframe.reading.index import Index, Place
from stillframe.records import Frame


@dataclass(frozen=True, slots=True)
class Level:
    """A frame in scope. `between` are the functions out of scope that were called on the way to it from the level
    above.

    `at` is where it stood: the call of the next level, or the event asked for; None if that is not known. `expression`
    is the text there.
    """

    frame: int
    function: str
    path: str
    class_name: str
    phase: str
    thread: int
    defined: Place
    at: Place | None
    expression: str
    between: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """`asked` is what it is the stack of, in words. `levels` from the outermost frame on."""

    asked: str
    event: int | None
    levels: tuple[Level, ...]


def stack_of_event(index: Index, event: int) -> Stack:
    """The stack in which an event happened. Raises RecordingError if there is none."""
    source = index.source
    found = source.event(event)
    site = source.sites[found.site]
    frame = source.frames[found.frame] if found.frame else None
    levels = _levels(index, frame, index.place(site), index.text(site))
    return Stack(f"event {event}", event, levels)


def stack_of_frame(index: Index, frame: int) -> Stack:
    """The stack of a frame, as it was entered. Raises UsageError if there is none."""
    known = index.source.frames
    if frame not in known:
        asked, found = f"The stack of frame {frame} was asked for.", "The recording holds no such frame."
        raise UsageError("no-such-frame", asked, found, "The ids of frames are in: stillframe show FILE path --json")
    return Stack(f"frame {frame}", known[frame].first_event, _levels(index, known[frame], None, ""))


def stack_of_value(index: Index, value: int) -> Stack:
    """The stack in which a value was first seen. Raises UsageError if no event has it."""
    source = index.source
    source.value(value)
    for event in source.events():
        if event.value == value or (event.value and value in (items_of(source, event.value) or ())):
            found = stack_of_event(index, event.index)
            return Stack(f"value {value}, first seen in event {event.index}", event.index, found.levels)
    asked, why = (
        f"The stack of value {value} was asked for.",
        "No event has that value: it is only part of another one.",
    )
    raise UsageError("value-in-no-event", asked, why, f"Look at it by itself: stillframe show FILE value {value}")


def _levels(index: Index, frame: Frame | None, at: Place | None, expression: str) -> tuple[Level, ...]:
    source = index.source
    levels: list[Level] = []
    met: set[int] = set()
    while frame is not None and frame.id not in met:
        met.add(frame.id)
        function = source.functions[frame.function]
        module = index.module_of(frame)
        levels.append(
            Level(
                frame.id,
                function.qualname,
                module.path if module else "",
                module.class_name if module else "",
                frame.phase,
                frame.thread,
                index.function_place(function),
                at,
                expression,
                frame.chain,
            )
        )
        site = source.sites[frame.call_site] if frame.call_site else None
        at, expression = (index.place(site), index.text(site)) if site else (None, "")
        frame = source.frames[frame.caller] if frame.caller else None
    return tuple(reversed(levels))
