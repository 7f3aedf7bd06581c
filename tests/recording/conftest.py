"""Gives the tests of the file a small recording with every kind of record in it, and a look at all there is in one."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from stillframe.recording.reader import Recording, open_recording
from stillframe.recording.writer import StillWriter
from stillframe.records import (
    Batch,
    Function,
    Mark,
    Module,
    Note,
    Raised,
    Site,
    SourceFile,
)

SUMMARY = {
    "count": 1000,
    "min": -2.0,
    "max": "inf",
    "mean": 0.5,
    "std": 1.0,
    "nan": 1,
    "posinf": 2,
    "neginf": 0,
    "zero": 7,
}
SUMMARY |= {"shape": [10, 100], "stride": [100, 1], "sample_steps": [5, 50], "sample": [1.0, "nan", 2.0, 3.0]}


def _places() -> Batch:
    return Batch(
        files=(SourceFile(1, "/m/model.py", "model.py", "user", "def forward(q):\n    return q\n"),),
        functions=(Function(1, 1, "forward", 1, 2),),
        sites=(
            Site(1, 1, "enter", "FunctionDef", "expression", 1, 0, 2, 12),
            Site(2, 1, "value", "Name", "return", 2, 11, 2, 12, "q"),
        ),
        chains=((1, ("Module._call_impl",)),),
        frames=array("q", [1, 1, 0, 0, 1, 1, 0, 1, 0]),
        modules=(Module(11, 11, "", "Model", True, {"weight": (4, 3)}),),
        manifest={"command": "stillframe record model.py", "temperature": float("inf"), "sizes": {"B": 2}},
        descriptions=(
            (1, {"kind": "tensor", "dtype": "torch.float32", "shape": [2, 3], "stride": [3, 1], "offset": 1}),
            (2, {"kind": "tensor", "dtype": "torch.bfloat16", "shape": [3], "stride": [1], "offset": 0}),
            (3, {"kind": "tensor", "dtype": "torch.float32", "shape": [10, 100], "stride": [100, 1], "offset": 0}),
            (4, '{"kind":"str","text":"定格"}'),
        ),
    )


def _step(step: int) -> Batch:
    """One batch of a run: 40 events, as many values, three contents."""
    first, kinds = 40 * step, (1, 2, 3, 4)
    ids = range(first + 1, first + 41)
    contents = 3 * step + 1, 3 * step + 2, 3 * step + 3, 0
    values = array("q")
    for id in ids:
        kind = id % 4
        values.extend((id, kinds[kind], 1000 + id, 50 + kind, contents[kind], 0, 0))
    return Batch(
        first_event=first,
        event_sites=array("q", [1, 2] * 20),
        event_frames=array("q", [1] * 40),
        event_values=array("q", ids),
        values=values,
        content_rows=array("q", [contents[0], 50, 0, contents[1], 51, 1, contents[2], 52, 2]),
        content_data=(
            struct.pack("<9f", *range(9)),
            struct.pack("<3H", 0x3F80, 0x4000, 0x7F80),
            json.dumps(SUMMARY).encode(),
        ),
        marks=(Mark(step + 1, first, 1, "/m/model.py", 2, "forward", {"q": first + 1}),),
        raised=(Raised(step + 1, first, "ValueError", "no", (1,), (2,), ({"q": first + 1},)),),
        notes=(Note("path", "scaled_dot_product_attention", "it is native"),),
    )


@pytest.fixture
def batches() -> Callable[[int], list[Batch]]:
    """The batches of a run of that many steps: places first."""
    return lambda steps: [_places(), *map(_step, range(steps))]


@pytest.fixture
def record(batches: Callable[[int], list[Batch]]) -> Callable[..., Path]:
    """Writes a recording of `steps` steps at the path."""

    def record(path: Path, steps: int = 5) -> Path:
        writer = StillWriter(path)
        for batch in batches(steps):
            writer.write(batch)
        writer.close(Batch())
        return path

    return record


@pytest.fixture
def read_all() -> Callable[[Path], int]:
    """Opens the recording at the path, follows every reference in it and counts its events."""

    def read_all(path: Path) -> int:
        with open_recording(path) as recording:
            return _visit(recording)

    return read_all


def _visit(recording: Recording) -> int:
    assert isinstance(recording.manifest["ended"], str)
    for function in recording.functions.values():
        assert recording.files[function.file].text.isprintable() is not None
    for frame in recording.frames.values():
        assert recording.functions[frame.function].line + frame.first_event is not None
    for module in recording.modules:
        assert sum(sum(shape) for shape in module.parameters.values()) is not None
    seen = 0
    for event in recording.events():
        assert recording.event(event.index) == event
        assert recording.sites[event.site].function in recording.functions
        assert recording.frames[event.frame].thread is not None
        value = recording.value(event.value)
        assert value.about is not None
        if value.content:
            assert recording.content(value.content).storage is not None
            numbers = recording.numbers(value)
            if numbers is not None and numbers.count < 1_000_000:
                assert numbers.statistics().count is not None
                assert numbers.nested() is not None
        seen += 1
    names = [mark.names for mark in recording.marks]
    for raised in recording.raised:
        names += raised.names
    for named in names:
        for id in named.values():
            assert recording.value(id).id == id
    assert len(recording.notes) is not None
    return seen
