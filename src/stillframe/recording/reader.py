"""Takes the path of a `.still` file and gives the records in it, by id or in order, each read when it is asked for.

Must not know of torch, nor of anything a recording names: what it reads is data, and whatever is wrong with that data
comes out as a RecordingError.
"""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, wraps
from pathlib import Path
from sqlite3 import Blob
from types import MappingProxyType, TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from stillframe.errors import RecordingError
from stillframe.recording.chunks import Chunks, Damage
from stillframe.recording.codec import decode, unpack_ints
from stillframe.recording.layout import CONTENT_WIDTH, FRAME_WIDTH, VALUE_WIDTH
from stillframe.recording.numbers import Numbers, read_numbers
from stillframe.recording.opening import READING_FAULTS, Opened, fault, open_read_only
from stillframe.records import (
    CONTENT_FORMS,
    PHASES,
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

DESCRIPTIONS_KEPT = 8192
CONTENTS_KEPT = 8
BLOBS_KEPT = 8

P = ParamSpec("P")
T = TypeVar("T")


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """The recording at `path`, to be closed (or used in a `with`). Raises RecordingError if it cannot be read."""
    place = Path(path)
    return Recording(place, open_read_only(place))


def _reading(method: Callable[Concatenate[Recording, P], T]) -> Callable[Concatenate[Recording, P], T]:
    """`method` with whatever goes wrong in reading turned into the one error that says so."""

    @wraps(method)
    def read(self: Recording, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except READING_FAULTS as error:
            if self.closed:
                asked = f"Something of the recording {self.path} was asked for."
                raise RecordingError("recording-closed", asked, "It has been closed.", "Open it again.") from error
            raise fault(self.path, error) from error

    return read


class Recording:
    """A Source that is a file. May be used from any thread, by one at a time.

    The mappings by id raise RecordingError for an id they lack, since only a damaged recording refers to one.
    Descriptions (`Value.about`) are shared between the values that have them: read them, do not change them.
    `manifest["ended"]` is "" if the recording was not closed: it is being written still, or its process was killed.
    """

    def __init__(self, path: Path, opened: Opened) -> None:
        self.path = path
        self.closed = False
        self._opened = opened
        self._execute = opened.connection.execute
        self._frames = Chunks(opened.connection, "frames", FRAME_WIDTH)
        self._values = Chunks(opened.connection, "values", VALUE_WIDTH)
        self._contents = Chunks(opened.connection, "contents", CONTENT_WIDTH)
        self._blobs: OrderedDict[int, Blob] = OrderedDict()
        self._description = lru_cache(DESCRIPTIONS_KEPT)(self._read_description)
        self._content = lru_cache(CONTENTS_KEPT)(self._read_content)
        try:
            self.event_count = self._count_events()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go. What has been read stays usable."""
        if not self.closed:
            self.closed = True
            while self._blobs:
                self._blobs.popitem()[1].close()
            self._opened.close()

    @cached_property
    @_reading
    def manifest(self) -> Mapping[str, Any]:
        rows = self._rows("manifest", "key, value_json", (str, str))
        return {"ended": "", **{key: decode(text) for key, text in rows}}

    @cached_property
    @_reading
    def files(self) -> Mapping[int, SourceFile]:
        types = (int, str, str, str, str)
        return self._by_id("file", (SourceFile(*row) for row in self._rows("files", "*", types)))

    @cached_property
    @_reading
    def functions(self) -> Mapping[int, Function]:
        types = (int, int, str, int, int)
        return self._by_id("function", (Function(*row) for row in self._rows("functions", "*", types)))

    @cached_property
    @_reading
    def sites(self) -> Mapping[int, Site]:
        types = (int, int, str, str, str, int, int, int, int, str)
        return self._by_id("site", (Site(*row) for row in self._rows("sites", "*", types)))

    @cached_property
    @_reading
    def frames(self) -> Mapping[int, Frame]:
        rows = self._rows("chains", "*", (int, str))
        chains = self._kept_by_id("chain", {id: _list(names, str) for id, names in rows})
        return self._by_id("frame", (_frame(row, chains) for row in self._frames.all()))

    @cached_property
    @_reading
    def modules(self) -> Sequence[Module]:
        types = (int, int, str, str, int, str)
        rows = self._rows("modules", "*", types, key_width=3)
        return tuple(_module(*row) for row in rows)

    @cached_property
    @_reading
    def marks(self) -> Sequence[Mark]:
        rows = self._rows("marks", "*", (int, int, int, str, int, str, str))
        return tuple(_mark(*row) for row in rows)

    @cached_property
    @_reading
    def raised(self) -> Sequence[Raised]:
        rows = self._rows("raised", "*", (int, int, str, str, str, str, str, int))
        return tuple(_raised(*row) for row in rows)

    @cached_property
    @_reading
    def notes(self) -> Sequence[Note]:
        rows = self._rows("notes", "*", (int, str, str, str))
        return tuple(Note(*row[1:]) for row in rows)

    def events(self, first: int = 0, stop: int | None = None) -> Iterator[Event]:
        """The events from index `first` up to but not with `stop` (None: the end), in order."""
        stop = self.event_count if stop is None else min(stop, self.event_count)
        first = max(first, 0)
        columns = (memoryview(column)[first : max(first, stop)] for column in self._columns)
        return map(Event, range(first, stop), *columns)

    def event(self, index: int) -> Event:
        """The event at `index`. Raises RecordingError if there is none."""
        if not 0 <= index < self.event_count:
            raise self._absent("event", index)
        sites, frames, values = self._columns
        return Event(index, sites[index], frames[index], values[index])

    @_reading
    def value(self, id: int) -> Value:
        """The value with that id. Raises RecordingError if there is none."""
        found = self._values.find(id)
        if found is None:
            raise self._absent("value", id)
        _, description, object, storage, content, version, base = found.row
        if min(object, storage, content, base) < 0:
            raise Damage(f"Value {id} refers to a negative id.")
        return Value(id, self._description(description), object, storage, content, version, base)

    @_reading
    def about(self, id: int) -> Mapping[str, Any]:
        """`value(id).about` alone, for whoever looks at a great many."""
        description = self._values.cell(id, 1)
        if description is None:
            raise self._absent("value", id)
        return self._description(description)

    def columns(self) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Site, frame and value of every event, in order: what `events` gives, for whoever looks at a great many."""
        return self._columns

    @_reading
    def content(self, id: int) -> Content:
        """The content with that id. Raises RecordingError if there is none."""
        return self._content(id)

    @_reading
    def numbers(self, value: Value) -> Numbers | None:
        """The numbers of `value`, read out of its content; None if none were kept, or none can be told."""
        return read_numbers(value, self._content(value.content)) if value.content else None

    @cached_property
    @_reading
    def _columns(self) -> tuple[array[int], array[int], array[int]]:
        """Site, frame and value of every event."""
        columns = (array("q"), array("q"), array("q"))
        for blobs in self._execute('SELECT sites, frames, "values" FROM events WHERE first < ?', (self.event_count,)):
            for column, blob in zip(columns, blobs, strict=True):
                column.extend(unpack_ints(blob))
            if len(columns[0]) > self.event_count:
                raise Damage("Its chunks of events overlap.")
        if any(len(column) != self.event_count for column in columns):
            raise Damage("Its columns of events differ in length.")
        return columns

    @_reading
    def _count_events(self) -> int:
        """How many events there are, from the chunks' sizes alone."""
        total = 0
        fits = (f'typeof("{name}") = \'blob\' AND length("{name}") = count * 8' for name in ("sites", "frames", "values"))
        for first, count, *fit in self._execute(f"SELECT first, count, {', '.join(fits)} FROM events ORDER BY first"):
            if first != total or type(count) is not int or count < 1 or fit != [1, 1, 1]:
                raise Damage(f"The chunk of events at {first} does not follow {total} events, or has another length.")
            total += count
        return total

    def _rows(self, table: str, columns: str, types: tuple[type, ...], key_width: int = 1) -> Iterator[tuple[Any, ...]]:
        """The rows of `table` in the order of its key. Raises Damage at a cell that is not of its column's type."""
        seen = set()
        for row in self._execute(f"SELECT {columns} FROM {table}"):
            key = row[:key_width]
            if tuple(map(type, row)) != types:
                raise Damage(f"A row of the table {table} is not of the kind it should be.")
            if key in seen:  # pages that point in a circle would otherwise be read for ever
                raise Damage(f"The table {table} has a row twice.")
            seen.add(key)
            yield row

    def _by_id(self, kind: str, records: Iterator[Any]) -> Mapping[int, Any]:
        return self._kept_by_id(kind, {record.id: record for record in records})

    def _kept_by_id(self, kind: str, kept: dict[int, T]) -> Mapping[int, T]:
        return MappingProxyType(_ById(self, kind, kept))

    def _read_description(self, id: int) -> Mapping[str, Any]:
        row = self._execute("SELECT about_json FROM descriptions WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise self._absent("description", id)
        about = decode(row[0])
        if not isinstance(about, dict):
            raise Damage(f"Description {id} is no JSON object.")
        return about

    def _read_content(self, id: int) -> Content:
        found = self._contents.find(id)
        if found is None:
            raise self._absent("content", id)
        _, storage, form, offset, length = found.row
        blob = self._blob(found.chunk)
        if storage < 0 or not 0 <= form < len(CONTENT_FORMS) or offset < 0 or length < 0 or offset + length > len(blob):
            raise Damage(f"Content {id} lies outside of its chunk's bytes.")
        blob.seek(offset)
        return Content(id, storage, CONTENT_FORMS[form], blob.read(length) if length else b"")

    def _blob(self, chunk: int) -> Blob:
        """The chunk's bytes, opened. Kept open, as SQLite then remembers where their pages are."""
        blob = self._blobs.get(chunk)
        if blob is None:
            if len(self._blobs) >= BLOBS_KEPT:
                self._blobs.popitem(last=False)[1].close()
            blob = self._blobs[chunk] = self._opened.connection.blobopen("contents", "data", chunk, readonly=True)
        self._blobs.move_to_end(chunk)
        return blob

    def _absent(self, kind: str, id: int) -> RecordingError:
        asked = f"The {kind} {id} of the recording {self.path} was asked for."
        todo = "If the recording itself refers to it, the file is damaged: take another copy, or record again."
        return RecordingError("recording-no-such-id", asked, "The recording holds no such one.", todo)


class _ById(dict[int, T]):
    """Records by id. What lacks is asked for by a reference only, so that it is an error of the recording."""

    def __init__(self, recording: Recording, kind: str, records: dict[int, T]) -> None:
        super().__init__(records)
        self._recording = recording
        self._kind = kind

    def __missing__(self, id: int) -> T:
        raise self._recording._absent(self._kind, id)


def _list(text: str, type_: type[T]) -> tuple[T, ...]:
    items = decode(text)
    if not isinstance(items, list) or any(type(item) is not type_ for item in items):
        raise Damage(f"Where a list of {type_.__name__} should be, there is something else.")
    return tuple(items)


def _names(names: Any) -> Mapping[str, int]:
    if not isinstance(names, dict) or any(type(id) is not int for id in names.values()):
        raise Damage("Where names with the ids of values should be, there is something else.")
    return names


def _shapes(text: str) -> Mapping[str, tuple[int, ...]]:
    shapes = decode(text)
    well_formed = isinstance(shapes, dict) and all(
        isinstance(shape, list) and all(type(size) is int for size in shape) for shape in shapes.values()
    )
    if not well_formed:
        raise Damage("Where names with shapes should be, there is something else.")
    return {name: tuple(shape) for name, shape in shapes.items()}


def _frame(row: array[int], chains: Mapping[int, tuple[str, ...]]) -> Frame:
    id, function, caller, call_site, chain, owner, phase, thread, first_event = row
    if not 0 <= phase < len(PHASES):
        raise Damage(f"Frame {id} has an unknown phase.")
    names = chains[chain] if chain else ()
    return Frame(id, function, caller, call_site, names, owner, PHASES[phase], thread, first_event)


def _module(object: int, root: int, path: str, class_name: str, training: int, parameters: str) -> Module:
    return Module(object, root, path, class_name, bool(training), _shapes(parameters))


def _mark(id: int, after_event: int, frame: int, path: str, line: int, function: str, names: str) -> Mark:
    return Mark(id, after_event, frame, path, line, function, _names(decode(names)))


def _raised(
    id: int, after_event: int, type_name: str, message: str, frames: str, lines: str, names: str, caught_in: int
) -> Raised:
    in_flight = decode(names)
    if not isinstance(in_flight, list):
        raise Damage("Where the names of each frame should be, there is something else.")
    kept = tuple(_names(entry) for entry in in_flight)
    return Raised(id, after_event, type_name, message, _list(frames, int), _list(lines, int), kept, caught_in)
