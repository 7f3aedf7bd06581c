"""Takes one call of a function; gives where control was seen in it, in order, and how the call ended.

Must not know what follows from that: it only puts the recording's proofs in a row.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stillframe.reading.index import Index
from stillframe.reading.statements import Body, Statement
from stillframe.records import Event, Frame, Site

# What torch puts between a module's call and its forward swallows no exception.
_TRANSPARENT = frozenset({"Module._wrapped_call_impl", "Module._call_impl"})


@dataclass(frozen=True, slots=True)
class Seen:
    """That control was at a site: `site` is None where only the line is known. `truth` is that of a test's operand.

    `counts`: for a value that is unpacked, whether it has as many items as there are targets.
    """

    statement: Statement
    site: Site | None
    truth: bool | None = None
    fits: bool = False


@dataclass(frozen=True, slots=True)
class Happened:
    """`seen` in order. `besides` ran at a time that is not known (a generator expression's part). `returned`: it is
    known to have ended without an exception; `cut`: the recording may end before the call did.
    """

    seen: tuple[Seen, ...]
    besides: tuple[Statement, ...]
    returned: bool
    cut: bool

    @property
    def key(self) -> object:
        """Equal for calls in which the same happened."""
        row = tuple((id(one.statement), one.site.id if one.site else 0, one.truth, one.fits) for one in self.seen)
        return row, tuple(map(id, self.besides)), self.returned, self.cut


def happened_in(index: Index, body: Body, frame: Frame) -> Happened:
    """What is known of one call."""
    sites, source = index.source.sites, index.source
    rows: list[tuple[float, Seen]] = []
    besides: dict[Statement, None] = {}
    for event in index.events_of.get(frame.id, ()):
        statement = body.statement_of.get(event.site)
        if statement is None:
            continue
        if event.site in body.lazy:
            besides[statement] = None
        else:
            rows.append((event.index, _seen(index, statement, sites[event.site], event)))
    for child in index.children.get(frame.id, ()):  # a call that never came back has begun its statement all the same
        statement = body.statement_of.get(child.call_site)
        if statement is not None and child.call_site not in body.lazy:
            rows.append((child.first_event, Seen(statement, None)))
    for raised in source.raised:
        for at, line in zip(raised.frames, raised.lines, strict=False):
            statement = body.at_line(line) if at == frame.id else None
            if statement is not None:
                rows.append((raised.after_event - 0.5 if raised.caught_in else raised.after_event + 0.5, Seen(statement, None)))
    rows.sort(key=lambda row: row[0])
    returned = not body.is_generator and _has_returned(index, frame)
    cut = not index.closed and not returned and not _is_over(index, body, frame)
    return Happened(tuple(seen for _, seen in rows), tuple(besides), returned, cut)


def _seen(index: Index, statement: Statement, site: Site, event: Event) -> Seen:
    if not event.value:
        return Seen(statement, site)
    if site.kind == "test":
        truth = index.source.value(event.value).about.get("value")
        return Seen(statement, site, truth if isinstance(truth, bool) else None)
    targets = statement.node.targets if isinstance(statement.node, ast.Assign) else []
    counts = {len(target.elts) for target in targets if isinstance(target, ast.Tuple | ast.List)}
    return Seen(statement, site, None, bool(counts) and counts == {_length(index, event.value)})


def _length(index: Index, value: int) -> object:
    about = index.source.value(value).about
    if about.get("kind") == "tensor":
        shape = about.get("shape")
        return shape[0] if isinstance(shape, (list, tuple)) and shape else None
    return about.get("length", len(about.get("items", ()))) if about.get("kind") in ("tuple", "list") else None


def _has_returned(index: Index, frame: Frame) -> bool:
    """Whether a call is known to have ended without an exception: its caller went on with what it gave."""
    if not frame.caller:
        manifest = index.source.manifest
        is_main = index.source.functions[frame.function].qualname == "<module>" and frame.first_event == 0
        return is_main and manifest.get("ended") == "finished" and manifest.get("exit_code") == 0
    if not frame.call_site or not set(frame.chain) <= _TRANSPARENT:
        return False
    last = index.last_events.get(frame.id, frame.first_event)
    following = (event for event in index.events_of.get(frame.caller, ()) if event.index > last)
    first = next(following, None)
    return first is not None and first.site == frame.call_site


def _is_over(index: Index, body: Body, frame: Frame) -> bool:
    """Whether a call had ended before the recording did: something happened in its caller after it."""
    if body.is_generator or not frame.caller:
        return False
    return index.last_events.get(frame.caller, 0) > index.last_events.get(frame.id, frame.first_event)
