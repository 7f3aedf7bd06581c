"""Whatever stands at a path, opening it gives the records or one error that says what is wrong, and runs nothing."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stillframe.errors import RecordingError
from stillframe.recording.layout import APPLICATION_ID
from stillframe.recording.reader import open_recording
from stillframe.recording.writer import StillWriter
from stillframe.records import SCHEMA_VERSION, Batch, Event

Record = Callable[..., Path]
ReadAll = Callable[[Path], int]


def slug_of(path: Path, read_all: ReadAll) -> str:
    with pytest.raises(RecordingError) as caught:
        read_all(path)
    assert str(path) in caught.value.asked
    assert caught.value.found.endswith(".")
    return caught.value.slug


def edited(path: Path, sql: str, *arguments: object) -> Path:
    """The recording with something changed in it by way of SQLite, where that is allowed to do anything."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA writable_schema = ON")
    if arguments:
        database.execute(sql, arguments)
    else:
        database.executescript(sql)
    database.close()
    return path


def test_what_is_no_recording_is_said_to_be_none(tmp_path: Path, record: Record, read_all: ReadAll) -> None:
    record(tmp_path / "attention.still", 0)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.still").touch()
    (tmp_path / "short.still").write_bytes(b"SQLite format 3\0")
    (tmp_path / "text.still").write_text("x" * 4000)
    sqlite3.connect(tmp_path / "other.db").executescript("CREATE TABLE a (b);")
    os.mkfifo(tmp_path / "pipe")
    expected = {
        "atention.still": "recording-missing",
        "no/such/run.still": "recording-missing",
        "folder": "recording-is-folder",
        "empty.still": "recording-empty",
        "short.still": "recording-foreign-file",
        "text.still": "recording-foreign-file",
        "other.db": "recording-foreign-file",
        "pipe": "recording-foreign-file",
        "a\0b": "recording-unreadable",
        "x" * 300: "recording-unreadable",
    }
    for name, slug in expected.items():
        assert slug_of(tmp_path / name, read_all) == slug
    with pytest.raises(RecordingError, match=r"attention\.still"):
        open_recording(tmp_path / "atention.still")


def test_a_newer_schema_is_refused_with_both_versions(tmp_path: Path, record: Record) -> None:
    path = edited(record(tmp_path / "run.still"), f"PRAGMA user_version = {SCHEMA_VERSION + 6}")
    with pytest.raises(RecordingError) as caught:
        open_recording(path)
    assert caught.value.slug == "recording-newer-schema"
    assert f"version {SCHEMA_VERSION + 6}" in caught.value.found
    assert f"up to {SCHEMA_VERSION}" in caught.value.found


def test_a_recording_without_a_version_is_damaged(tmp_path: Path, record: Record, read_all: ReadAll) -> None:
    assert slug_of(edited(record(tmp_path / "run.still"), "PRAGMA user_version = 0"), read_all) == "recording-damaged"


def test_a_truncated_recording_says_how_much_is_there(tmp_path: Path, record: Record, read_all: ReadAll) -> None:
    path = record(tmp_path / "run.still")
    whole = path.stat().st_size
    os.truncate(path, whole - 1)
    with pytest.raises(RecordingError, match=f"{whole - 1:,} of {whole:,} bytes") as caught:
        open_recording(path)
    assert caught.value.slug == "recording-truncated"


HOSTILE = [
    "CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM notes; END",
    "CREATE VIEW extra AS SELECT 1",
    "CREATE INDEX i ON notes (kind)",
    "CREATE TABLE extra (a)",
    "DROP TABLE notes",
    "DROP TABLE notes; CREATE VIEW notes AS SELECT 1 AS id, 'path' AS kind, 'a' AS subject, 'b' AS reason",
    "DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL)",
    "DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, "
    "reason TEXT NOT NULL AS (kind || subject))",
    "DROP TABLE notes; CREATE VIRTUAL TABLE notes USING fts5(kind, subject, reason)",
    "UPDATE sqlite_schema SET sql = 'CREATE TABLE notes (' || hex(zeroblob(200000)) WHERE name = 'notes'",
    "UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'notes'",
    "UPDATE sqlite_schema SET sql = NULL WHERE name = 'notes'",
    "UPDATE events SET count = 1000000000000 WHERE first = 0",
    "UPDATE events SET count = -1 WHERE first = 0",
    "UPDATE events SET count = 'many' WHERE first = 0",
    "UPDATE events SET first = 7 WHERE first = 40",
    "UPDATE events SET first = -9 WHERE first = 0",
    "UPDATE events SET sites = x'00' WHERE first = 40",
    "UPDATE events SET frames = 'text' WHERE first = 40",
    "UPDATE events SET sites = zeroblob(320) WHERE first = 40",
    "UPDATE events SET frames = CAST(replace(hex(zeroblob(160)), '0', 'z') AS BLOB) WHERE first = 40",
    'UPDATE events SET "values" = zeroblob(320) WHERE first = 40',
    "DELETE FROM events WHERE first = 0",
    "DELETE FROM files",
    "DELETE FROM functions",
    "DELETE FROM sites WHERE id = 2",
    "DELETE FROM frames",
    "DELETE FROM descriptions WHERE id = 2",
    'DELETE FROM "values"',
    "DELETE FROM contents",
    'UPDATE "values" SET high = 3 WHERE chunk = 1',
    'UPDATE "values" SET low = 30, high = 3 WHERE chunk = 1',
    'UPDATE "values" SET count = 9999999999999 WHERE chunk = 1',
    'UPDATE "values" SET count = -1 WHERE chunk = 1',
    "UPDATE \"values\" SET low = 'a' WHERE chunk = 1",
    "UPDATE \"values\" SET rows = 'text' WHERE chunk = 1",
    "UPDATE \"values\" SET rows = x'0102' WHERE chunk = 1",
    'UPDATE "values" SET rows = zeroblob(2240) WHERE chunk = 1',
    "UPDATE contents SET data = x'' WHERE chunk = 1",
    "UPDATE contents SET data = 7 WHERE chunk = 1",
    "UPDATE contents SET rows = CAST(replace(hex(zeroblob(60)), '0', 'z') AS BLOB) WHERE chunk = 1",
    "UPDATE contents SET count = 2 WHERE chunk = 1",
    "UPDATE descriptions SET about_json = '[]' WHERE id = 1",
    "UPDATE descriptions SET about_json = '{\"a\":NaN}' WHERE id = 1",
    "UPDATE descriptions SET about_json = replace(hex(zeroblob(100000)), '0', '[') WHERE id = 1",
    "UPDATE descriptions SET about_json = hex(zeroblob(5000000)) WHERE id = 1",
    "UPDATE descriptions SET about_json = x'ff00' WHERE id = 1",
    "UPDATE descriptions SET about_json = CAST(x'22ff22' AS TEXT) WHERE id = 1",
    'UPDATE descriptions SET about_json = \'{"kind":"tensor","dtype":"torch.float32","shape":[9],'
    '"stride":[1],"offset":-1}\' WHERE id = 1',
    "UPDATE files SET text = x'00ff'",
    "UPDATE files SET text = CAST(x'00ff' AS TEXT)",
    "UPDATE sites SET line = 'one'",
    "UPDATE sites SET line = 1.5",
    "UPDATE chains SET names_json = '{}'",
    "UPDATE chains SET names_json = '[1]'",
    "DELETE FROM chains",
    "UPDATE frames SET rows = zeroblob(72)",
    "UPDATE frames SET rows = CAST(replace(hex(zeroblob(36)), '0', 'z') AS BLOB)",
    "UPDATE frames SET count = 2",
    "UPDATE frames SET rows = zeroblob(144), count = 2",
    "UPDATE modules SET parameters_json = '{\"a\":1}'",
    'UPDATE modules SET parameters_json = \'{"a":["b"]}\'',
    "UPDATE modules SET parameters_json = '[]'",
    "UPDATE marks SET names_json = '[]'",
    'UPDATE marks SET names_json = \'{"q":"1"}\'',
    "UPDATE marks SET names_json = '{\"q\":99999}'",
    "UPDATE marks SET names_json = '{\"q\":99999999999999999999999999}'",
    "UPDATE raised SET frames_json = '5'",
    "UPDATE raised SET names_json = '5'",
    "UPDATE raised SET names_json = '[5]'",
    "UPDATE manifest SET value_json = 'no'",
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_hostile_recording_is_refused(tmp_path: Path, record: Record, read_all: ReadAll, sql: str) -> None:
    path = record(tmp_path / "run.still", 2)
    assert read_all(path) == 80
    assert slug_of(edited(path, sql), read_all) in ("recording-damaged", "recording-no-such-id")


def test_a_column_of_ids_of_nothing_is_said_to_be_that(tmp_path: Path, record: Record) -> None:
    path = record(tmp_path / "run.still", 1)
    sevens, lowest = (array("q", [id] * 40).tobytes() for id in (7, -(2**63)))
    edited(path, 'UPDATE events SET sites = ?, frames = ?, "values" = ?', sevens, sevens, lowest)
    with open_recording(path) as recording:
        event = recording.event(3)
        for look in (lambda: recording.sites[event.site], lambda: recording.frames[event.frame]):
            with pytest.raises(RecordingError, match="7 of the recording"):
                look()
        with pytest.raises(RecordingError):
            recording.value(event.value)
        assert recording.sites.get(event.site) is None


def mutations(whole: bytes, chance: random.Random) -> Iterator[bytes]:
    """Endlessly, the file with something wrong in it."""
    page = 8192
    pages = len(whole) // page
    while True:
        data = bytearray(whole)
        kind = chance.randrange(7)
        at, other = (page * chance.randrange(pages) for _ in range(2))
        if kind == 0:
            for _ in range(chance.choice([1, 1, 4, 40])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif kind == 1:  # where the structure is: at the head of a page
            for _ in range(chance.choice([1, 3])):
                data[at + chance.randrange(24)] = chance.randrange(256)
        elif kind == 2:  # where the rows are: at its end
            data[at + page - 1 - chance.randrange(200)] = chance.randrange(256)
        elif kind == 3:
            del data[chance.randrange(len(data)) :]
        elif kind == 4:
            data[at : at + page], data[other : other + page] = data[other : other + page], data[at : at + page]
        elif kind == 5:
            start = chance.randrange(len(data) - 64)
            data[start : start + 64] = chance.randbytes(64)
        else:
            data[at : at + page] = bytes(page)
        yield bytes(data)


def survives(path: Path, read_all: ReadAll) -> bool:
    """True if the file could be read, False if it was refused; anything else is raised."""
    try:
        read_all(path)
    except RecordingError:
        return False
    return True


def test_no_damage_gives_more_than_an_error(tmp_path: Path, record: Record, read_all: ReadAll) -> None:
    whole = record(tmp_path / "whole.still", 6).read_bytes()
    chance = random.Random(20)
    damaged = mutations(whole, chance)
    path = tmp_path / "run.still"
    refused = 0
    for _ in range(400):
        path.write_bytes(next(damaged))
        refused += not survives(path, read_all)
    assert 100 < refused < 400
    path.write_bytes(whole)
    assert survives(path, read_all)


def test_no_damage_to_a_log_gives_more_than_an_error(
    tmp_path: Path, batches: Callable[[int], list[Batch]], read_all: ReadAll
) -> None:
    writer = StillWriter(tmp_path / "live.still")
    for batch in batches(4):
        writer.write(batch)
    main = (tmp_path / "live.still").read_bytes()
    log = (tmp_path / "live.still-wal").read_bytes()
    writer.close(Batch())
    chance = random.Random(21)
    path = tmp_path / "run.still"
    for data in (log, *(next(damaged) for damaged in [mutations(log, chance)] for _ in range(100))):
        for suffix in ("", "-shm"):
            (tmp_path / f"run.still{suffix}").unlink(missing_ok=True)
        path.write_bytes(main)
        (tmp_path / "run.still-wal").write_bytes(data)
        survives(path, read_all)


def test_a_journal_beside_it_is_never_played_back(tmp_path: Path, record: Record, read_all: ReadAll) -> None:
    path = record(tmp_path / "run.still", 2)
    before = path.read_bytes()
    magic = bytes.fromhex("d9d505f920a163d7")
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    name = str(precious).encode()
    header = magic + b"".join(number.to_bytes(4, "big") for number in (0, 0, 1, 512, 8192))
    super_journal = name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + magic
    (tmp_path / "run.still-journal").write_bytes(header.ljust(512, b"\0") + super_journal)
    assert read_all(path) == 80
    assert path.read_bytes() == before
    assert precious.read_text() == "kept"


def run_python(code: str, *arguments: object) -> str:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_read_only_folder_is_read_and_left_alone(tmp_path: Path, batches: Callable[[int], list[Batch]]) -> None:
    for name in ("closed", "killed", "logged"):
        (tmp_path / name).mkdir()
    writer = StillWriter(tmp_path / "killed" / "run.still")
    for batch in batches(3):
        writer.write(batch)
    for suffix in ("", "-wal", "-shm"):  # with all that a killed process leaves, and with what a copy of that may lack
        shutil.copyfile(f"{writer.path}{suffix}", tmp_path / "logged" / f"run.still{suffix}")
    writer.close(Batch())
    shutil.move(writer.path, tmp_path / "closed" / "run.still")
    for name in ("", "-wal", "-shm"):
        shutil.copyfile(tmp_path / "logged" / f"run.still{name}", tmp_path / "killed" / f"run.still{name}")
    (tmp_path / "logged" / "run.still-shm").unlink()
    read = """
        import os, shutil, sys, tempfile
        from stillframe.recording.reader import open_recording

        def look(folder):
            with open_recording(os.path.join(folder, "run.still")) as recording:
                numbers = recording.numbers(recording.value(120)).nested()
                return recording.event_count, numbers, bool(recording.manifest["ended"])

        look(os.path.join(sys.argv[1], "closed"))  # imports all there is to import, while that is permitted
        with tempfile.TemporaryDirectory() as parent:
            os.chmod(parent, 0o755)
            for name in ("closed", "killed", "logged"):
                folder = shutil.copytree(os.path.join(sys.argv[1], name), os.path.join(parent, name))
                for file in os.listdir(folder):
                    os.chmod(os.path.join(folder, file), 0o444)
                os.chmod(folder, 0o555)
            if os.getuid() == 0:
                os.seteuid(65534)
            for name in ("closed", "killed", "logged"):
                folder = os.path.join(parent, name)
                before = sorted(os.listdir(folder))
                print(name, *look(folder))
                assert sorted(os.listdir(folder)) == before
            if os.getuid() == 0:
                os.seteuid(0)
            for name in ("closed", "killed", "logged"):
                os.chmod(os.path.join(parent, name), 0o755)
        """
    assert run_python(read, tmp_path).splitlines() == [
        "closed 120 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] True",
        "killed 120 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] False",
        "logged 120 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] False",
    ]


def test_an_unreadable_file_is_said_to_be_that(tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    path = record(tmp_path / "run.still")

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(RecordingError) as caught:
        open_recording(path)
    monkeypatch.undo()
    assert caught.value.slug == "recording-unreadable"


def test_opens_where_torch_and_numpy_are_not(tmp_path: Path, record: Record) -> None:
    read = """
        import sys

        class Blocker:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("torch", "numpy", "transformers"):
                    raise ImportError(name)

        sys.meta_path.insert(0, Blocker())
        from stillframe.recording.reader import open_recording
        with open_recording(sys.argv[1]) as recording:
            print(recording.numbers(recording.value(4)).nested(), recording.numbers(recording.value(1)).nested())
        """
    path = record(tmp_path / "run.still")
    assert run_python(read, path) == "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [1.0, 2.0, inf]\n"


def test_numbers_come_in_the_way_they_were_kept(tmp_path: Path, record: Record) -> None:
    with open_recording(record(tmp_path / "run.still")) as recording:
        sampled = recording.numbers(recording.value(2))
        assert sampled is not None
        assert (sampled.shape, sampled.sample_shape, sampled.statistics().posinf) == ((10, 100), (2, 2), 2)
        assert recording.value(3).about == {"kind": "str", "text": "定格"}
        assert recording.numbers(recording.value(3)) is None


def test_closing_lets_go_and_says_so(tmp_path: Path, record: Record) -> None:
    recording = open_recording(record(tmp_path / "run.still"))
    assert recording.event(5) == Event(5, 2, 1, 6)
    recording.content(1)
    recording.close()
    recording.close()
    assert recording.event(5) == Event(5, 2, 1, 6)
    with pytest.raises(RecordingError) as caught:
        recording.value(3)
    assert caught.value.slug == "recording-closed"
    for index in (-1, 200):
        with pytest.raises(RecordingError) as caught:
            recording.event(index)
        assert caught.value.slug == "recording-no-such-id"


def test_values_are_found_where_chunks_interleave(tmp_path: Path) -> None:
    writer = StillWriter(tmp_path / "run.still")
    chunks = ([1, 9, 20], [2, 3], [8, 4], [30], [21, 10])
    writer.write(Batch(descriptions=((1, {"kind": "int"}),)))
    for ids in chunks:
        writer.write(Batch(values=array("q", [n for id in ids for n in (id, 1, 100 + id, 0, 0, 0, 0)])))
    writer.close(Batch())
    with open_recording(tmp_path / "run.still") as recording:
        for ids in chunks:
            for id in ids:
                assert recording.value(id).object == 100 + id
        for id in (0, 5, 22, 31, -1):
            with pytest.raises(RecordingError):
                recording.value(id)


def test_opening_a_large_recording_reads_little_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run.still"
    writer = StillWriter(path)
    column = array("q", [1] * 5000)
    for step in range(20):
        values = array("q")
        for id in range(5000 * step + 1, 5000 * step + 5001):
            values.extend((id, 1, id, 0, 0, 0, 0))
        writer.write(Batch(5000 * step, column, column, column, values=values))
    writer.write(Batch(descriptions=((1, {"kind": "int"}),)))
    writer.close(Batch())
    began = time.perf_counter()
    with open_recording(path) as recording:
        opened = time.perf_counter() - began
        assert recording.event_count == 100_000
        assert recording.value(77_777).object == 77_777
        assert sum(event.value for event in recording.events()) == 100_000
    assert opened < 0.15  # about 0.003 when the machine is idle


def test_the_application_id_spells_the_name() -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"STIL"
