"""Takes a syntax tree; plants an observer at every place worth knowing, and gives the list of those places.

Knows no torch, no run and no recording: pure syntax. Whoever compiles the tree puts real observers where the markers stand.

How a place is watched: the expression `E` becomes `MARKER(site, E)`, a call of a constant. Evaluation order and the number
of evaluations stay as in the source. The plumbing takes line numbers that the neighbouring instructions have already, so
that line events, tracebacks and carets stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stillframe.capture.places import PlannedFunction, PlannedSite
from stillframe.capture.planter import Planter
from stillframe.capture.syntax import blocks_of, first_line_of, outer_lambdas


@dataclass(frozen=True, slots=True)
class Planted:
    """What was planted: site i is `sites[i]`, and its `function` indexes `functions`."""

    functions: tuple[PlannedFunction, ...]
    sites: tuple[PlannedSite, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A top-level function, method or lambda, the smallest thing that is woven: its qualified name and first line (0: any)."""

    qualname: str
    line: int


def prune(tree: ast.Module, units: Iterable[Unit] | None = None) -> None:
    """Leave only the functions of `units` (all, if None) in a tree: enough to take their code from."""
    tree.body = _pruned(tree.body, "", None if units is None else frozenset(units))


def plant(
    tree: ast.Module, source: str, *, module_body: bool = False, watch: Callable[[PlannedSite], bool] | None = None
) -> Planted:
    """Plant observers in every function of `tree`, in place, and in the module's own statements if `module_body`.

    `watch` may decline single sites: those are left as they are in the source. A call's arguments go with the call.
    """
    planter = Planter(tree, source, watch)
    if module_body:
        planter.module(tree)
    else:
        for statement in tree.body:
            planter.definition(statement, "")
    return Planted(tuple(planter.functions), tuple(planter.sites))


def units_of(source: str) -> tuple[Unit, ...]:
    """Every unit of a file, in the order of the text. Raises SyntaxError."""
    found: list[Unit] = []
    _pruned(ast.parse(source).body, "", None, found)
    return tuple(found)


def _pruned(
    body: Sequence[ast.stmt], prefix: str, chosen: frozenset[Unit] | None, found: list[Unit] | None = None
) -> list[ast.stmt]:
    """The definitions of chosen units in `body`, lifted out of `if`, `try` and the like, within their classes."""
    kept: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            unit = Unit(prefix + statement.name, first_line_of(statement))
            if found is not None:
                found.append(unit)
            if chosen is None or unit in chosen or Unit(unit.qualname, 0) in chosen:
                kept.append(statement)
        elif isinstance(statement, ast.ClassDef):
            statement.body = _pruned(statement.body, f"{prefix}{statement.name}.", chosen, found)
            if statement.body:
                kept.append(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            kept.append(statement)  # the compiler calls methods of imported modules in another way
        elif blocks := blocks_of(statement):
            for nested in blocks:
                kept.extend(_pruned(nested, prefix, chosen, found))
        else:
            units = {Unit(f"{prefix}<lambda>", one.lineno) for one in outer_lambdas(statement)}
            if found is not None:
                found.extend(sorted(units, key=lambda unit: unit.line))
            if units and (chosen is None or units & chosen or Unit(f"{prefix}<lambda>", 0) in chosen):
                kept.append(statement)
    return kept
