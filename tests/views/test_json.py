"""Pins the keys of the JSON form (docs/json.md), on made-up findings: a change here is a change of `form`."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from stillframe.reading.describe import Described, Range
from stillframe.reading.index import Place
from stillframe.reading.overview import Failure, Overview, Root
from stillframe.reading.source import FunctionSource, LineBound, LineTest, SourceLine
from stillframe.reading.stack import Level, Stack
from stillframe.reading.tree import Call, Op, Stop, Way
from stillframe.reading.values import Excerpt, Facts, Moment, Sharing, ValueReport
from stillframe.views.as_json import as_json, json_lines, steps_of

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
KEYS: dict[type, str] = {
    Call: "depth frame function path class_name paths times phase place left_out",
    Op: "depth event frame name how expression node new times place value",
    Stop: "depth mark frame times place names",
    Way: "steps left_out unnamed",
    Place: "file line",
    Described: "value kind text dtype shape range",
    Range: "min max nan posinf neginf count",
    FunctionSource: "function name place end_line origin calls paths lines",
    SourceLine: "line text kind status bound tests raised",
    LineBound: "name how times texts more_texts range first last",
    LineTest: "expression of true false operands",
    ValueReport: "value about facts excerpt made seen seen_count others version storage sharing base_object base",
    Facts: "count min max mean std nan posinf neginf zero",
    Excerpt: "numbers indices shape steps whole",
    Moment: "event frame function path kind name expression place value",
    Sharing: "value text first",
    Stack: "asked event levels",
    Level: "frame function path class_name phase thread defined at expression between",
    Overview: "command target args class_name source_file scenario ended exit_code started seconds python versions sizes "
    "n_parameters attn tokens roots events calls marks files failures caught notes",
    Root: "class_name modules numbers times",
    Failure: "type_name message caught_in stack in_flight",
}


@pytest.mark.parametrize("record", KEYS, ids=lambda record: record.__name__)
def test_keys_are_as_documented(record: type) -> None:
    keys = KEYS[record].split()
    assert [field.name for field in fields(record)] == keys
    for key in keys:
        assert f"`{key}`" in DOCUMENTED, f"docs/json.md does not speak of {key}"


def test_the_envelope_and_the_steps(way: Way) -> None:
    answer = json.loads(as_json("path", steps_of(way), Path("a.still")))
    assert list(answer) == ["form", "what", "file", "steps", "left_out", "unnamed"]
    assert (answer["form"], answer["what"], answer["file"]) == (1, "path", "a.still")
    assert [step["step"] for step in answer["steps"]] == ["call", "op", "call", "op", "breakpoint", "op", "call", "op"]
    assert answer["steps"][1]["value"]["shape"] == [2, 3]
    assert list(answer["steps"][1]) == ["step", *KEYS[Op].split()]


def test_numbers_that_json_has_not() -> None:
    text = as_json("value", {"x": [float("nan"), float("inf"), -float("inf"), 1 + 2j, b"\x00\xff"]}, Path("a"))
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["x"] == ["nan", "inf", "-inf", [1, 2], "AP8="]


def test_lines_of_a_dump() -> None:
    lines = list(json_lines([("manifest", {"ended": "finished"}), ("content", {"id": 1, "data": b"\x01"})]))
    assert [json.loads(line) for line in lines] == [
        {"record": "manifest", "facts": {"ended": "finished"}},
        {"record": "content", "id": 1, "data": "AQ=="},
    ]


def test_every_view_is_documented() -> None:
    assert set(re.findall(r"^### `(\w+)`", DOCUMENTED, re.MULTILINE)) == {
        "overview",
        "path",
        "ops",
        "source",
        "value",
        "stack",
        "dump",
    }
