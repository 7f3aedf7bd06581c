"""Holds the parts that screens are made of: headings, facts, trees, listings, notes and commands, with words of what
each text is.

Must not know what the texts say, nor how they are lowered to a terminal, a page or a notebook.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text. `role` is what it is: plain, name, call, value, place, id, quiet, strong, warn, mark …"""

    text: str
    role: str = "plain"


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; `level` 1 is the screen's own."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text, wrapped as wide as there is room."""

    line: Line


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with what they are; the texts may be wrapped."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of a tree, below the last row of a smaller depth: what it is, what is said of it, and where it stands."""

    depth: int
    label: Line
    detail: Line = ()
    place: Line = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """Rows in order. `limit`: labels longer than that are cut where the room is not enough."""

    rows: tuple[TreeRow, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of texts; the last may be long, and is never wrapped into the others. `right` are columns of numbers."""

    rows: tuple[tuple[Line, ...], ...]
    header: tuple[str, ...] = ()
    right: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ListingRow:
    """A source line. `state`: ran, not_run, partly, unknown, or "" where there is no code. `beside` are annotations."""

    number: int
    text: str
    state: str
    beside: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Source lines in order."""

    rows: tuple[ListingRow, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """What the reader must know, one sentence or two each."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands that can be run as they stand, and what each shows."""

    rows: tuple[tuple[str, str], ...]


Part = Heading | Paragraph | Facts | Tree | Table | Listing | Notes | Commands


@dataclass(frozen=True, slots=True)
class Document:
    """A screen."""

    parts: tuple[Part, ...]


def plain(text: str, role: str = "plain") -> Line:
    """A line of one piece."""
    return (Span(text, role),) if text else ()


def text_of(line: Line) -> str:
    """A line without roles."""
    return "".join(span.text for span in line)
