"""Checks screens made of made-up findings: their words, their widths, their signs."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from stillframe.reading.describe import Range
from stillframe.reading.index import Place
from stillframe.reading.overview import Failure, Overview
from stillframe.reading.source import FunctionSource, LineBound, LineTest, SourceLine
from stillframe.reading.stack import Level, Stack
from stillframe.reading.tree import Way
from stillframe.views.document import Document, Listing, ListingRow, Notes, Table, plain
from stillframe.views.overview import overview_document
from stillframe.views.path import path_document
from stillframe.views.source import source_document
from stillframe.views.stack import stack_document
from stillframe.views.text import Terminal, terminal_of, to_text, write


def test_the_path(way: Way) -> None:
    assert (
        to_text(path_document(way))
        == """\
The way through
Model.forward                                   model.py:10
├ x                      (2, 3) f32 [-1, 1]        model.py:11 v7
├ layers.0–1: Layer.forward ×2                     model.py:3
│ ├ scores               (2, 2) f32 [-1, 1] 1 NaN  model.py:4 v8
│ ├ ● breakpoint()       self, scores              model.py:5
│ ├ return make(return)  (2, 3) f32 [-1, 1]        model.py:6 v9
│ └ helper (recompute)                             model.py:30
└ x ×2                   (2, 3) f32 [-1, 1]        model.py:12 v9

· ×n: n equal ones one after another (same code, same shapes); the numbers are those of the first.
· Left out: 2 calls with no new tensor and 5 new tensors that got no name; --all shows them.
""".replace("Model.forward                                   model", "Model.forward                                      model")
    )


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_of_the_path_is_longer_than_the_terminal(way: Way, width: int) -> None:
    assert all(len(line) <= width for line in to_text(path_document(way), width).splitlines())


def test_ascii_where_the_encoding_has_no_more(way: Way) -> None:
    text = to_text(path_document(way), signs=False)
    assert text.isascii()
    assert "layers.0-1: Layer.forward x2" in text
    assert "* breakpoint()" in text


def test_the_overview(overview: Overview, way: Way) -> None:
    text = to_text(overview_document(overview, way, Path("my run.still")))
    assert text.startswith(
        """\
tiny: Model · forward
source      pkg/model.py
versions    Python 3.11.7, torch 2.13.0
sizes       B=2  T=3
parameters  1,234
attention   sdpa
tokens      a ␣b
recorded    40 events in 5 calls, 0.25 s

· random weights: structure, not quality
· incomplete: observer: something is missing
· 1 breakpoint() was met and passed; ● shows where.
"""
    )
    assert "stillframe show 'my run.still' source Model.forward" in text
    assert "stillframe show 'my run.still' value v7" in text


def test_how_a_run_ended_is_said(overview: Overview, way: Way) -> None:
    cut = to_text(overview_document(replace(overview, ended=""), way, Path("a.still")))
    assert "The recording stops before the run came to its end" in cut
    failure = Failure("ValueError", "no", "", (("Model.forward", Place("pkg/model.py", 12)),), (("x", 7),))
    raised = to_text(overview_document(replace(overview, ended="raised", failures=(failure,)), way, Path("a.still")))
    assert "ValueError: no, in Model.forward at model.py:12. All up to it is here." in raised
    assert "Values in flight there: x v7." in raised
    assert "stillframe show a.still source Model.forward" in raised


def function() -> FunctionSource:
    lines = (
        SourceLine(
            3,
            "def forward(self, x):",
            "code",
            "ran",
            (
                LineBound("self", "param", 2, (("Layer module", 2),), 0, None, 1, 1),
                LineBound("x", "param", 2, (("(2, 3) f32", 2),), 0, Range(-1.0, 2.5, 0, 0, 0, 12), 7, 8),
            ),
        ),
        SourceLine(
            4,
            "    if x.any() or self.k:",
            "code",
            "ran",
            (),
            (LineTest("x.any() or self.k", "if", 1, 1, (("x.any()", 1, 1), ("self.k", 0, 1))),),
        ),
        SourceLine(5, "        return 注意", "code", "not_run"),
        SourceLine(6, "", "blank", ""),
        SourceLine(
            7,
            "    pass; y = x",
            "code",
            "unknown",
            (LineBound("y", "assign", 3, (("(2, 3) f32", 2), ("(2, 4) f32", 1)), 2, None, 7, 8),),
        ),
    )
    return FunctionSource(2, "Layer.forward", Place("pkg/model.py", 3), 7, "user", 2, ("layers.0", "layers.1"), lines)


def test_the_source_with_what_lines_bound() -> None:
    assert (
        to_text(source_document([function()]))
        == """\
Layer.forward
pkg/model.py:3, called 2 times: layers.0–1

3   def forward(self, x):     │ x (2, 3) f32 [-1, 2.5] ×2
4       if x.any() or self.k: │ True, False (x.any(): True, False, self.k: False)
5 -         return 注意
6
7 ?     pass; y = x           │ y (2, 3) f32 ×2, (2, 4) f32, 2 more

· Left of a line: - did not run; ? not known whether it ran, while it was recorded.
"""
    )


def test_source_lines_are_never_broken() -> None:
    lines = to_text(source_document([function()]), 40).splitlines()
    assert "4       if x.any() or self.k:" in lines
    assert "  │     True, False (x.any(): True, Fal…" in lines
    assert all(len(line) <= 40 for line in lines)


def test_control_characters_of_a_source_reach_no_terminal() -> None:
    rows = (ListingRow(1, "x = '\x1b[31m\x9b\x07'\ty", "ran", (plain("a\x1b]0;b", "name"),)),)
    text = to_text(Document((Listing(rows), Notes((plain("n\x1b"),)), Table(((plain("t\x1b"),),)))))
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "x = '\\x1b[31m\\x9b\\x07'" in text


def test_the_stack_folds_what_is_out_of_scope() -> None:
    place = Place("pkg/model.py", 3)
    levels = (
        Level(1, "<module>", "", "", "forward", 1, place, Place("pkg/main.py", 9), "model(x)", ("main", "start")),
        Level(2, "Model.forward", "layers.0", "Model", "backward", 2, place, None, "", ("Module._call_impl",)),
    )
    text = to_text(stack_document(Stack("value 3", 1, levels), everything=False))
    assert "Module._call_impl" not in text
    assert "3 functions out of scope stand between these" in text
    assert "└ layers.0: Model.forward f2 (backward) thread 2" in text
    whole = to_text(stack_document(Stack("value 3", 1, levels), everything=True))
    assert "├ Module._call_impl" in whole
    assert "main.py:9" in whole


class Tty(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_colour_only_on_a_terminal_that_wants_it(way: Way) -> None:
    assert terminal_of(Tty(), {"COLUMNS": "90"}) == Terminal(90, True, True)
    assert not terminal_of(Tty(), {"NO_COLOR": "1", "COLUMNS": "90"}).colour
    assert not terminal_of(Tty(), {"TERM": "dumb", "COLUMNS": "90"}).colour
    assert not terminal_of(io.StringIO(), {}).colour
    coloured, bare = Tty(), Tty()
    write(path_document(way), coloured, Terminal(100, True, True))
    write(path_document(way), bare, Terminal(100, False, True))
    assert "\x1b[" in coloured.getvalue()
    assert "\x1b" not in bare.getvalue()


def test_a_stream_that_spells_only_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert not terminal_of(stream, {}).signs
    assert terminal_of(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {}).signs
