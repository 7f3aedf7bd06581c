"""Takes a path; gives what the first bytes of the file there say it is, and what a recording of each version must hold.

Must not know of records: only of files, of SQLite's header and of schema.sql.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from stillframe.records import CONTENT_COLUMNS, FRAME_COLUMNS, SCHEMA_VERSION, VALUE_COLUMNS

APPLICATION_ID = 0x5354494C  # "STIL"
FRAME_WIDTH = len(FRAME_COLUMNS)
VALUE_WIDTH = len(VALUE_COLUMNS)
CONTENT_WIDTH = len(CONTENT_COLUMNS) + 2  # and offset and length in the chunk's data
COMPANIONS = ("-wal", "-shm", "-journal")  # what SQLite may leave beside a database whose process was killed

_MAGIC = b"SQLite format 3\0"
_HEADER_LENGTH = 100
_SCHEMA_FILES = {SCHEMA_VERSION: "schema.sql"}


@dataclass(frozen=True, slots=True)
class Header:
    """What a file's first 100 bytes say.

    `kind` is missing, folder, special, empty, foreign, database (an SQLite one, but not ours) or still. `length` is the
    file's true length in bytes. For "still" only, `version` is the schema version and `promised` the length in bytes
    that the header promises (0: it promises none).
    """

    kind: str
    version: int = 0
    length: int = 0
    promised: int = 0


def read_header(path: Path) -> Header:
    """What stands at `path`. Raises OSError if it cannot be looked at."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Header("missing")
    if stat.S_ISDIR(status.st_mode):
        return Header("folder")
    if not stat.S_ISREG(status.st_mode):  # a pipe would block, a device might do anything
        return Header("special")
    with open(path, "rb") as file:
        head = file.read(_HEADER_LENGTH)
    if not head:
        return Header("empty")
    if len(head) < _HEADER_LENGTH or not head.startswith(_MAGIC):
        return Header("foreign", length=status.st_size)

    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(head[at : at + size], "big")

    if number(68) != APPLICATION_ID:
        return Header("database", length=status.st_size)
    page_size = 65536 if number(16, 2) == 1 else number(16, 2)
    counted = number(24) == number(92)  # else an old SQLite wrote last, and left the page count as it was
    return Header("still", number(60), status.st_size, page_size * number(28) if counted else 0)


def companion(path: Path, suffix: str) -> Path:
    """The file SQLite keeps beside the database at `path` under `suffix`."""
    return path.with_name(path.name + suffix)


@cache
def schema_text(version: int = SCHEMA_VERSION) -> str:
    """The SQL that makes an empty recording of that schema version."""
    return resources.files("stillframe.recording").joinpath(_SCHEMA_FILES[version]).read_text(encoding="utf-8")


@cache
def expected_tables(version: int = SCHEMA_VERSION) -> dict[str, list[tuple[object, ...]]]:
    """The tables a recording of that version holds, each with its columns as `table_columns` gives them."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema_text(version))
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: table_columns(connection, name) for name in names}
    finally:
        connection.close()


def table_columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """Name, type, not-null, default, place in the primary key and hiddenness of each column, in order."""
    return [row[1:] for row in connection.execute(f'PRAGMA table_xinfo("{table}")')]
