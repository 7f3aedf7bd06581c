"""Takes a recording; gives what every pass asks of it: texts of places, children of frames, modules of frames, events
of frames.

Must not know what is asked for: it looks up, and keeps what it has looked up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stillframe.reading.readable import Readable
from stillframe.records import Event, Frame, Function, Module, Site, SourceFile

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source file: `file` relative to the folder of its top-level package, as the screens name it."""

    file: str
    line: int

    @property
    def text(self) -> str:
        return f"{self.file.rpartition('/')[2]}:{self.line}"


class Index:
    """Look-ups in one recording."""

    def __init__(self, source: Readable) -> None:
        self.source = source
        self._lines: dict[int, list[str]] = {}
        self._owners: dict[int, Module | None] = {}

    def file_of(self, function: int) -> SourceFile:
        return self.source.files[self.source.functions[function].file]

    def lines(self, file: SourceFile) -> list[str]:
        """The lines of a file as Python counts them: a form feed ends none."""
        if file.id not in self._lines:
            self._lines[file.id] = _LINE_END.split(file.text)
        return self._lines[file.id]

    def text(self, site: Site) -> str:
        """The exact source text of a site."""
        lines = self.lines(self.file_of(site.function))
        if not 1 <= site.line <= site.end_line <= len(lines):
            return ""
        taken = [_encoded(line) for line in lines[site.line - 1 : site.end_line]]
        taken[-1] = taken[-1][: site.end_col]
        taken[0] = taken[0][site.col :]
        return b"\n".join(taken).decode("utf-8", "replace")

    def place(self, site: Site) -> Place:
        return Place(self.file_of(site.function).package_path, site.line)

    def function_place(self, function: Function) -> Place:
        return Place(self.source.files[function.file].package_path, function.line)

    @cached_property
    def children(self) -> Mapping[int, Sequence[Frame]]:
        """The frames that each frame called, in order; those of 0 were called from none in scope."""
        found: dict[int, list[Frame]] = defaultdict(list)
        for frame in sorted(self.source.frames.values(), key=lambda frame: frame.first_event):
            found[frame.caller].append(frame)
        return found

    @cached_property
    def frames_of(self) -> Mapping[int, Sequence[Frame]]:
        """The calls of each function, in order."""
        found: dict[int, list[Frame]] = defaultdict(list)
        for frame in sorted(self.source.frames.values(), key=lambda frame: frame.first_event):
            found[frame.function].append(frame)
        return found

    @cached_property
    def sites_of(self) -> Mapping[int, Sequence[Site]]:
        """The sites of each function."""
        found: dict[int, list[Site]] = defaultdict(list)
        for site in self.source.sites.values():
            found[site.function].append(site)
        return found

    @cached_property
    def events_of(self) -> Mapping[int, Sequence[Event]]:
        """The events of each frame, in order; those of 0 belong to a frame that is not known."""
        found: dict[int, list[Event]] = defaultdict(list)
        for event in self.source.events():
            found[event.frame].append(event)
        return found

    @cached_property
    def last_events(self) -> Mapping[int, int]:
        """The index of the last event in each frame."""
        return {event.frame: event.index for event in self.source.events()}

    @cached_property
    def _modules(self) -> Mapping[int, Sequence[Module]]:
        found: dict[int, list[Module]] = defaultdict(list)
        for module in self.source.modules:
            found[module.object].append(module)
        return found

    def module_of(self, frame: Frame) -> Module | None:
        """The module whose method a frame runs; of several places it has, the deepest, then the first."""
        if not frame.owner:
            return None
        if frame.owner not in self._owners:
            known = self._modules.get(self.source.value(frame.owner).object, ())
            self._owners[frame.owner] = min(known, key=_depth_of, default=None)
        return self._owners[frame.owner]

    @cached_property
    def complete(self) -> bool:
        """Whether every event of the run is known to be here, up to its last."""
        return not any(note.kind == "incomplete" for note in self.source.notes)

    @cached_property
    def closed(self) -> bool:
        """Whether the recording was brought to its end."""
        return bool(self.source.manifest.get("ended"))


def _depth_of(module: Module) -> tuple[int, bool, str]:
    return -module.path.count("."), not module.path, module.path


def _encoded(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")
