"""Takes the source of functions with what their lines did; gives the listing that shows it.

Must not know how it was found out what ran.
"""

from __future__ import annotations

from collections.abc import Sequence

from stillframe.reading.source import FunctionSource, SourceLine
from stillframe.reading.tree import paths_text
from stillframe.views.document import Document, Heading, Line, Listing, ListingRow, Notes, Paragraph, Part, Span, plain
from stillframe.views.words import bound_line, count, test_line

_QUIET_NAMES = frozenset({"self", "cls"})
_LEGEND = (
    ("not_run", "- did not run"),
    ("unknown", "? not known whether it ran"),
    ("partly", "~ ran in part (several statements on one line)"),
)


def source_document(functions: Sequence[FunctionSource]) -> Document:
    """The screen of `show FILE source [FUNCTION]`."""
    parts: list[Part] = []
    for function in functions:
        parts.append(Heading(function.name))
        parts.append(Paragraph(_about(function)))
        parts.append(Listing(tuple(_row(line) for line in function.lines)))
    if not functions:
        parts.append(Paragraph(plain("No function in scope was called.")))
    found = {line.status for function in functions for line in function.lines}
    legend = [text for status, text in _LEGEND if status in found]
    if legend:
        parts.append(Notes((plain(f"Left of a line: {'; '.join(legend)}, while it was recorded."),)))
    return Document(tuple(parts))


def _about(function: FunctionSource) -> Line:
    called = f"called {count(function.calls, 'time', 'times')}" if function.calls else "not called"
    spans = [Span(f"{function.place.file}:{function.place.line}", "place"), Span(f", {called}")]
    paths = [path for path in function.paths if path]
    if paths:
        spans.append(Span(": " if function.calls else " "))
        spans.append(Span(paths_text(paths), "name"))
    return tuple(spans)


def _row(line: SourceLine) -> ListingRow:
    bounds = [bound for bound in line.bound if not (bound.how == "param" and bound.name in _QUIET_NAMES)]
    raised = [plain(f"raised {name}", "warn") for name in line.raised]
    beside = (*map(test_line, line.tests), *map(bound_line, bounds), *raised)
    return ListingRow(line.line, line.text, line.status, beside)
