"""Takes the words of `stillframe show`; opens the recording and shows what is asked for.

Must not import torch or what records: a recording opens where neither is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stillframe.cli.output import running, show, show_lines
from stillframe.errors import UsageError

VIEWS = ("path", "ops", "source", "value", "stack", "dump")
_DESCRIPTION = """\
Shows a recording. Needs neither torch nor the model.

  (nothing)          what was run, the way through the model, and where to go next
  path               the way through the model: calls, and the tensors that came up in each
  ops                every tensor, in order, where it first came up or got a name
  source [FUNCTION]  source with what each line bound; lines that did not run are marked. FUNCTION is a
                     qualified name or the end of one: LlamaAttention.forward, rotate_half. Without it, all that ran
  value ID           one value: its numbers, and where it was seen
  stack ID           who called whom on the way to a value (v12), an event (e12) or a frame (f12)
  dump               every record, as JSON lines"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `show` to the commands."""
    parser = commands.add_parser(
        "show",
        help="show a recording",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a recording (.still)")
    parser.add_argument("view", metavar="VIEW", nargs="?", choices=VIEWS, help="one of those above")
    parser.add_argument("what", metavar="FUNCTION|ID", nargs="?", help="for source, value and stack")
    parser.add_argument("--json", action="store_true", help="as JSON (docs/json.md)")
    parser.add_argument("--all", action="store_true", help="leave nothing out (overview, path, ops, stack)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show what the options ask for."""
    if options.what is not None and options.view not in ("source", "value", "stack"):
        asked, found = f"{options.what!r} was given for {options.view}.", "That view takes no further word."
        raise UsageError("bad-usage", asked, found, "See: stillframe show --help")
    if options.what is None and options.view in ("value", "stack"):
        asked, found = f"The {options.view} of something was asked for.", "No id was given."
        todo = f"Take one from the path, such as v12: stillframe show {options.file} {options.view} v12"
        raise UsageError("bad-usage", asked, found, todo)
    return running(lambda: show_file(Path(options.file), options.view, options.what, options.json, options.all))


def show_file(file: Path, view: str | None, what: str | None, json: bool, everything: bool) -> int:
    """Show a recording."""
    from stillframe.reading.still import open_still

    with open_still(file) as still:
        if view == "dump":
            from stillframe.views.as_json import json_lines

            show_lines(json_lines(still.dump()))
        elif json:
            from stillframe.views.as_json import as_json

            show_lines([as_json(view or "overview", _answer(still, view, what, everything), file)])
        else:
            show(_SCREENS[view](still, what, everything))
    return 0


def _answer(still: Any, view: str | None, what: str | None, everything: bool) -> dict[str, Any]:
    """The answer to be spelled as JSON."""
    from stillframe.views.as_json import steps_of

    if view == "path":
        return steps_of(still.path(everything=everything))
    if view == "ops":
        return {"ops": still.ops(everything=everything)}
    if view == "source":
        return {"functions": still.source(what)}
    if view == "value":
        return {"value": still.value(_value_id(what))}
    if view == "stack":
        return {"stack": still.stack(str(what))}
    return {"overview": still.overview(), "path": steps_of(still.path(everything=everything))}


def _overview(still: Any, what: str | None, everything: bool) -> Any:
    from stillframe.views.overview import overview_document

    return overview_document(still.overview(), still.path(everything=everything), still.file)


def _path(still: Any, what: str | None, everything: bool) -> Any:
    from stillframe.views.path import path_document

    return path_document(still.path(everything=everything))


def _ops(still: Any, what: str | None, everything: bool) -> Any:
    from stillframe.views.ops import ops_document

    return ops_document(still.ops(everything=everything), everything=everything)


def _source(still: Any, what: str | None, everything: bool) -> Any:
    from stillframe.views.source import source_document

    return source_document(still.source(what))


def _value(still: Any, what: str | None, everything: bool) -> Any:
    from stillframe.views.value import value_document

    return value_document(still.value(_value_id(what)), still.file)


def _stack(still: Any, what: str | None, everything: bool) -> Any:
    from stillframe.views.stack import stack_document

    return stack_document(still.stack(str(what)), everything=everything)


def _value_id(text: str | None) -> int:
    from stillframe.reading.still import parse_id

    kind, number = parse_id(str(text))
    if kind != "v":
        asked, found = f"{text!r} was given as the id of a value.", f"{kind} is not for values: they are v12 or 12."
        raise UsageError("bad-id", asked, found, f"For who called whom: stillframe show FILE stack {text}")
    return number


_SCREENS: dict[str | None, Callable[[Any, str | None, bool], Any]] = {
    None: _overview,
    "path": _path,
    "ops": _ops,
    "source": _source,
    "value": _value,
    "stack": _stack,
}
