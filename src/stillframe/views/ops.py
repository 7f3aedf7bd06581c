"""Takes the tensors of a recording in order; gives the table that lists them.

Must not know how they were found.
"""

from __future__ import annotations

from collections.abc import Sequence

from stillframe.reading.describe import cut
from stillframe.reading.tree import Op
from stillframe.views.document import Document, Heading, Notes, Table, plain
from stillframe.views.words import count, value_line

LONGEST_NAME = 24
LONGEST_EXPRESSION = 72


def ops_document(ops: Sequence[Op], *, everything: bool) -> Document:
    """The screen of `show FILE ops`."""
    rows = tuple(
        (
            plain(f"e{op.event}", "quiet"),
            plain(f"v{op.value.value}", "id"),
            plain(op.place.text, "place"),
            plain(cut(op.name, LONGEST_NAME), "name"),
            value_line(op.value),
            plain(cut(op.expression, LONGEST_EXPRESSION), "quiet"),
        )
        for op in ops
    )
    notes = "" if everything else "Where a tensor was only read or handed on is left out; --all shows them."
    header = ("event", "value", "place", "name", "what", "expression")
    title = Heading(
        count(len(ops), "place where a tensor came up or got a name", "places where a tensor came up or got a name")
    )
    return Document((title, Table(rows, header), *((Notes((plain(notes),)),) if notes else ())))
