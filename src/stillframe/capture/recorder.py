"""Takes the events that observers logged; gives batches of records to a sink, once or more a second.

Knows no torch and no weaving. A sink that fails ends the recording, never the run: the reason is kept, and nothing more is
logged.
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from stillframe.capture.observe import Caught, Entered, EventLog
from stillframe.capture.values import ValueKeeper
from stillframe.protocols import Sink
from stillframe.records import Batch, Function, Mark, Module, Note, Raised, Site, SourceFile

FLUSH_SECONDS = 0.4
FLUSH_BYTES = 32 * 1024 * 1024
_LINE_END = re.compile(r"\r\n|\r|\n")
_BRACKETS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))
_CHECKPOINT = os.path.join("torch", "utils", "checkpoint.py")


@dataclass(slots=True)
class _Static:
    """Records that do not come from events, waiting to be written."""

    files: list[SourceFile] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)


class Recorder:
    """Turns logged rows into records and writes them from a thread of its own until `close`."""

    def __init__(self, log: EventLog, keeper: ValueKeeper, sink: Sink, *, threaded: bool = True) -> None:
        self._log, self._keeper, self._sink = log, keeper, sink
        self._static = _Static()
        self._lock = threading.RLock()
        self._calls: dict[tuple[int, int, int, int, int], int] = {}  # file and span of a call expression -> site
        self._method_calls: dict[tuple[int, int], list[Site]] = {}  # file and last line -> calls of more than one line
        self._texts: dict[int, str] = {}
        self._file_of_path: dict[str, int] = {}
        self._function_of_site: dict[int, int] = {}
        self._call_sites: dict[tuple[int, int], int] = {}
        self._flushed_bytes = 0
        self._chains: dict[tuple[int, ...], tuple[int, bool, tuple[CodeType, ...]]] = {}
        self._frame_at: dict[int, int] = {}  # address -> frame id, as of the last event seen
        self._phase_of: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._frame_count = 0
        self._event_count = 0
        self._notes: set[tuple[str, str, str]] = set()
        self._closed = False
        self.failure: BaseException | None = None
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        if threaded:
            self._thread = threading.Thread(target=self._run, name="stillframe-writer", daemon=True)
            self._thread.start()

    # ---- what does not come from events

    def add_file(self, file: SourceFile, functions: Sequence[Function], sites: Sequence[Site]) -> None:
        """A file in scope, before any event of its sites. Called again for a file, it adds functions and sites."""
        with self._lock:
            if file.path not in self._file_of_path:
                self._file_of_path[file.path] = file.id
                self._static.files.append(file)
                self._texts[file.id] = file.text
            self._static.functions += functions
            self._static.sites += sites
            for site in sites:
                self._function_of_site[site.id] = site.function
                if site.node == "Call":
                    self._calls[file.id, site.line, site.end_line, site.col, site.end_col] = site.id
                    if site.end_line > site.line:
                        self._method_calls.setdefault((file.id, site.end_line), []).append(site)

    def function_of(self, site: int) -> int:
        """The function a site is in."""
        return self._function_of_site[site]

    def add_modules(self, modules: Sequence[Module]) -> None:
        """Torch modules seen."""
        self._static.modules += modules

    def add_mark(self, address: int, path: str, line: int, function: str, names: Mapping[str, int]) -> None:
        """A breakpoint met in the frame at `address`."""
        with self._lock:
            self.flush()
            frame = self._frame_at.get(address, 0)
            number = self._keeper.number()
            self._static.marks.append(Mark(number, self._event_count - 1, frame, path, line, function, dict(names)))

    def add_raised(
        self,
        type_name: str,
        message: str,
        addresses: Sequence[int],
        lines: Sequence[int],
        names: Sequence[Mapping[str, int]],
    ) -> None:
        """An exception that leaves the run, with the frames it left, outermost first."""
        with self._lock:
            self.flush()
            frames = tuple(self._frame_at.get(address, 0) for address in addresses)
            number = self._keeper.number()
            last = self._event_count - 1
            self._static.raised.append(Raised(number, last, type_name, message, frames, tuple(lines), tuple(names)))

    def note(self, kind: str, subject: str, reason: str) -> None:
        """Something the reader must know; said once."""
        if (kind, subject, reason) not in self._notes:
            self._notes.add((kind, subject, reason))
            self._static.notes.append(Note(kind, subject, reason))

    def describe_run(self, facts: Mapping[str, Any]) -> None:
        """Add to the manifest, or change what it says."""
        self._static.manifest.update(facts)

    # ---- batches

    def _run(self) -> None:
        seen = 0
        while not self._wake.wait(FLUSH_SECONDS / 8):
            seen += 1
            kept = self._keeper.tensors.kept_bytes if self._keeper.tensors else 0
            if seen >= 8 or kept - self._flushed_bytes > FLUSH_BYTES:
                seen = 0
                self.flush()

    def flush(self) -> None:
        """Write what has been logged so far. A failing sink is remembered, and the log stops."""
        with self._lock:
            if self._closed or self.failure is not None:
                return
            batch = self._batch()
            try:
                self._sink.write(batch)
            except Exception as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        self._log.active = False

    def close(self, facts: Mapping[str, Any]) -> None:
        """Write the rest, and the last facts of the manifest; afterwards nothing more is taken. Twice is once."""
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._lock:
            if self._closed:
                return
            self._log.active = False
            for fault, count in self._log.faults.items():
                self.note("incomplete", "observer", f"{fault}, {count} times: what those places did is missing")
            self.describe_run(facts)
            batch = self._batch()
            if not self._event_count:
                nothing = (
                    "no function ran that counts as the reader's: torch's own are passed through unless they are asked for"
                )
                batch = replace(
                    batch, notes=(*batch.notes, Note("unwoven", "everything", f"{nothing} (--inside, inside=True)"))
                )
            self._closed = True
            try:
                if self.failure is None:
                    self._sink.write(batch)
                self._sink.close(Batch())
            except Exception as error:
                self._fail(self.failure or error)

    def forget_after_fork(self) -> None:
        """In a child process: the file belongs to the parent."""
        self._log.active = False
        self._closed = True
        self._thread = None

    def _batch(self) -> Batch:
        if self._keeper.tensors is not None:
            self._flushed_bytes = self._keeper.tensors.kept_bytes
        length = len(self._log.events)
        events = self._log.events[:length]
        del self._log.events[:length]
        count = length // 3
        first = self._event_count
        frames = array("q")
        chains: list[tuple[int, tuple[str, ...]]] = []
        raised: list[Raised] = []
        sites, addresses, values = events[0::3], events[1::3], events[2::3]
        at = self._frame_at
        frame_at = at.get
        frame_of_event: list[int] = []
        add = frame_of_event.append
        for index, address in enumerate(addresses):
            site = sites[index]
            if site < 0:
                sites[index] = -site
                row = self._log.extra.pop(values[index])
                values[index] = 0
                if type(row) is tuple:
                    at[address] = self._frame(row, -site, first + index, frames, chains)
                elif isinstance(row, Caught):
                    raised.append(self._caught(row, first + index, at, at.get(address, 0)))
            add(frame_at(address, 0))
        self._event_count += count
        rows, descriptions, content_rows, content_data = self._keeper.take()
        static, self._static = self._static, _Static()
        return Batch(
            first_event=first,
            event_sites=array("q", sites),
            event_frames=array("q", frame_of_event),
            event_values=array("q", values),
            descriptions=descriptions,
            values=rows,
            content_rows=content_rows,
            content_data=content_data,
            files=tuple(static.files),
            functions=tuple(static.functions),
            sites=tuple(static.sites),
            chains=tuple(chains),
            frames=frames,
            modules=tuple(static.modules),
            marks=tuple(static.marks),
            raised=(*raised, *static.raised),
            notes=tuple(static.notes),
            manifest=static.manifest,
        )

    def _frame(self, row: Entered, site: int, event: int, rows: array[int], chains: list[tuple[int, tuple[str, ...]]]) -> int:
        """Add a frame's numbers to `rows`, in the order of records.FRAME_COLUMNS."""
        address, site_code, lasti, between, thread, backward, owner = row
        self._frame_count = frame = self._frame_count + 1
        caller = self._frame_at.get(address, 0)
        key = tuple(map(id, between))
        chain = self._chains.get(key)
        if chain is None:  # the code objects are kept, so that their ids stay theirs
            again = any(code.co_filename.endswith(_CHECKPOINT) for code in between)
            chain = self._chains[key] = len(self._chains) + 1, again, between
            if any("compile_wrapper" in code.co_name for code in between):
                self.note(
                    "path",
                    "torch.compile",
                    "what is compiled ran eagerly here, by torch.compiler.set_stance('force_eager')",
                )
            chains.append((chain[0], tuple(code.co_qualname for code in reversed(between))))
        phase = 0
        if backward:
            phase = 2 if chain[1] or self._phase_of.get(caller) == 2 else 1
            self._phase_of[frame] = phase
        number = self._threads.get(thread) or self._threads.setdefault(thread, len(self._threads) + 1)
        call_site = self._site_of(site_code, lasti) if site_code is not None and caller else 0
        function = self._function_of_site.get(site, 0)
        rows.extend((frame, function, caller, call_site, chain[0], owner, phase, number, event))
        return frame

    def _site_of(self, code: CodeType, lasti: int) -> int:
        """The call expression an instruction belongs to."""
        known = self._call_sites.get((id(code), lasti))
        if known is None:
            known = self._call_sites[id(code), lasti] = self._find_call(code, lasti)
        return known

    def _find_call(self, code: CodeType, lasti: int) -> int:
        file = self._file_of_path.get(code.co_filename, 0)
        for index, place in enumerate(code.co_positions()):
            if index == lasti // 2:
                line, end_line, column, end_column = (number or 0 for number in place)
                found = self._calls.get((file, line, end_line, column, end_column), 0)
                return found or self._method_call(file, line, column, end_line)
        return 0

    def _method_call(self, file: int, line: int, column: int, end_line: int) -> int:
        """The call that Python says begins at the method's name, since that is not on the line where the object begins.

        It is the smallest one around that place which has nothing but the object, and a dot, before it.
        """
        around = [site for site in self._method_calls.get((file, end_line), ()) if (site.line, site.col) < (line, column)]
        for site in sorted(around, key=lambda site: (site.line, site.col), reverse=True):
            lines = [text.encode("utf-8", "surrogatepass") for text in _LINE_END.split(self._texts[file])[site.line - 1 : line]]
            lines[-1] = lines[-1][:column]
            lines[0] = lines[0][site.col :]
            before = b"\n".join(lines).rstrip()
            if before.endswith(b".") and all(before.count(one) == before.count(other) for one, other in _BRACKETS):
                return site.id
        return 0

    def _caught(self, row: Caught, event: int, at: Mapping[int, int], frame: int) -> Raised:
        frames = tuple(at.get(address, 0) for address in row.frames)
        return Raised(self._keeper.number(), event, row.type_name, row.message, frames, row.lines, (), frame)
