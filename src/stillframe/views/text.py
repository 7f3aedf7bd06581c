"""Takes a document; gives it as text for a terminal of some width, in colour where that is wanted.

Must not know what the screens are about: only parts, roles and room.

Where the encoding cannot spell them, lines and signs are drawn in ASCII. Source lines are never broken: what is said of
one stands beside it if there is room, else on lines of its own below.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from stillframe.views.document import (
    Commands,
    Document,
    Facts,
    Heading,
    Line,
    Listing,
    ListingRow,
    Notes,
    Paragraph,
    Part,
    Span,
    Table,
    Tree,
)

NARROW = 60
UNBOUNDED = 100_000
GAP = "  "
_STYLES = {
    "name": "cyan",
    "call": "bold",
    "value": "green",
    "place": "blue",
    "id": "dim",
    "quiet": "dim",
    "strong": "yellow",
    "warn": "bold red",
    "mark": "magenta",
    "command": "bold cyan",
    "heading": "bold underline",
}
_ASCII = {
    "×": "x",
    "–": "-",
    "…": "...",
    "→": "->",
    "●": "*",
    "·": "-",
    "␣": "_",
    "│": "|",
    "├": "|",
    "└": "`",
    "─": "-",
}
_STATE = {"ran": " ", "": " ", "not_run": "-", "unknown": "?", "partly": "~"}


@dataclass(frozen=True, slots=True)
class Terminal:
    """What there is to write on. `width` in cells; `signs`: whether it can spell more than ASCII."""

    width: int
    colour: bool
    signs: bool


def terminal_of(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Terminal:
    """The terminal behind a stream; a file or a pipe is as wide as it needs to be, and has no colour."""
    tty = stream.isatty()
    width = environment.get("COLUMNS", "")
    known = int(width) if width.isascii() and width.isdigit() and int(width) > 0 else 0
    if tty and not known:
        try:
            known = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError, io.UnsupportedOperation):
            known = 80
    colour = tty and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return Terminal(known or UNBOUNDED, colour, _can_spell(getattr(stream, "encoding", None)))


def write(document: Document, stream: TextIO | None = None, terminal: Terminal | None = None) -> None:
    """Write a document to a stream, by default standard output."""
    stream = sys.stdout if stream is None else stream
    terminal = terminal_of(stream) if terminal is None else terminal
    console = Console(
        file=stream,
        width=max(terminal.width, 20),
        force_terminal=terminal.colour,
        no_color=not terminal.colour,
        color_system="standard" if terminal.colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for line in _Lowering(terminal).lines(document):
        console.print(line, soft_wrap=True)


def to_text(document: Document, width: int = UNBOUNDED, *, signs: bool = True) -> str:
    """A document as plain text."""
    stream = io.StringIO()
    write(document, stream, Terminal(width, False, signs))
    return stream.getvalue()


class _Lowering:
    """Turns parts into lines that fit."""

    def __init__(self, terminal: Terminal) -> None:
        self._width, self._signs = terminal.width, terminal.signs

    def lines(self, document: Document) -> Iterator[Text]:
        for at, part in enumerate(document.parts):
            if at and not (isinstance(document.parts[at - 1], Heading) and not isinstance(part, Heading)):
                yield Text("")
            yield from self._part(part)

    def _part(self, part: Part) -> Iterator[Text]:
        match part:
            case Heading(text, level):
                yield self._text((Span(text, "heading" if level == 1 else "call"),))
            case Paragraph(line):
                yield from self._wrapped(line, "")
            case Facts(rows):
                yield from self._facts(rows)
            case Tree():
                yield from self._tree(part)
            case Table():
                yield from self._table(part)
            case Listing(rows):
                yield from self._listing(rows)
            case Notes(lines):
                for line in lines:
                    yield from self._wrapped((Span("· ", "quiet"), *line), "  ")
            case Commands(rows):
                yield from self._commands(rows)

    # ---- pieces

    def _spell(self, text: str) -> str:
        """Text that the terminal can show: control characters made visible, and ASCII where it has no more."""
        text = "".join(one if one.isprintable() else _visible(one) for one in text.expandtabs(4))
        if self._signs or text.isascii():
            return text
        text = "".join(_ASCII.get(one, one) for one in text)
        return text.encode("ascii", "backslashreplace").decode("ascii")

    def _text(self, line: Line) -> Text:
        made = Text()
        for span in line:
            made.append(self._spell(span.text), _STYLES.get(span.role, ""))
        return made

    def _wrapped(self, line: Line, indent: str, first: str = "") -> Iterator[Text]:
        """A line broken between words, further lines indented."""
        text = self._text((Span(first), *line))
        room = max(self._width - len(indent), 20)
        if self._width >= UNBOUNDED or text.cell_len <= self._width:
            yield text
            return
        head, *rest = text.wrap(_PLAIN, self._width, no_wrap=False)
        yield head
        if rest:
            left = Text(" ").join(rest)
            for one in left.wrap(_PLAIN, room):
                yield Text(indent) + one

    def _facts(self, rows: Sequence[tuple[str, Line]]) -> Iterator[Text]:
        width = max((cell_len(name) for name, _ in rows), default=0)
        for name, line in rows:
            label = Span(set_cell_size(name, width) + GAP, "quiet")
            yield from self._wrapped((label, *line), " " * (width + len(GAP)))

    def _commands(self, rows: Sequence[tuple[str, str]]) -> Iterator[Text]:
        width = max((cell_len(command) for command, _ in rows), default=0)
        beside = width + max((cell_len(what) for _, what in rows), default=0) + 4 <= self._width
        for command, what in rows:
            if beside:
                yield self._text((Span(set_cell_size(command, width), "command"), Span(f"{GAP}{what}", "quiet")))
            else:  # a command is copied whole: nothing is put on its line
                yield self._text((Span(command, "command"),))
                yield self._text((Span(f"    {what}", "quiet"),))

    # ---- trees and tables

    def _tree(self, tree: Tree) -> Iterator[Text]:
        drawn = [
            (self._text((Span(guide, "quiet"), *row.label)), self._text(row.detail), self._text(row.place))
            for guide, row in zip(_guides([row.depth for row in tree.rows]), tree.rows, strict=True)
        ]
        # A row without detail may take the room of both.
        details = max((detail.cell_len for _, detail, _ in drawn), default=0)
        both = details + len(GAP) if details else 0
        labels = max((label.cell_len - (0 if detail else both) for label, detail, _ in drawn), default=0)
        places = max((place.cell_len for *_, place in drawn), default=0)
        room = self._width - places - len(GAP)
        if room < NARROW // 2:
            yield from self._narrow_tree(drawn)
            return
        labels = min(labels, max(room - details - len(GAP), room // 3))
        for label, detail, place in drawn:
            if detail:
                made = _fitted(label, labels, self._spell("…")) + Text(GAP)
                made += _fitted(detail, min(details, max(room - labels - len(GAP), 8)), self._spell("…"))
            else:
                made = _fitted(label, min(labels + both, room), self._spell("…"))
            yield made + Text(GAP) + place if place.plain else _stripped(made)

    def _narrow_tree(self, drawn: Sequence[tuple[Text, Text, Text]]) -> Iterator[Text]:
        for label, detail, place in drawn:
            yield label
            for one in (detail, place):
                if one.plain:
                    yield Text("      ") + one

    def _table(self, table: Table) -> Iterator[Text]:
        rows = [[self._text(cell) for cell in row] for row in table.rows]
        if table.header and rows:
            rows.insert(0, [self._text((Span(name, "quiet"),)) for name in table.header])
        count = max((len(row) for row in rows), default=0)
        widths = [max((row[at].cell_len for row in rows if at < len(row)), default=0) for at in range(count)]
        for row in rows:
            made = Text()
            for at, cell in enumerate(row):
                padding = Text(" " * (widths[at] - cell.cell_len))
                made += padding + cell if at in table.right else cell + padding
                if at < len(row) - 1:
                    made += Text(GAP)
            made = _stripped(made)
            if self._width < UNBOUNDED and made.cell_len > self._width:
                made = _fitted(made, self._width, self._spell("…"))
            yield made

    # ---- source

    def _listing(self, rows: Sequence[ListingRow]) -> Iterator[Text]:
        digits = max((len(str(row.number)) for row in rows), default=1)
        spelled = [self._spell(row.text.rstrip()) for row in rows]
        left = max((cell_len(text) for text, row in zip(spelled, rows, strict=True) if row.beside), default=0)
        prefix = digits + 3
        notes = [max((self._text(line).cell_len for line in row.beside), default=0) for row in rows]
        beside = prefix + left + 3 + max(notes, default=0) <= self._width
        column = prefix + left
        for row, text in zip(rows, spelled, strict=True):
            style = "dim" if row.state in ("not_run", "unknown") else ""
            made = Text(f"{row.number:>{digits}} ", "dim") + Text(f"{_STATE[row.state]} ", "dim") + Text(text, style)
            bar = self._spell("│")
            if not row.beside:
                yield _stripped(made)
            elif beside:
                for at, line in enumerate(row.beside):
                    base = made if not at else Text("")
                    yield base + Text(" " * (column - base.cell_len)) + Text(f" {bar} ", "dim") + self._text(line)
            else:
                yield made
                for line in row.beside:
                    yield from self._below(line, digits, row.text)

    def _below(self, line: Line, digits: int, source: str) -> Iterator[Text]:
        """An annotation below its source line, as far in as the source, and never longer than the line."""
        indent = min(len(source) - len(source.lstrip()), max(self._width // 3, 0))
        made = Text(" " * (digits + 1)) + Text(f"{self._spell('│')} ", "dim") + Text(" " * indent) + self._text(line)
        yield made if self._width >= UNBOUNDED else _fitted(made, max(self._width, 20), self._spell("…"), pad=False)


_PLAIN = Console(width=UNBOUNDED, file=io.StringIO(), color_system=None)


def _guides(depths: Sequence[int]) -> Iterator[str]:
    """The lines left of each row of a tree that say what it is below."""
    last: list[bool] = [False] * len(depths)
    open_depths: set[int] = set()
    for at in range(len(depths) - 1, -1, -1):
        last[at] = depths[at] not in open_depths
        open_depths = {depth for depth in open_depths if depth < depths[at]} | {depths[at]}
    going_on: dict[int, bool] = {}
    for depth, is_last in zip(depths, last, strict=True):
        if depth == 0:
            yield ""
        else:
            yield "".join("│ " if going_on.get(at) else "  " for at in range(1, depth)) + ("└ " if is_last else "├ ")
        going_on[depth] = not is_last


def _fitted(text: Text, width: int, sign: str, *, pad: bool = True) -> Text:
    """Text of just that width: cut, with a sign that it was, or filled up."""
    if text.cell_len <= width:
        return text + Text(" " * (width - text.cell_len)) if pad else text
    kept = text.copy()
    kept.truncate(max(width - len(sign), 0))
    return kept + Text(sign, "dim")


def _stripped(text: Text) -> Text:
    made = text.copy()
    made.rstrip()
    return made


def _visible(character: str) -> str:
    return character if character == " " else f"\\x{ord(character):02x}" if ord(character) < 256 else "?"


def _can_spell(encoding: str | None) -> bool:
    try:
        "×–…→●·␣│├└─".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
