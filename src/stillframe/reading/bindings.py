"""Takes an event's value and site; gives the names bound, each with its value, tuple targets paired with what they took.

Must not know of frames or of source lines: only of one event and its site.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stillframe.reading.readable import Readable
from stillframe.records import Site

Target = str | tuple["Target", ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A name, as the source spells it, and the value it was bound to.

    `how` is assign, param, loop, with, store (the object after it was written into), return, yield or expression (a
    bare statement, which has no name).
    """

    name: str
    value: int
    how: str


_HOW = {"iterate": "loop", "context": "with"}


def bound_by(source: Readable, value: int, site: Site) -> tuple[Bound, ...]:
    """What an event at a site bound, `value` being its value; nothing for one that is but a part of a statement."""
    if not value:
        return ()
    if site.kind == "param":
        return (Bound(site.binds, value, "param"),)
    if site.kind == "store":
        return (Bound(site.binds, value, "store"),)
    if site.kind == "value" and site.use in ("return", "yield", "expression") and not site.binds:
        return (Bound("" if site.use == "expression" else site.use, value, site.use),)
    if site.kind not in ("value", "bind") or not site.binds:
        return ()
    how = _HOW.get(site.use, "assign")
    return tuple(Bound(name, one, how) for target in targets_of(site.binds) for name, one in _paired(source, target, value))


@lru_cache(4096)
def targets_of(binds: str) -> tuple[Target, ...]:
    """The targets in `Site.binds`: a name as text, a tuple of targets as a tuple."""
    text = f"{binds} = 0"
    try:
        statement = ast.parse(text).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (binds,)
    if not isinstance(statement, ast.Assign):
        return (binds,)
    return tuple(_target(target, text) for target in statement.targets)


def _target(node: ast.expr, text: str) -> Target:
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_target(element, text) for element in node.elts)
    return ast.get_source_segment(text, node) or ast.unparse(node)


def flat_text(target: Target) -> str:
    """A target as the source would spell it."""
    if isinstance(target, str):
        return target
    inner = ", ".join(flat_text(one) if isinstance(one, str) else f"({flat_text(one)})" for one in target)
    return inner + "," if len(target) == 1 else inner


def _paired(source: Readable, target: Target, value: int) -> Iterator[tuple[str, int]]:
    if isinstance(target, str):
        yield target, value
        return
    items = items_of(source, value)
    starred = [at for at, one in enumerate(target) if isinstance(one, str) and one.startswith("*")]
    if items is None or len(starred) > 1 or (len(items) != len(target) if not starred else len(items) < len(target) - 1):
        yield flat_text(target), value
        return
    if not starred:
        for one, item in zip(target, items, strict=True):
            yield from _paired(source, one, item)
        return
    at = starred[0]
    tail = len(target) - at - 1
    for one, item in zip(target[:at], items[:at], strict=True):
        yield from _paired(source, one, item)
    for one, item in zip(target[at + 1 :], items[len(items) - tail :], strict=True):
        yield from _paired(source, one, item)


def items_of(source: Readable, value: int) -> Sequence[int] | None:
    """The values in a tuple or list, if all of them are known."""
    about = source.about(value)
    items = about.get("items")
    if about.get("kind") not in ("tuple", "list") or not isinstance(items, list):
        return None
    known = [item for item in items if type(item) is int]
    return known if len(known) == about.get("length", len(items)) else None
