"""Takes the way through the model; gives the tree that shows it.

Must not know how the way was found.
"""

from __future__ import annotations

from stillframe.reading.describe import cut, last_name
from stillframe.reading.tree import Call, Op, Step, Stop, Way, paths_text
from stillframe.views.document import Document, Heading, Line, Notes, Part, Span, Tree, TreeRow, plain
from stillframe.views.words import count, value_line

LONGEST_LABEL = 56


def path_document(way: Way) -> Document:
    """The screen of `show FILE path`."""
    return Document((Heading("The way through", 1), *path_parts(way)))


def path_parts(way: Way) -> tuple[Part, ...]:
    """The tree, and what is to be known of what it leaves out."""
    above: list[str] = []
    rows = []
    for step in way.steps:
        if isinstance(step, Call):
            del above[step.depth :]
            parent = next((path for path in reversed(above) if path), "")
            rows.append(_call_row(step, parent))
            above.append(step.path)
        else:
            rows.append(_row(step))
    return (Tree(tuple(rows)), *_notes(way))


def _notes(way: Way) -> tuple[Part, ...]:
    lines = []
    if not way.steps:
        lines.append(plain("No tensor came up in the calls that were recorded."))
    if any(step.times > 1 for step in way.steps):
        lines.append(plain("×n: n equal ones one after another (same code, same shapes); the numbers are those of the first."))
    left = []
    if way.left_out:
        left.append(count(way.left_out, "call with no new tensor", "calls with no new tensor"))
    if way.unnamed:
        left.append(count(way.unnamed, "new tensor that got no name", "new tensors that got no name"))
    if left:
        lines.append(plain(f"Left out: {' and '.join(left)}; --all shows them."))
    return (Notes(tuple(lines)),) if lines else ()


def _row(step: Step) -> TreeRow:
    if isinstance(step, Op):
        return TreeRow(step.depth, _op_label(step), value_line(step.value), _place(step.place.text, step.value.value))
    assert isinstance(step, Stop)
    names = ", ".join(name for name, _ in step.names)
    return TreeRow(
        step.depth, (Span("● breakpoint()", "mark"), *_times(step.times)), plain(names), plain(step.place.text, "place")
    )


def _call_row(call: Call, parent: str) -> TreeRow:
    """A call: the module by its path from the one above, then the function."""
    spans = []
    path = paths_text(call.paths)
    if parent and path.startswith(f"{parent}."):
        path = path[len(parent) + 1 :]
    if call.path:
        spans.append(Span(f"{path}: ", "name"))
    spans.append(Span(call.function, "call"))
    spans += _times(call.times)
    own = last_name(call.class_name)
    if own and not call.function.startswith(f"{own}."):
        spans.append(Span(f" of {own}", "quiet"))
    if call.phase != "forward":
        spans.append(Span(f" ({call.phase})", "quiet"))
    return TreeRow(call.depth, tuple(spans), (), plain(call.place.text, "place"))


def _op_label(op: Op) -> Line:
    name = op.name or cut(op.expression, LONGEST_LABEL)
    if op.how == "store":
        name = f"{op.name}[…] ="
    elif op.how in ("return", "yield"):
        name = f"{op.how} {cut(op.expression, LONGEST_LABEL)}"
    return (Span(name, "name" if op.name and op.how not in ("return", "yield") else "plain"), *_times(op.times))


def _times(times: int) -> Line:
    return (Span(f" ×{times}", "strong"),) if times > 1 else ()


def _place(text: str, value: int) -> Line:
    return (Span(text, "place"), Span(f" v{value}", "id"))
