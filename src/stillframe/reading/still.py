"""Takes the path of a recording; gives a Still, which answers every question about it with frozen records.

Must not know how answers are shown. The one place in reading that knows of the file. Each pass is loaded when it is
first asked for, since a screen needs but one or two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from stillframe.errors import RecordingError, UnknownNameError, UsageError
from stillframe.reading.index import Index
from stillframe.recording.reader import Recording, open_recording
from stillframe.records import Function, Note

if TYPE_CHECKING:
    from stillframe.reading.overview import Overview
    from stillframe.reading.source import FunctionSource
    from stillframe.reading.stack import Stack
    from stillframe.reading.tree import Op, Way
    from stillframe.reading.values import ValueReport


def open_still(path: str | os.PathLike[str]) -> Still:
    """The recording at `path`; close it, or use it in a `with`. Raises RecordingError if it cannot be read."""
    return Still(open_recording(path))


class Still:
    """A recording, to be asked. `recording` gives the bare records."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Still {os.fspath(self.file)!r}>"

    def close(self) -> None:
        """Let the file go."""
        self.recording.close()

    @property
    def file(self) -> Path:
        return self.recording.path

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What was run and how, as recorded."""
        return self.recording.manifest

    @property
    def notes(self) -> Sequence[Note]:
        """What a reader must know: what is missing or different, and why."""
        return self.recording.notes

    @cached_property
    def _index(self) -> Index:
        return Index(self.recording)

    def overview(self) -> Overview:
        """What was run and how it went."""
        from stillframe.reading.overview import look_over

        return look_over(self._index)

    def path(self, *, everything: bool = False) -> Way:
        """The way through the model, equal layers folded. `everything`: with calls that gave no new tensor, and unnamed
        links.
        """
        from stillframe.reading.tree import find_way

        return find_way(self._index, everything=everything)

    def ops(self, *, everything: bool = False) -> tuple[Op, ...]:
        """Every tensor, in order, where it first came up or got a name. `everything`: also where it was only read."""
        from stillframe.reading.tree import find_ops

        return find_ops(self._index, everything=everything)

    def source(self, function: str | None = None) -> tuple[FunctionSource, ...]:
        """The source of a function, or of all that ran, with what each line did.

        `function` is a qualified name or the end of one ("LlamaAttention.forward", "rotate_half"). Raises
        UnknownNameError with the nearest names if there is none, and UsageError if several end so.
        """
        from stillframe.reading.source import functions_that_ran, read_source

        chosen = functions_that_ran(self._index) if function is None else (self._function(function),)
        return tuple(read_source(self._index, one) for one in chosen)

    def value(self, id: int) -> ValueReport:
        """One value. Raises UsageError if there is none of that id."""
        from stillframe.reading.values import report_value

        self._check_value(id)
        return report_value(self._index, id)

    def stack(self, id: int | str) -> Stack:
        """The chain of calls of a value (its id, or "v12"), an event ("e12") or a frame ("f12")."""
        from stillframe.reading.stack import stack_of_event, stack_of_frame, stack_of_value

        kind, number = ("v", id) if isinstance(id, int) else parse_id(id)
        if kind == "f":
            return stack_of_frame(self._index, number)
        if kind == "e":
            if not 0 <= number < self.recording.event_count:
                found = f"The recording has the events e0 to e{self.recording.event_count - 1}."
                raise UsageError("no-such-event", f"The stack of event {number} was asked for.", found, "Name one of them.")
            return stack_of_event(self._index, number)
        self._check_value(number)
        return stack_of_value(self._index, number)

    def dump(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every record, with its name."""
        from stillframe.reading.dump import dump_records

        return dump_records(self.recording)

    def _check_value(self, id: int) -> None:
        try:
            self.recording.value(id)
        except RecordingError as error:
            if error.slug != "recording-no-such-id":
                raise
            asked, found = f"Value {id} was asked for.", "The recording holds no such value."
            todo = f"The ids of values are in: stillframe show {self.file} ops"
            raise UsageError("no-such-value", asked, found, todo) from error

    def _function(self, name: str) -> Function:
        functions = self.recording.functions.values()
        found = [one for one in functions if one.qualname == name]
        found = found or [one for one in functions if one.qualname.endswith(f".{name}")]
        ran = [one for one in found if one.id in self._index.frames_of]
        if len(found) == 1 or len(ran) == 1:
            return (ran or found)[0]
        if not found:
            known = dict.fromkeys(one.qualname for one in functions)
            ends = dict.fromkeys(one.qualname.rpartition(".")[2] for one in functions)
            todo = f"All that ran are in: stillframe show {self.file} source"
            raise UnknownNameError("unknown-function", "function in this recording", name, {**known, **ends}, todo)
        index, several = self._index, ran or found
        if len({one.qualname for one in several}) == 1:
            return several[0]
        asked = f"The source of {name!r} was asked for."
        names = ", ".join(f"{one.qualname} ({index.function_place(one).text})" for one in several[:8])
        raise UsageError("ambiguous-function", asked, f"Several functions are called so: {names}.", "Name one in full.")


def parse_id(text: str) -> tuple[str, int]:
    """What an id as the screens show it stands for: "v" a value (or a bare number), "e" an event, "f" a frame."""
    kind, digits = (text[0], text[1:]) if text[:1] in ("v", "e", "f") else ("v", text)
    if not digits.isascii() or not digits.isdigit():
        asked, found = f"{text!r} was given as an id.", "An id is v, e or f (value, event, frame) and a number."
        raise UsageError("bad-id", asked, found, "Copy one from the path, or from: stillframe show FILE ops")
    return kind, int(digits)
