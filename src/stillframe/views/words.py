"""Takes pieces of what reading found; gives the words for them that all screens share: values, ranges, counts, paths.

Must not know which screen they are for.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stillframe.views.document import Line, Span, plain

if TYPE_CHECKING:
    from stillframe.reading.describe import Described, Range
    from stillframe.reading.source import LineBound, LineTest


def value_line(value: Described) -> Line:
    """ "(2, 7) i64 [0, 258]", a warning colour on what is not finite."""
    return (Span(value.text, "value"), *range_spans(value.range))


def range_spans(range_: Range | None) -> Line:
    if range_ is None or not range_.text:
        return ()
    alarming = range_.nan or range_.posinf
    return (Span(f" {range_.text}", "warn" if alarming else "value"),)


def bound_line(bound: LineBound) -> Line:
    """What a line bound: name, what it was each time, range, and how often."""
    name = {"return": "return", "expression": "→", "yield": "yield"}.get(bound.how, bound.name)
    spans = [Span(f"{name} ", "name")]
    several = len(bound.texts) > 1
    for at, (text, times) in enumerate(bound.texts):
        spans.append(Span((", " if at else "") + text, "value"))
        if several and times > 1:
            spans.append(Span(f" ×{times}", "quiet"))
    if bound.more_texts:
        spans.append(Span(f", {bound.more_texts} more", "quiet"))
    spans += range_spans(bound.range)
    if not several and bound.times > 1:
        spans.append(Span(f" ×{bound.times}", "quiet"))
    return tuple(spans)


def test_line(test: LineTest) -> Line:
    """How a condition came out, and which of its operands said so if there are several."""
    label = {"if": "", "while": "", "assert": "assert "}.get(test.of, f"{test.expression}: ")
    whole = _truths(test.true, test.false) or "not decided"
    spans = [Span(f"{label}{whole}", "strong")]
    if len(test.operands) > 1:
        told = ", ".join(f"{text}: {_truths(true, false) or 'not asked'}" for text, true, false in test.operands)
        spans.append(Span(f" ({told})", "quiet"))
    return tuple(spans)


def _truths(true: int, false: int) -> str:
    parts = []
    for truth, times in (("True", true), ("False", false)):
        if times:
            parts.append(truth if times == 1 else f"{truth} ×{times}")
    return ", ".join(parts)


def command(file: Path, *words: str) -> str:
    """A command that works on this recording as it stands."""
    return shlex.join(["stillframe", "show", str(file), *words])


def count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def quiet(text: str) -> Line:
    return plain(text, "quiet")


def joined(lines: Sequence[Line], by: str = "  ") -> Line:
    """Lines one after another on one line."""
    spans: list[Span] = []
    for line in lines:
        if spans and line:
            spans.append(Span(by, "quiet"))
        spans += line
    return tuple(spans)
