"""Takes the words of `stillframe run`; runs an unmodified script or module, recorded, and ends as it ended.

Must not touch the script's output, nor import torch for a script that does not.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from pathlib import Path

from stillframe.errors import UsageError

BREAKPOINTS = ("mark", "prompt", "off")
_USAGE = "stillframe run [options] SCRIPT [ARGS ...]\n       stillframe run [options] -m MODULE [ARGS ...]"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `run` to the commands."""
    parser = commands.add_parser(
        "run",
        help="run an unmodified script, recorded",
        usage=_USAGE,
        description="Runs an unmodified script or module as Python would, recorded. Everything after SCRIPT or MODULE "
        "is its own. The exit code is the script's.",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where the recording goes (default: SCRIPT.still here)")
    parser.add_argument(
        "--breakpoints",
        choices=BREAKPOINTS,
        default="mark",
        help="what breakpoint() does: keep all names there and go on (mark), open the prompt, or nothing (off)",
    )
    parser.add_argument("--no-values", action="store_true", help="keep shapes and other descriptions, no numbers")
    parser.add_argument("--inside", action="store_true", help="open calls into torch.nn, too")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m does")
    parser.add_argument("script", metavar="SCRIPT", help="the script to run, or with -m the module")
    parser.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script's own")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the script, say where the recording is, and end as the script did."""
    from stillframe.recording.writer import check_writable

    name = options.script.rpartition(".")[2] if options.module else Path(options.script).stem
    path = Path(options.output or f"{name or 'run'}.still")
    given = str(path)
    if not options.module and path.absolute() == Path(options.script).absolute():
        asked, found = f"The recording was to be written to {given}.", "That is the script itself."
        raise UsageError("recording-foreign-file", asked, found, "Name another file with -o.")
    check_writable(path)
    from stillframe.session import Interrupted, ValuePolicy, record_script

    outcome = record_script(
        options.script,
        options.args,
        path.absolute(),  # the script may change the working directory
        ValuePolicy(keep_bytes=not options.no_values),
        module=options.module,
        breakpoints=options.breakpoints,
        inside=options.inside,
    )
    look = shlex.join(["stillframe", "show", given])
    print(f"stillframe: recorded in {given}; look at it with: {look}", file=sys.stderr)
    if outcome.incomplete:
        print(f"stillframe: {given} is incomplete: {outcome.incomplete}", file=sys.stderr)
    if isinstance(outcome.exit_code, Interrupted):  # whoever waits for the process must see that
        _die_of_interrupt()
    return int(outcome.exit_code)


def _die_of_interrupt() -> None:
    """End as Python ends on a KeyboardInterrupt that nobody caught: by the signal itself."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
