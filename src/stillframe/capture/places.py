"""Gives the markers that stand where observers will be, and the records of planted places.

A leaf of capture: it knows no other module of the tool.
"""

from __future__ import annotations

from typing import NamedTuple

VALUE = "\0stillframe:value"  # (site, value) -> value
INNER = "\0stillframe:inner"  # the same within a comprehension or generator expression, which may have a frame of its own
HELD = "\0stillframe:held"  # (site, value) -> value, read from an attribute or a variable of another scope
ENTER = "\0stillframe:enter"  # (site, *arguments) -> None; the arguments' sites follow the enter site
METHOD = "\0stillframe:method"  # the same for a method, whose first argument is the object it belongs to
BASE = "\0stillframe:base"  # (site, object) -> object, about to be written into
STORED = "\0stillframe:stored"  # (site) -> None: the object last given to BASE in this frame has been written into
CAUGHT = "\0stillframe:caught"  # (site) -> None, first thing in an exception handler
MARK = "\0stillframe:mark"  # (site) -> None
SITE = "\0stillframe#"  # followed by the site's number within the file


class PlannedSite(NamedTuple):
    """A place in a file before the file has a number: `function` indexes `Planted.functions`; the rest as in records.Site."""

    function: int
    kind: str
    node: str
    use: str
    line: int
    col: int
    end_line: int
    end_col: int
    binds: str


class PlannedFunction(NamedTuple):
    """A function whose sites are planted. `line` is that of its first decorator, as in `co_firstlineno`."""

    qualname: str
    line: int
    end_line: int
