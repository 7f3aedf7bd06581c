"""Takes an answer to a command; writes it to standard output, as a screen or as JSON.

Must not know what the answer says. Text that the terminal's encoding cannot spell is escaped, not a fault.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Iterable

from stillframe.views.document import Document


def show(document: Document) -> None:
    """Write a screen."""
    from stillframe.views.text import write

    write(document)


def show_lines(lines: Iterable[str]) -> None:
    """Write lines as they come."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def running(command: Callable[[], int]) -> int:
    """Run a command that only writes, and give its exit code. A reader that goes away ends it quietly."""
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    collecting = gc.isenabled()
    gc.disable()  # all that is made is needed until the end, which is near
    try:
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer has nowhere to go: let the interpreter's own flush at the end succeed.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        if collecting:
            gc.enable()
    return code
