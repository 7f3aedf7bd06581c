"""What is written is read back equal: every kind of record, over made-up runs of several batches."""

from __future__ import annotations

import tempfile
from array import array
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillframe.recording.reader import open_recording
from stillframe.recording.writer import StillWriter
from stillframe.records import (
    CONTENT_FORMS,
    FRAME_COLUMNS,
    PHASES,
    VALUE_COLUMNS,
    Batch,
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

WORD = st.text(st.characters(), max_size=6)
COUNT = st.integers(0, 2**63 - 1)
ANY = st.integers(-(2**63), 2**63 - 1)
LEAF = st.none() | st.booleans() | COUNT | st.floats() | WORD
ABOUT = st.dictionaries(WORD, LEAF | st.lists(LEAF, max_size=3), max_size=3)
NAMES = st.dictionaries(WORD, COUNT, max_size=3)
SHAPES = st.dictionaries(WORD, st.lists(COUNT, max_size=3).map(tuple), max_size=2)


@st.composite
def runs(draw: st.DrawFn) -> list[Batch]:
    """One to three batches whose ids go on from one to the next."""
    used: dict[str, int] = {}

    def many(what: str, /, **fields: st.SearchStrategy[Any]) -> list[dict[str, Any]]:
        entries = draw(st.lists(st.fixed_dictionaries(fields), max_size=3))
        first = used.get(what, 0) + draw(st.integers(1, 3))
        used[what] = first + len(entries)
        return [{"id": first + at, **entry} for at, entry in enumerate(entries)]

    batches = []
    events = 0
    for _ in range(draw(st.integers(1, 3))):
        chains = many("chain", names=st.lists(WORD, max_size=3).map(tuple))
        frames = many("frame", **dict.fromkeys(("function", "caller", "call_site", "owner", "thread", "first_event"), ANY))
        descriptions = many("description", about=ABOUT)
        contents = many("content", storage=COUNT, form=st.integers(0, 2), data=st.binary(max_size=9))
        values = array("q")
        for value in many("value", object=COUNT, storage=COUNT, content=COUNT, version=ANY, base=COUNT):
            if descriptions:
                described = draw(st.sampled_from(descriptions))["id"]
                values.extend((value["id"], described, *(value[column] for column in VALUE_COLUMNS[2:])))
        count = draw(st.integers(0, 4))
        column = st.lists(ANY, min_size=count, max_size=count).map(lambda numbers: array("q", numbers))
        batches.append(
            Batch(
                events,
                draw(column),
                draw(column),
                draw(column),
                tuple((d["id"], d["about"]) for d in descriptions),
                values,
                array("q", [number for c in contents for number in (c["id"], c["storage"], c["form"])]),
                tuple(c["data"] for c in contents),
                tuple(SourceFile(**f) for f in many("file", path=WORD, package_path=WORD, origin=WORD, text=WORD)),
                tuple(Function(**f) for f in many("function", file=COUNT, qualname=WORD, line=ANY, end_line=ANY)),
                tuple(
                    Site(**s)
                    for s in many(
                        "site",
                        **dict.fromkeys(("function", "line", "col", "end_line", "end_col"), ANY),
                        **dict.fromkeys(("kind", "node", "use", "binds"), WORD),
                    )
                ),
                tuple((c["id"], c["names"]) for c in chains),
                array("q", [number for f in frames for number in _frame_row(draw, f, chains)]),
                tuple(
                    draw(st.lists(st.builds(Module, COUNT, COUNT, WORD, WORD, st.booleans(), SHAPES), max_size=3)),
                ),
                tuple(
                    Mark(**m)
                    for m in many("mark", after_event=ANY, frame=COUNT, path=WORD, line=ANY, function=WORD, names=NAMES)
                ),
                tuple(
                    Raised(**r)
                    for r in many(
                        "raised",
                        **dict.fromkeys(("frames", "lines"), st.lists(COUNT, max_size=3).map(tuple)),
                        **dict.fromkeys(("type_name", "message"), WORD),
                        **dict.fromkeys(("after_event", "caught_in"), ANY),
                        names=st.lists(NAMES, max_size=3).map(tuple),
                    )
                ),
                tuple(draw(st.lists(st.builds(Note, WORD, WORD, WORD), max_size=2))),
                draw(ABOUT),
            )
        )
        events += count
    return batches


def _frame_row(draw: st.DrawFn, fields: dict[str, int], chains: list[dict[str, Any]]) -> list[int]:
    """The fields of a frame, in the order of its columns, with a chain and a phase added."""
    chain = draw(st.sampled_from([0, *(chain["id"] for chain in chains)]))
    row = {**fields, "chain": chain, "phase": draw(st.integers(0, 2))}
    return [row[column] for column in FRAME_COLUMNS]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(runs())
def test_every_record_comes_back_equal(batches: list[Batch]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.still")
        writer = StillWriter(path)
        for batch in batches[:-1]:
            writer.write(batch)
        writer.close(batches[-1])
        assert [p.name for p in Path(folder).iterdir()] == ["run.still"]
        with open_recording(path) as got:
            manifest = {key: value for batch in batches for key, value in batch.manifest.items()}
            ended = got.manifest["ended"]
            assert ended
            assert repr(sorted(got.manifest.items())) == repr(sorted({**manifest, "ended": ended}.items()))
            for field in ("files", "functions", "sites"):
                expected = {record.id: record for batch in batches for record in getattr(batch, field)}
                assert dict(getattr(got, field)) == expected
            for field in ("marks", "raised", "notes"):
                assert list(getattr(got, field)) == [record for batch in batches for record in getattr(batch, field)]
            modules = {(m.object, m.root, m.path): m for batch in batches for m in batch.modules}
            assert {(m.object, m.root, m.path): m for m in got.modules} == modules
            assert len(got.modules) == len(modules)
            _frames_come_back(got, batches)
            _events_come_back(got, batches)
            _values_come_back(got, batches)


def _frames_come_back(got: Any, batches: list[Batch]) -> None:
    names = {0: ()} | {id: names for batch in batches for id, names in batch.chains}
    expected = {}
    for batch in batches:
        for at in range(0, len(batch.frames), 9):
            id, function, caller, site, chain, owner, phase, *rest = batch.frames[at : at + 9]
            expected[id] = Frame(id, function, caller, site, names[chain], owner, PHASES[phase], *rest)
    assert dict(got.frames) == expected


def _events_come_back(got: Any, batches: list[Batch]) -> None:
    expected: list[Event] = []
    for batch in batches:
        for row in zip(batch.event_sites, batch.event_frames, batch.event_values, strict=True):
            expected.append(Event(len(expected), *row))
    assert got.event_count == len(expected)
    assert list(got.events()) == expected
    assert [got.event(at) for at in range(len(expected))] == expected
    assert list(got.events(1, 3)) == expected[1:3]
    assert list(got.events(len(expected))) == []


def _values_come_back(got: Any, batches: list[Batch]) -> None:
    abouts = {id: about for batch in batches for id, about in batch.descriptions}
    for batch in batches:
        for at, data in enumerate(batch.content_data):
            id, storage, form = batch.content_rows[3 * at : 3 * at + 3]
            assert got.content(id) == Content(id, storage, CONTENT_FORMS[form], data)
        for at in range(0, len(batch.values), 7):
            id, description, *rest = batch.values[at : at + 7]
            value = got.value(id)
            assert repr(value.about) == repr(abouts[description])
            assert value == Value(id, value.about, *rest)
