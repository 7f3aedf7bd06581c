"""Takes the facts of a recording and the way through the model; gives the first screen.

Must not know how they were found.
"""

from __future__ import annotations

from pathlib import Path

from stillframe.reading.overview import Failure, Overview
from stillframe.reading.tree import Call, Op, Step, Way
from stillframe.views.document import Commands, Document, Facts, Heading, Line, Notes, Part, Span, plain
from stillframe.views.path import path_parts
from stillframe.views.words import command, count

MOST_ROOTS = 5
_ENDED = {
    "finished": "",
    "": "The recording stops before the run came to its end: the process was killed, or is still running.",
    "raised": "An exception ended the run; what is here is all up to it.",
    "interrupted": "The run was interrupted (Ctrl-C); what is here is all up to then.",
    "failed": "The run could not be carried out.",
}


def overview_document(overview: Overview, way: Way, file: Path) -> Document:
    """The screen of `stillframe read`, and of `show FILE`."""
    parts: list[Part] = [Heading(_title(overview)), Facts(tuple(_facts(overview)))]
    notes = _notes(overview)
    if notes:
        parts.append(Notes(tuple(notes)))
    parts += [Heading("The way through", 2), *path_parts(way)]
    parts += [Heading("Where to go next", 2), Commands(tuple(_commands(overview, way, file)))]
    return Document(tuple(parts))


def _title(overview: Overview) -> str:
    what = overview.class_name or next((root.class_name for root in overview.roots), "")
    name = overview.target.replace("\\", "/").rpartition("/")[2] if overview.command == "run" else overview.target
    named = f"{name}: {what}" if name and what else name or what or "recording"
    return f"{named} · {overview.scenario}" if overview.scenario else named


def _facts(overview: Overview) -> list[tuple[str, Line]]:
    rows: list[tuple[str, Line]] = []

    def add(name: str, text: str, role: str = "plain") -> None:
        if text:
            rows.append((name, plain(text, role)))

    if overview.command == "run":
        add("command", " ".join(["python", overview.target, *overview.args]))
    add("source", overview.source_file, "place")
    add("versions", ", ".join([f"Python {overview.python}", *(f"{k} {v}" for k, v in overview.versions.items())]))
    add("sizes", "  ".join(f"{symbol}={size}" for symbol, size in overview.sizes.items() if symbol.isidentifier()))
    if overview.n_parameters is not None:
        add("parameters", f"{overview.n_parameters:,}")
    else:
        for root in overview.roots[:MOST_ROOTS]:
            each = f"{root.times:,} times, each " if root.times > 1 else ""
            held = f"{root.numbers:,} numbers in parameters and buffers"
            add(root.class_name, f"{each}{count(root.modules, 'module', 'modules')}, {held}")
        if len(overview.roots) > MOST_ROOTS:
            add("", f"and {len(overview.roots) - MOST_ROOTS} more", "quiet")
    add("attention", overview.attn)
    for at, row in enumerate(overview.tokens):
        add("tokens" if not at else "", " ".join(_token(token) for token in row))
    kept = f"{count(overview.events, 'event', 'events')} in {count(overview.calls, 'call', 'calls')}"
    add("recorded", f"{kept}, {overview.seconds:.2f} s" if overview.seconds is not None else kept)
    if overview.exit_code:
        add("exit code", str(overview.exit_code), "warn")
    return rows


def _token(token: str) -> str:
    """A token as a person reads it: the mark that byte-level vocabularies use for a space made one that prints
    everywhere.
    """
    return token.replace("Ġ", "␣")


def _notes(overview: Overview) -> list[Line]:
    lines = []
    ended = _ENDED.get(overview.ended, overview.ended)
    if ended and not overview.failures:
        lines.append(plain(ended, "warn"))
    for failure in overview.failures:
        lines += _failure(failure)
    for kind, subject, reason in overview.notes:
        if kind == "model":
            lines.append(plain(reason))
        else:
            role = "warn" if kind == "incomplete" else "plain"
            lines.append((Span(f"{kind}: ", role), Span(f"{subject}: {reason}" if subject else reason)))
    if overview.marks:
        lines.append(plain(f"{count(overview.marks, 'breakpoint() was', 'breakpoint()s were')} met and passed; ● shows where."))
    return lines


def _failure(failure: Failure) -> list[Line]:
    where = f", in {failure.stack[-1][0]} at {failure.stack[-1][1].text}" if failure.stack else ""
    lines: list[Line] = [
        (
            Span(f"{failure.type_name}: {failure.message}" if failure.message else failure.type_name, "warn"),
            Span(f"{where}. All up to it is here."),
        )
    ]
    if failure.in_flight:
        names = ", ".join(f"{name} v{value}" for name, value in failure.in_flight)
        lines.append(plain(f"Values in flight there: {names}."))
    return lines


def _commands(overview: Overview, way: Way, file: Path) -> list[tuple[str, str]]:
    rows = []
    telling = _telling_call(way.steps)
    failed = [failure.stack[-1][0] for failure in overview.failures if failure.stack]
    if failed:
        rows.append((command(file, "source", failed[0]), "the source where it raised, with what each line bound"))
    if telling is not None and telling.function not in failed:
        rows.append((command(file, "source", telling.function), "its source, with what each line bound"))
    elif not failed:
        rows.append((command(file, "source"), "the source that ran, with what each line bound"))
    ops = [step for step in way.steps if isinstance(step, Op)]
    if ops:
        shown = next((op for op in ops if telling is not None and op.frame == telling.frame), ops[-1])
        rows.append((command(file, "value", f"v{shown.value.value}"), f"the numbers of {shown.name or shown.how}"))
        rows.append((command(file, "stack", f"v{shown.value.value}"), "who called whom on the way to it"))
    rows.append((command(file, "path", "--all"), "the way with every call and every unnamed tensor"))
    rows.append((command(file, "ops"), "every tensor, in the order they came up"))
    return rows


def _telling_call(steps: tuple[Step, ...]) -> Call | None:
    """The call to look into first: the one in which most tensors were made, attention before others."""
    calls = [step for step in steps if isinstance(step, Call)]
    inside = {call.frame: sum(isinstance(step, Op) and step.frame == call.frame for step in steps) for call in calls}
    worth = [call for call in calls if inside[call.frame]]
    return max(worth, key=lambda call: ("attention" in call.function.lower(), inside[call.frame]), default=None)
