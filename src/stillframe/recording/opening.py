"""Takes the path of a `.still` file; gives a read-only SQLite connection to it once it is known to be a recording.

Must not know what its tables mean: only how to look at a file that may be damaged, hostile or left behind by a killed
process, without changing it, without running what it holds, and saying what is wrong with it.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stillframe.errors import RecordingError, nearest_names
from stillframe.recording.chunks import Damage
from stillframe.recording.layout import APPLICATION_ID, companion, expected_tables, read_header, table_columns
from stillframe.records import SCHEMA_VERSION

READING_FAULTS = (sqlite3.Error, sqlite3.Warning, OSError, ValueError, TypeError, OverflowError, MemoryError, Damage)

# Far above what schema.sql needs, far below what could keep a hostile schema busy (sqlite.org/security.html).
_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 3,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 10,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_PRAGMAS = ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY")
_TABLE_SQL = re.compile(r"CREATE\s+TABLE\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection to a recording, and the folder of the copy it reads, if it reads a copy."""

    connection: sqlite3.Connection
    scratch: tempfile.TemporaryDirectory[str] | None

    def close(self) -> None:
        """Let go of both."""
        self.connection.close()
        if self.scratch is not None:
            self.scratch.cleanup()


def open_read_only(path: Path) -> Opened:
    """A connection that can only read, to what has been checked to be a recording of a version we know."""
    _check_header(path)
    try:
        opened = _connect(path)
    except READING_FAULTS as error:
        raise fault(path, error) from error
    try:
        _check_schema(opened.connection)
    except BaseException as error:
        opened.close()
        if isinstance(error, READING_FAULTS):
            raise fault(path, error) from error
        raise
    return opened


def fault(path: Path, error: BaseException) -> RecordingError:
    """What `error`, met while reading, means to the person who asked."""
    asked = f"The recording {path} was to be read."
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, PermissionError) or code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        found = f"It cannot be opened: {error}."
        return RecordingError("recording-unreadable", asked, found, "Check its permissions, or copy it elsewhere.")
    if code == sqlite3.SQLITE_BUSY:
        found = "Another process is holding it."
        return RecordingError("recording-unreadable", asked, found, "Wait until that process is done, and try again.")
    what = "something is not of the kind it should be" if isinstance(error, TypeError) else str(error)
    found = str(error) if isinstance(error, Damage) else f"It is damaged: {what or type(error).__name__}."
    return RecordingError("recording-damaged", asked, found, "Record again, or take an undamaged copy of the file.")


def _check_header(path: Path) -> None:
    asked = f"The recording {path} was to be read."
    try:
        header = read_header(path)
    except (OSError, ValueError) as error:
        found = f"It cannot be looked at: {getattr(error, 'strerror', None) or error}."
        raise RecordingError("recording-unreadable", asked, found, "Check its name and permissions.") from error
    if header.kind == "missing":
        raise RecordingError("recording-missing", asked, "There is no such file.", _nearby(path))
    if header.kind == "folder":
        raise RecordingError("recording-is-folder", asked, "That is a folder.", _nearby(path / path.name))
    if header.kind == "empty":
        raise RecordingError("recording-empty", asked, "The file is empty.", "Record again.")
    if header.kind != "still":
        what = {"special": "no regular file", "database": "an SQLite database, but not one of stillframe's"}
        found = f"It is {what.get(header.kind, 'some other kind of file')}."
        raise RecordingError("recording-foreign-file", asked, found, "Name a file that stillframe recorded.")
    _check_version(asked, header.version)
    if header.promised > header.length and not companion(path, "-wal").exists():
        found = f"It is cut short: {header.length:,} of {header.promised:,} bytes are there."
        raise RecordingError("recording-truncated", asked, found, "Copy or download it again, or record again.")


def _check_version(asked: str, version: int) -> None:
    if version > SCHEMA_VERSION:
        found = f"It has schema version {version}; this stillframe reads versions up to {SCHEMA_VERSION}."
        raise RecordingError("recording-newer-schema", asked, found, "Upgrade stillframe: pip install -U stillframe.")
    if version < 1:
        found = "It is damaged: it has no schema version."
        raise RecordingError("recording-damaged", asked, found, "Record again, or take an undamaged copy of the file.")


def _nearby(path: Path) -> str:
    """What to do instead of opening `path`: the recordings in its folder, best guess first."""
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.endswith(".still"))
    except (OSError, ValueError):
        return "Check the folder's name."
    names = list(nearest_names(path.name, names)) or names[:3]
    return f"Recordings there: {', '.join(names)}." if names else "No recording is in that folder: make one first."


def _connect(path: Path) -> Opened:
    """Connect without changing anything at `path`.

    A `-wal` beside it is a live writer's, or was left by a killed one; SQLite reads both through a `-shm` file, and
    where it can neither find nor make one (a read-only folder), a copy is read instead. A `-journal` is never played
    back: ours hold no data (see `writer._fold`), and a hostile one could have SQLite delete a file that it names.
    """
    uri = path.absolute().as_uri()
    if not companion(path, "-wal").exists():
        return Opened(_try(f"{uri}?mode=ro&immutable=1"), None)
    try:
        return Opened(_try(f"{uri}?mode=ro"), None)
    except sqlite3.OperationalError:
        scratch = tempfile.TemporaryDirectory(prefix="stillframe-")
        try:
            copy = Path(scratch.name, "copy.still")
            for suffix in ("", "-wal"):
                shutil.copyfile(companion(path, suffix), companion(copy, suffix))
            return Opened(_try(f"{copy.as_uri()}?mode=rw"), scratch)
        except BaseException:
            scratch.cleanup()
            raise


def _try(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.text_factory = partial(str, encoding="utf-8", errors="surrogatepass")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _check_schema(connection: sqlite3.Connection) -> None:
    """Raise Damage unless the file holds the tables of its version and nothing else: no view, trigger or column."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID or not 1 <= version <= SCHEMA_VERSION:  # the -wal may differ from the file
        raise Damage("Its log does not belong to it.")
    expected = dict(expected_tables(version))
    for kind, name, sql, root in connection.execute("SELECT type, name, sql, rootpage FROM sqlite_schema"):
        if kind == "index" and sql is None and str(name).startswith("sqlite_autoindex_"):
            continue
        plain = isinstance(sql, str) and _TABLE_SQL.match(sql) and isinstance(root, int) and root > 0
        if kind != "table" or not plain or name not in expected:
            raise Damage(f"It holds something that no recording holds: the {kind} {str(name)[:100]!r}.")
        if table_columns(connection, name) != expected.pop(name):
            raise Damage(f"Its table {name!r} has other columns than a recording's.")
    if expected:
        raise Damage(f"It lacks the table {next(iter(expected))!r}.")
