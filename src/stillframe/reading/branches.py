"""Takes the truth of a condition's operands; gives the outcome of the whole condition, or says that it was not reached.

Must not know of frames: only the syntax of conditions, and one operand's truth at a time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from stillframe.reading.statements import Body, Span, own_expressions, span


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in a function: of an `if`, `while`, `assert`, ternary, comprehension or guard. `operands` by their
    places.
    """

    test: ast.expr
    of: str
    line: int
    operands: dict[Span, ast.expr]

    def outcome(self, place: Span, truth: bool) -> bool | None:
        """The truth of the whole once the operand at `place` had this truth; None if a further operand had to be asked.

        As Python asks operands in order and stops when it knows, the last one asked decides, whatever those before
        were.
        """
        return _climb(self.test, self.operands[place], truth)


def conditions_in(body: Body) -> dict[Span, Condition]:
    """The conditions of a function, each under the places of all its operands."""
    found: dict[Span, Condition] = {}
    for statement in body.statements:
        for of, test in _tests(statement.node):
            operands = {span(operand): operand for operand in operands_of(test)}
            found.update(dict.fromkeys(operands, Condition(test, of, test.lineno, operands)))
    return found


def constant_truth(test: ast.expr) -> bool | None:
    """The truth of a condition that no run decides, None for all others."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = constant_truth(test.operand)
        return None if inner is None else not inner
    return None


def operands_of(test: ast.expr) -> Iterator[ast.expr]:
    """The operands whose truth is asked for."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from operands_of(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from operands_of(test.operand)
    elif not isinstance(test, ast.Constant):
        yield test


def _tests(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.If | ast.While | ast.Assert):
        yield type(node).__name__.lower(), node.test
    if isinstance(node, ast.Match):
        yield from (("case", case.guard) for case in node.cases if case.guard is not None)
    for inner in own_expressions(node):
        if isinstance(inner, ast.IfExp):
            yield "ternary", inner.test
        elif isinstance(inner, ast.comprehension):
            yield from (("comprehension", test) for test in inner.ifs)


def _climb(test: ast.expr, operand: ast.expr, truth: bool) -> bool | None:
    """The outcome of `test`, in which `operand` is the last one that was asked."""
    if test is operand:
        return truth
    if isinstance(test, ast.UnaryOp):
        inner = _climb(test.operand, operand, truth)
        return None if inner is None else not inner
    assert isinstance(test, ast.BoolOp)
    decisive = isinstance(test.op, ast.Or)
    at = next(at for at, value in enumerate(test.values) if _holds(value, operand))
    outcome = _climb(test.values[at], operand, truth)
    for value in test.values[at + 1 :]:
        if outcome is None or outcome is decisive:
            return outcome
        outcome = constant_truth(value)
    return outcome


def _holds(test: ast.expr, operand: ast.expr) -> bool:
    return any(one is operand for one in operands_of(test))
