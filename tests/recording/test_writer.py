"""Writing is all or nothing, leaves one file, harms no other, and survives a kill and a full disk."""

from __future__ import annotations

import dataclasses
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from array import array
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillframe.errors import RecordingError
from stillframe.recording import writer as writing
from stillframe.recording.reader import open_recording
from stillframe.recording.writer import StillWriter, check_writable
from stillframe.records import Batch, Content, Function, Mark, Note, SourceFile

Batches = Callable[[int], list[Batch]]
Record = Callable[..., Path]


def in_folder(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_close_leaves_one_file_and_may_be_repeated(tmp_path: Path, batches: Batches) -> None:
    writer = StillWriter(tmp_path / "run.still")
    for batch in batches(3):
        writer.write(batch)
    assert "run.still-wal" in in_folder(tmp_path)
    writer.close(Batch(notes=(Note("path", "a", "b"),)))
    writer.close(Batch(notes=(Note("path", "c", "d"),)))
    assert in_folder(tmp_path) == ["run.still"]
    with open_recording(tmp_path / "run.still") as recording:
        assert recording.notes[-1].subject == "a"
    with pytest.raises(RecordingError) as caught:
        writer.write(Batch())
    assert caught.value.slug == "recording-closed"


def test_may_be_written_from_another_thread(tmp_path: Path, batches: Batches) -> None:
    writer = StillWriter(tmp_path / "run.still")

    def run() -> None:
        for batch in batches(2):
            writer.write(batch)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    writer.close(Batch())
    with open_recording(tmp_path / "run.still") as recording:
        assert recording.event_count == 80


def test_can_be_read_while_it_is_written(tmp_path: Path, batches: Batches) -> None:
    path = tmp_path / "run.still"
    writer = StillWriter(path)
    first, second, third = batches(2)
    writer.write(first)
    writer.write(second)
    with open_recording(path) as early:
        writer.write(third)
        with open_recording(path) as late:
            assert (early.event_count, late.event_count) == (40, 80)
        assert len(list(early.events())) == 40
        assert early.manifest["ended"] == ""
        writer.close(Batch())  # the reader keeps the log alive, and nothing else
        assert early.value(40).id == 40
    with open_recording(path) as whole:
        assert whole.event_count == 80
        assert whole.manifest["ended"]


def test_ended_may_be_given(tmp_path: Path) -> None:
    for path, batch, last in (
        (tmp_path / "a.still", Batch(manifest={"ended": "then"}), Batch()),
        (tmp_path / "b.still", Batch(), Batch(manifest={"ended": "then"})),
    ):
        writer = StillWriter(path)
        writer.write(batch)
        writer.close(last)
        with open_recording(path) as recording:
            assert recording.manifest["ended"] == "then"


def test_replaces_a_recording_and_what_was_left_beside_it(tmp_path: Path, record: Record, batches: Batches) -> None:
    path = record(tmp_path / "run.still")
    for suffix in ("-wal", "-shm", "-journal"):
        (tmp_path / f"run.still{suffix}").write_bytes(b"old")
    check_writable(path)
    writer = StillWriter(path)
    writer.write(batches(0)[0])
    writer.close(Batch())
    assert in_folder(tmp_path) == ["run.still"]
    with open_recording(path) as recording:
        assert recording.event_count == 0
        assert list(recording.files) == [1]


@pytest.mark.parametrize("check", [check_writable, StillWriter])
def test_refuses_what_it_must_not_or_cannot_write(tmp_path: Path, check: Callable[[Path], object]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("x" * 500)
    (tmp_path / "short.txt").write_text("x")
    database = sqlite3.connect(tmp_path / "other.db")
    database.executescript("CREATE TABLE a (b); INSERT INTO a VALUES (1);")
    database.close()
    os.mkfifo(tmp_path / "pipe")
    before = in_folder(tmp_path)
    refusals = {
        "folder": "recording-is-folder",
        "notes.txt": "recording-foreign-file",
        "short.txt": "recording-foreign-file",
        "other.db": "recording-foreign-file",
        "pipe": "recording-foreign-file",
        "missing/run.still": "recording-no-folder",
        "notes.txt/run.still": "recording-no-folder",
        "x" * 300: "recording-not-permitted",
        "a\0b": "recording-not-permitted",
    }
    for name, slug in refusals.items():
        with pytest.raises(RecordingError) as caught:
            check(tmp_path / name)
        assert caught.value.slug == slug
        assert str(tmp_path) in caught.value.asked
    assert in_folder(tmp_path) == before
    assert (tmp_path / "notes.txt").read_text() == "x" * 500


def test_an_empty_file_holds_nothing_to_lose(tmp_path: Path) -> None:
    (tmp_path / "run.still").touch()
    StillWriter(tmp_path / "run.still").close(Batch())


def test_refuses_a_full_disk_and_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(2**40, 2**40 - 2**23, 2**23))
    with pytest.raises(RecordingError) as caught:
        check_writable(tmp_path / "run.still")
    assert caught.value.slug == "recording-disk-full"
    assert "8.0 MiB" in caught.value.found
    monkeypatch.undo()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(RecordingError) as caught:
        check_writable(tmp_path / "run.still")
    assert caught.value.slug == "recording-not-permitted"


@pytest.mark.parametrize("step", ["schema_text", "_connect"])
def test_a_failed_creation_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*args: object) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    if step == "_connect":
        calls = iter([sqlite3.connect])
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: next(calls, Unwilling)(*a, **k))
    else:
        monkeypatch.setattr(writing, step, fail)
    with pytest.raises(RecordingError) as caught:
        StillWriter(tmp_path / "run.still")
    assert caught.value.slug == "recording-write-failed"
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    monkeypatch.undo()
    assert in_folder(tmp_path) == []


class Unwilling(sqlite3.Connection):
    """A connection that will not go over to a log."""

    def execute(self, *args: Any) -> sqlite3.Cursor:
        if "synchronous" in args[0]:
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(*args)


MISTAKEN = [
    Batch(first_event=41, event_sites=array("q", [1]), event_frames=array("q", [1]), event_values=array("q", [1])),
    Batch(first_event=40, event_sites=array("q", [1]), event_frames=array("q", [1])),
    Batch(values=array("q", [1, 2, 3])),
    Batch(frames=array("q", [1, 2, 3])),
    Batch(descriptions=((99, {"kind": object()}),)),
    Batch(functions=(Function(1, 1, "again", 1, 2),)),
    Batch(marks=(Mark(99, 0, 2**63, "", 1, "", {}),)),
    Batch(content_rows=array("q", [99, 1, 3]), content_data=(b"",)),
    Batch(content_rows=array("q", [99, 1, 0]), content_data=(b"", b"")),
    Batch(files=(SourceFile(99, None, "", "", ""),)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("mistaken", MISTAKEN)
def test_a_batch_that_fails_is_kept_in_no_part(tmp_path: Path, batches: Batches, mistaken: Batch) -> None:
    path = tmp_path / "run.still"
    writer = StillWriter(path)
    for batch in batches(1):
        writer.write(batch)
    files = mistaken.files or (SourceFile(50, "p", "p", "user", ""),)
    with pytest.raises(RecordingError) as caught:
        writer.write(dataclasses.replace(mistaken, files=files, notes=(Note("path", "lost", ""),)))
    assert caught.value.slug == "recording-write-failed"
    assert caught.value.__cause__ is not None
    with pytest.raises(RecordingError):  # a batch refers to those before it, so none follows one that was lost
        writer.write(Batch())
    writer.close(Batch(notes=(Note("path", "last", ""),), files=(SourceFile(51, "p", "p", "user", ""),)))
    assert in_folder(tmp_path) == ["run.still"]
    with open_recording(path) as recording:
        assert recording.event_count == 40
        assert list(recording.files) == [1]
        assert [note.subject for note in recording.notes] == ["scaled_dot_product_attention", "last", "recording"]
        assert recording.notes[-1].kind == "incomplete"
        assert recording.manifest["ended"]


def test_a_last_batch_that_fails_is_reported_and_what_was_kept_stays(tmp_path: Path, batches: Batches) -> None:
    writer = StillWriter(tmp_path / "run.still")
    for batch in batches(1):
        writer.write(batch)
    with pytest.raises(RecordingError):
        writer.close(Batch(values=array("q", [1])))
    writer.close(Batch())
    assert in_folder(tmp_path) == ["run.still"]
    with open_recording(tmp_path / "run.still") as recording:
        assert recording.event_count == 40
        assert recording.notes[-1].kind == "incomplete"


def test_an_interrupt_loses_only_the_batch_it_met(tmp_path: Path, batches: Batches, monkeypatch: Any) -> None:
    writer = StillWriter(tmp_path / "run.still")
    places, step = batches(1)
    writer.write(places)

    def interrupt(batch: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_put_places", lambda put, batch: interrupt(batch))
    with pytest.raises(KeyboardInterrupt):
        writer.write(step)
    monkeypatch.undo()
    writer.write(step)
    writer.close(Batch())
    with open_recording(tmp_path / "run.still") as recording:
        assert recording.event_count == 40


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


WRITE_UNTIL = """
    import os, sys, resource
    from array import array
    from stillframe.errors import RecordingError
    from stillframe.recording.writer import StillWriter
    from stillframe.records import Batch
    writer = StillWriter(sys.argv[1])
    if sys.argv[2] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
    one = array("q", [0])
    for step in range(100):
        data = os.urandom(50_000)
        row = array("q", [step + 1, 1, 0])
        try:
            writer.write(Batch(step, one, one, one, content_rows=row, content_data=(data,)))
        except RecordingError as error:
            print(error.slug, type(error.__cause__).__module__)
            writer.close(Batch())
            break
        print(step + 1, flush=True)
        if sys.argv[2] == "kill" and step == 60:
            os.kill(os.getpid(), 9)
"""


def test_what_was_committed_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "run.still"
    done = run_python(WRITE_UNTIL, path, "kill")
    assert done.returncode == -9, done.stderr
    assert "run.still-wal" in in_folder(tmp_path)
    with open_recording(path) as recording:
        assert recording.manifest["ended"] == ""
        assert recording.event_count == 61
        assert len(list(recording.events())) == 61
        assert len(recording.content(61).data) == 50_000
    check_writable(path)
    StillWriter(path).close(Batch())
    assert in_folder(tmp_path) == ["run.still"]


def test_what_was_committed_survives_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.still"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    done = run_python(WRITE_UNTIL, path, "full")
    assert done.returncode == 0, done.stderr
    *steps, failure = done.stdout.splitlines()
    assert failure.split()[0] in ("recording-write-failed", "recording-disk-full")
    assert failure.split()[1] == "sqlite3"
    assert len(steps) > 10
    with open_recording(path) as recording:
        assert recording.event_count == len(steps)
        assert all(len(recording.content(int(step)).data) == 50_000 for step in steps)


def test_a_full_database_is_named_as_a_full_disk(tmp_path: Path, batches: Batches) -> None:
    writer = StillWriter(tmp_path / "run.still")
    assert writer._connection is not None
    (pages,) = writer._connection.execute("PRAGMA page_count").fetchone()
    writer._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RecordingError) as caught:
        writer.write(Batch(content_rows=array("q", [1, 1, 0]), content_data=(bytes(10**6),)))
    assert caught.value.slug == "recording-disk-full"
    writer.close(Batch())
    with open_recording(tmp_path / "run.still") as recording:
        assert recording.event_count == 0


def test_large_batches_are_kept_in_chunks(tmp_path: Path) -> None:
    path = tmp_path / "run.still"
    values = array("q")
    for id in range(1, 10_001):
        values.extend((id, 1, id, 0, 0, -1, 0))
    rows = array("q", [number for id in range(1, 5) for number in (id, 1, 0)])
    data = tuple(bytes([id]) * 3_000_000 for id in range(1, 5))
    writer = StillWriter(path)
    about = ((1, {"kind": "int"}),)
    writer.close(Batch(values=values, content_rows=rows, content_data=data, descriptions=about))
    database = sqlite3.connect(path)
    assert database.execute('SELECT count(*) FROM "values"').fetchone()[0] == 3
    assert database.execute("SELECT count(*) FROM contents").fetchone()[0] == 4
    database.close()
    with open_recording(path) as recording:
        assert [recording.value(id).object for id in (1, 4096, 4097, 10_000)] == [1, 4096, 4097, 10_000]
        for id, piece in enumerate(data, 1):
            assert recording.content(id) == Content(id, 1, "storage", piece)


def test_a_batch_is_written_in_a_few_milliseconds(tmp_path: Path) -> None:
    writer = StillWriter(tmp_path / "run.still")
    column = array("q", range(10_000))
    times = []
    for step in range(5):
        first = 3000 * step + 1
        values = array("q")
        for id in range(first, first + 3000):
            values.extend((id, 1, id, id, id, 0, 0))
        rows = array("q", [number for id in range(first, first + 3000) for number in (id, id, 0)])
        batch = Batch(10_000 * step, column, column, column, (), values, rows, (bytes(128),) * 3000)
        began = time.perf_counter()
        writer.write(batch)
        times.append(time.perf_counter() - began)
    writer.close(Batch())
    assert min(times) < 0.05  # about 0.004 when the machine is idle
