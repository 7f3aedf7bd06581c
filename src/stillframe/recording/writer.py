"""Takes batches of records and gives one `.still` file, each batch wholly in it or not at all.

Must not know where batches come from, nor of torch: it spells records as schema.sql says.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

from stillframe.errors import RecordingError
from stillframe.recording.codec import encode, pack_ints
from stillframe.recording.layout import (
    APPLICATION_ID,
    COMPANIONS,
    CONTENT_WIDTH,
    FRAME_WIDTH,
    VALUE_WIDTH,
    companion,
    read_header,
    schema_text,
)
from stillframe.records import CONTENT_COLUMNS, CONTENT_FORMS, SCHEMA_VERSION, Batch, Note

ROOM_NEEDED = 16 * 1024 * 1024  # bytes free before a run is begun
PAGE_SIZE = 16384
ROWS_A_CHUNK = 4096
BYTES_A_CHUNK = 4 * 1024 * 1024

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise RecordingError if a recording could not be made at `path`; to be asked before the run, not after it."""
    path = Path(path)
    asked = f"The recording was to be written to {path}."
    folder = path.parent
    if os.path.isdir(path):
        todo = f"Name a file in it, such as {path / 'run.still'}."
        raise RecordingError("recording-is-folder", asked, "That is a folder.", todo)
    if not os.path.isdir(folder):
        found = f"{folder} is a file, not a folder." if os.path.exists(folder) else f"There is no folder {folder}."
        raise RecordingError("recording-no-folder", asked, found, "Make the folder first, or name another one.")
    try:
        kind = read_header(path).kind
    except (OSError, ValueError) as error:
        found = f"What is there cannot be looked at: {getattr(error, 'strerror', None) or error}."
        raise RecordingError("recording-not-permitted", asked, found, "Name another file.") from error
    if not os.access(folder, os.W_OK | os.X_OK) or (kind != "missing" and not os.access(path, os.W_OK)):
        found = f"You may not write in {folder}." if kind == "missing" else "You may not change the file there."
        raise RecordingError("recording-not-permitted", asked, found, "Name a file in a folder that you may write in.")
    if kind not in ("missing", "empty", "still"):
        found = "There is something else there already, and it is not a recording."
        raise RecordingError("recording-foreign-file", asked, found, "Name another file, or move that one away.")
    free = shutil.disk_usage(folder).free
    if free < ROOM_NEEDED:
        found = f"The disk has {free / 2**20:.1f} MiB free; a recording needs {ROOM_NEEDED // 2**20} MiB to begin."
        raise RecordingError("recording-disk-full", asked, found, "Free some space, or name a file on another disk.")


class StillWriter:
    """A Sink that is a file. Used from one thread at a time, which need not be the one that made it.

    A recording already at `path` is replaced. After a write has failed, what was committed before stays readable, every
    later write fails with the same error (a batch refers to those before it), and `close` keeps the notes and the
    manifest if it can.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        check_writable(self.path)
        self._events = 0
        self._ended = False
        self._failure: RecordingError | None = None
        self._connection: sqlite3.Connection | None = None
        try:
            _create(self.path)
            self._connection = _connect(self.path)
        except Exception as error:
            raise self._failed("It could not be created", error) from error

    def write(self, batch: Batch) -> None:
        """Commit the batch. Raises RecordingError, and commits nothing, if it cannot."""
        if self._connection is None:
            asked = f"A batch was to be written to {self.path}."
            raise RecordingError("recording-closed", asked, "That recording is closed.", "Begin another recording.")
        if self._failure is not None:
            again = self._failure
            raise RecordingError(again.slug, again.asked, again.found, again.todo) from again
        try:
            with _transaction(self._connection):
                self._put(self._connection, batch)
        except Exception as error:
            self._failure = self._failed("A batch could not be written", error)
            raise self._failure from error
        self._events += len(batch.event_sites)
        self._ended = self._ended or bool(batch.manifest.get("ended"))

    def close(self, batch: Batch) -> None:
        """Commit the last batch and leave a single file. The manifest's `ended` becomes now, unless it is given."""
        connection = self._connection
        if connection is None:
            return
        if not self._ended and not batch.manifest.get("ended"):
            now = datetime.now(UTC).isoformat(timespec="seconds")
            batch = replace(batch, manifest={**batch.manifest, "ended": now})
        try:
            if self._failure is None:
                self._finish(connection, batch)
            else:
                with contextlib.suppress(Exception):  # the failure is known; this saves what can be saved
                    self._save(connection, batch, self._failure)
        finally:
            self._connection = None
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _finish(self, connection: sqlite3.Connection, batch: Batch) -> None:
        try:
            self.write(batch)
            _fold(connection)
        except RecordingError as failure:
            with contextlib.suppress(Exception):
                self._save(connection, batch, failure)
            raise
        except Exception as error:
            raise self._failed("It could not be finished", error) from error

    def _save(self, connection: sqlite3.Connection, batch: Batch, failure: RecordingError) -> None:
        """Keep what of the last batch refers to no batch that was lost, and say why no more is there."""
        lost = Note("incomplete", "recording", f"Nothing of the run could be kept after this: {failure.found}")
        with _transaction(connection):
            self._put(connection, Batch(notes=(*batch.notes, lost), manifest=batch.manifest))
        _fold(connection)

    def _put(self, connection: sqlite3.Connection, batch: Batch) -> None:
        put = connection.executemany
        self._put_events(connection, batch)
        rows: Iterable[tuple[Any, ...]]
        rows = ((id, about if isinstance(about, str) else encode(about)) for id, about in batch.descriptions)
        put("INSERT INTO descriptions VALUES (?, ?)", rows)
        for table, columns, width in (("values", batch.values, VALUE_WIDTH), ("frames", batch.frames, FRAME_WIDTH)):
            put(f'INSERT INTO "{table}" (low, high, count, rows) VALUES (?, ?, ?, ?)', _chunks(table, columns, width))
        rows = _content_chunks(batch.content_rows, batch.content_data)
        put("INSERT INTO contents (low, high, count, rows, data) VALUES (?, ?, ?, ?, ?)", rows)
        _put_places(put, batch)
        put(_insert("chains", "it"), ((id, encode(names)) for id, names in batch.chains))
        rows = (
            (m.object, m.root, _text(m.path), _text(m.class_name), int(m.training), encode(m.parameters)) for m in batch.modules
        )
        put(_insert("modules", "iittit", "OR REPLACE "), rows)
        rows = ((m.id, m.after_event, m.frame, _text(m.path), m.line, _text(m.function), encode(m.names)) for m in batch.marks)
        put(_insert("marks", "iiititt"), rows)
        rows = (
            (r.id, r.after_event, _text(r.type_name), _text(r.message))
            + (encode(r.frames), encode(r.lines), encode(r.names), r.caught_in)
            for r in batch.raised
        )
        put(_insert("raised", "iittttti"), rows)
        rows = ((None, _text(n.kind), _text(n.subject), _text(n.reason)) for n in batch.notes)
        put(_insert("notes", "ittt"), rows)
        rows = ((_text(key), encode(value)) for key, value in batch.manifest.items())
        put(_insert("manifest", "tt", "OR REPLACE "), rows)

    def _put_events(self, connection: sqlite3.Connection, batch: Batch) -> None:
        columns = (batch.event_sites, batch.event_frames, batch.event_values)
        count = len(columns[0])
        if any(len(column) != count for column in columns):
            raise ValueError(f"its event columns differ in length: {', '.join(str(len(c)) for c in columns)}")
        if not count:
            return
        if batch.first_event != self._events:
            raise ValueError(f"its first event is {batch.first_event}, but {self._events} events are kept so far")
        row = (batch.first_event, count, *map(pack_ints, columns))
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)

    def _failed(self, what: str, error: BaseException) -> RecordingError:
        if isinstance(error, RecordingError):
            return error
        asked = f"The recording was to be written to {self.path}."
        kept = " What was written before is kept." if self._connection is not None else ""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            found = f"{what}: the disk is full.{kept}"
            return RecordingError("recording-disk-full", asked, found, "Free some space, or name another disk's file.")
        found = f"{what}: {error}.{kept}"
        todo = "Look at the disk and its permissions; if the fault is in the batch, report it as a bug of stillframe."
        return RecordingError("recording-write-failed", asked, found, todo)


def _create(path: Path) -> None:
    """Put an empty recording at `path`, whole from its first moment: made under another name and then moved there."""
    made = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        made.unlink(missing_ok=True)
        connection = sqlite3.connect(made, isolation_level=None)
        try:
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.execute("PRAGMA synchronous = OFF")  # nothing is lost if this file is
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
                f"{schema_text()} INSERT INTO manifest VALUES ('ended', '\"\"'); COMMIT;"
            )
        finally:
            connection.close()
        for suffix in COMPANIONS:  # before the move: the log of the old recording must never be taken for the new one's
            companion(path, suffix).unlink(missing_ok=True)
        made.replace(path)
    finally:
        for suffix in ("", *COMPANIONS):
            companion(made, suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 4096")  # pages, 64 MiB: most runs never wait for the disk
    except BaseException:
        connection.close()
        for suffix in ("", *COMPANIONS):
            companion(path, suffix).unlink(missing_ok=True)
        raise
    return connection


def _fold(connection: sqlite3.Connection) -> None:
    """Move what is in the log into the file and drop the log; a reader that is looking keeps it until it goes."""
    try:
        connection.execute("PRAGMA busy_timeout = 1000")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite may have rolled back by itself
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _insert(table: str, columns: str, otherwise: str = "") -> str:
    """An INSERT for columns given as one letter each: i an integer, t a text (bytes are taken as the text's UTF-8)."""
    places = ", ".join("CAST(? AS TEXT)" if column == "t" else "?" for column in columns)
    return f"INSERT {otherwise}INTO {table} VALUES ({places})"


def _text(text: str) -> str | bytes:
    """`text`, or its bytes if it holds lone surrogates (undecodable file names do), which UTF-8 proper cannot spell."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-8", "surrogatepass")


def _put_places(put: Callable[[str, Iterable[tuple[Any, ...]]], object], batch: Batch) -> None:
    rows: Iterable[tuple[Any, ...]]
    rows = ((f.id, _text(f.path), _text(f.package_path), _text(f.origin), _text(f.text)) for f in batch.files)
    put(_insert("files", "itttt"), rows)
    rows = ((f.id, f.file, _text(f.qualname), f.line, f.end_line) for f in batch.functions)
    put(_insert("functions", "iitii"), rows)
    rows = (
        (s.id, s.function, _text(s.kind), _text(s.node), _text(s.use)) + (s.line, s.col, s.end_line, s.end_col, _text(s.binds))
        for s in batch.sites
    )
    put(_insert("sites", "iitttiiiit"), rows)


def _chunks(table: str, columns: array[int], width: int) -> Iterator[tuple[int, int, int, bytes]]:
    if len(columns) % width:
        raise ValueError(f"its {len(columns)} integers of {table} are not whole rows of {width}")
    for start in range(0, len(columns), ROWS_A_CHUNK * width):
        rows = columns[start : start + ROWS_A_CHUNK * width]
        ids = rows[::width]
        yield min(ids), max(ids), len(ids), pack_ints(rows)


def _content_chunks(rows: array[int], data: tuple[bytes, ...]) -> Iterator[tuple[int, int, int, bytes, bytes]]:
    width = len(CONTENT_COLUMNS)
    if len(rows) != len(data) * width or any(not 0 <= form < len(CONTENT_FORMS) for form in rows[width - 1 :: width]):
        raise ValueError(f"its {len(rows)} integers of contents do not describe the {len(data)} pieces of data it has")
    start, size = 0, 0
    for at, piece in enumerate(data):
        full = size + len(piece) > BYTES_A_CHUNK or at - start >= ROWS_A_CHUNK
        if full and at > start:
            yield _content_chunk(rows[start * width : at * width], data[start:at])
            start, size = at, 0
        size += len(piece)
    if data:
        yield _content_chunk(rows[start * width :], data[start:])


def _content_chunk(rows: array[int], data: tuple[bytes, ...]) -> tuple[int, int, int, bytes, bytes]:
    width = len(CONTENT_COLUMNS)
    lengths = array("q", map(len, data))
    placed = array("q", bytes(8 * CONTENT_WIDTH * len(data)))
    for column in range(width):
        placed[column::CONTENT_WIDTH] = rows[column::width]
    placed[width::CONTENT_WIDTH] = array("q", accumulate(lengths[:-1], initial=0))
    placed[width + 1 :: CONTENT_WIDTH] = lengths
    ids = rows[::width]
    return min(ids), max(ids), len(ids), pack_ints(placed), b"".join(data)
