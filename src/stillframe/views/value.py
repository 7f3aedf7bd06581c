"""Takes what is known of one value; gives the screen that shows it.

Must not know how it was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stillframe.reading.describe import cut, number_text
from stillframe.reading.values import Excerpt, Facts, Moment, ValueReport
from stillframe.views import document as parts
from stillframe.views.document import Document, Heading, Line, Notes, Part, Span, Table, plain
from stillframe.views.words import command, count, value_line

MOST_SEEN = 20
_QUIET = frozenset({"kind", "type", "dtype", "shape", "value", "items", "keys", "fields", "length"})


def value_document(report: ValueReport, file: Path) -> Document:
    """The screen of `show FILE value ID`."""
    rows: list[tuple[str, Line]] = [("what", value_line(report.value))]
    if report.made is not None:
        rows.append(("first seen", _moment(report.made)))
        expression = cut(report.made.expression, 100)
        if expression and expression != report.made.name:
            rows.append(("expression", plain(expression)))
    rows += _about(report.about)
    if report.facts is not None:
        rows += _facts(report.facts)
    rows += _memory(report)
    found: list[Part] = [Heading(f"Value v{report.value.value}"), parts.Facts(tuple(rows))]
    if report.excerpt is not None:
        found += _excerpt(report.excerpt)
    elif report.value.kind == "tensor":
        found.append(Notes((plain(_why_no_numbers(report)),)))
    if report.seen_count > 1:
        found.append(Heading(f"Seen in {count(report.seen_count, 'event', 'events')}", 2))
        found.append(_moments(report.seen[:MOST_SEEN]))
    if report.others:
        found.append(Heading("The same object at other moments", 2))
        found.append(_moments(report.others[:MOST_SEEN], with_values=True))
    if report.made is not None:
        rows_next = ((command(file, "stack", f"v{report.value.value}"), "who called whom on the way to it"),)
        found.append(parts.Commands(rows_next))
    return Document(tuple(found))


def _about(about: Mapping[str, Any]) -> list[tuple[str, Line]]:
    told = [f"{key} {_plain(value)}" for key, value in about.items() if key not in _QUIET]
    rows = [("type", plain(str(about["type"])))] if about.get("type") else []
    if about.get("dtype"):
        rows.append(("dtype", plain(str(about["dtype"]))))
    if told:
        rows.append(("more", plain(", ".join(told))))
    for key in ("items", "fields"):
        inner = about.get(key)
        names = about.get("keys") if key == "items" else None
        pairs = inner.items() if isinstance(inner, dict) else zip(names or [], inner or [], strict=False)
        texts = [f"{name} v{one}" for name, one in pairs]
        if not texts and isinstance(inner, list):
            texts = [f"v{one}" for one in inner]
        if texts:
            rows.append(("holds", plain(cut(", ".join(texts), 200))))
    return rows


def _plain(value: Any) -> str:
    return cut(str(tuple(value) if isinstance(value, list) else value))


def _facts(facts: Facts) -> list[tuple[str, Line]]:
    known = (("min", facts.min), ("max", facts.max), ("mean", facts.mean), ("std", facts.std))
    texts = [f"{name} {number_text(value)}" for name, value in known if value is not None]
    counts = (("NaN", facts.nan), ("Inf", facts.posinf), ("-Inf", facts.neginf), ("zero", facts.zero))
    told = [f"{value:,} {name}" for name, value in counts if value]
    return [("numbers", plain(", ".join([f"{facts.count:,} elements", *texts, *told])))]


def _memory(report: ValueReport) -> list[tuple[str, Line]]:
    rows: list[tuple[str, Line]] = []
    if report.base is not None:
        rows.append(("view of", (Span(f"v{report.base.value} ", "id"), *value_line(report.base))))
    elif report.base_object:
        rows.append(("view of", plain("a tensor that no event shows")))
    for at, other in enumerate(report.sharing[:8]):
        spans = [Span(f"v{other.value} ", "id"), Span(other.text, "value")]
        if other.first is not None:
            spans.append(Span(f"  {other.first.name or cut(other.first.expression, 40)}", "name"))
            spans.append(Span(f"  {other.first.place.text}", "place"))
        rows.append(("same memory" if not at else "", tuple(spans)))
    if len(report.sharing) > 8:
        rows.append(("", plain(f"and {len(report.sharing) - 8} more", "quiet")))
    return rows


def _excerpt(excerpt: Excerpt) -> list[Part]:
    if excerpt.steps is None:
        title = "Some of its numbers"
    elif any(step > 1 for step in excerpt.steps):
        title = f"A sample of its numbers, every {' × '.join(map(str, excerpt.steps))} elements along the dimensions"
    else:
        where = ", ".join([*map(str, excerpt.indices), *(f":{size}" for size in excerpt.shape)])
        title = "Its numbers" if excerpt.whole else f"Its numbers at [{where}]"
    rows = excerpt.numbers if len(excerpt.shape) == 2 else [excerpt.numbers] if excerpt.shape else [[excerpt.numbers]]
    texts = tuple(tuple(plain(number_text(number), "value") for number in row) for row in rows)
    return [Heading(title, 2), Table(texts, right=tuple(range(len(texts[0]) if texts else 0)))]


def _why_no_numbers(report: ValueReport) -> str:
    if report.facts is not None:
        return "It has no element."
    return "Its numbers are not in the recording (none were to be kept, or it has none that can be read)."


def _moments(moments: tuple[Moment, ...], *, with_values: bool = False) -> Table:
    rows = []
    for moment in moments:
        name = moment.name or cut(moment.expression, 48)
        row = [
            plain(f"e{moment.event}", "quiet"),
            plain(moment.place.text, "place"),
            plain(f"{moment.kind}: " if moment.kind in ("param", "store", "bind") else "", "quiet") + plain(name, "name"),
            plain(moment.function, "call") + plain(f"  {moment.path}" if moment.path else "", "quiet"),
        ]
        rows.append(tuple([plain(f"v{moment.value}", "id"), *row] if with_values else row))
    return Table(tuple(rows))


def _moment(moment: Moment) -> Line:
    spans = [
        Span(moment.place.text, "place"),
        Span(f" e{moment.event}", "quiet"),
        Span(" in "),
        Span(moment.function, "call"),
    ]
    if moment.path:
        spans.append(Span(f" ({moment.path})", "quiet"))
    if moment.name:
        spans += [Span(" as "), Span(moment.name, "name")]
    return tuple(spans)
