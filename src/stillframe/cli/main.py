"""Takes the words of a command line; runs the command they name, and gives the exit code.

Must not import torch, or anything slow, for a command that does without: each command loads what it needs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from stillframe.cli import read, run, show
from stillframe.errors import StillframeError

_DESCRIPTION = "Reads LLM source code by running it: one run, recorded expression by expression, to be looked at afterwards."
_EPILOG = "Begin with: stillframe read llama"


class _Version(argparse.Action):
    """Says the version, which takes a moment to look up."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="say the version, and end")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            known = version("stillframe")
        except PackageNotFoundError:
            known = "(not installed: run from its source)"
        print(f"stillframe {known}, Python {sys.version.split()[0]}")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser("stillframe", description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    for command in (read, run, show):
        command.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. What a person can have done wrong is said on standard error, without a traceback."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(options.run(options))
    except StillframeError as error:
        print(f"stillframe: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stillframe: interrupted", file=sys.stderr)
        return 130
