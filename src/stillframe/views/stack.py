"""Takes a chain of calls; gives the screen that shows it, the functions out of scope folded unless they are asked for.

Must not know how it was found.
"""

from __future__ import annotations

from stillframe.reading.describe import cut
from stillframe.reading.stack import Level, Stack
from stillframe.views.document import Document, Heading, Notes, Part, Span, Tree, TreeRow, plain
from stillframe.views.words import count


def stack_document(stack: Stack, *, everything: bool) -> Document:
    """The screen of `show FILE stack ID`."""
    rows: list[TreeRow] = []
    folded = 0
    for depth, level in enumerate(stack.levels):
        if everything:
            rows += [TreeRow(depth, plain(name, "quiet"), plain("out of scope", "quiet")) for name in level.between]
        folded += len(level.between)
        rows.append(_row(level, depth))
    parts: list[Part] = [Heading(f"Stack of {stack.asked}"), Tree(tuple(rows))]
    if not stack.levels:
        parts.append(Notes((plain("The frame it happened in is not known."),)))
    if folded and not everything:
        left = count(folded, "function out of scope stands", "functions out of scope stand")
        parts.append(Notes((plain(f"{left} between these; --all shows them."),)))
    return Document(tuple(parts))


def _row(level: Level, depth: int) -> TreeRow:
    spans = [Span(f"{level.path}: ", "name")] if level.path else []
    spans.append(Span(level.function, "call"))
    spans.append(Span(f" f{level.frame}", "id"))
    if level.phase != "forward":
        spans.append(Span(f" ({level.phase})", "quiet"))
    if level.thread > 1:
        spans.append(Span(f" thread {level.thread}", "quiet"))
    place = level.at or level.defined
    return TreeRow(depth, tuple(spans), plain(cut(level.expression)), plain(place.text, "place"))
