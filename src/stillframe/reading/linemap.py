"""Takes a function's statements and what its calls did; gives what each source line is, and how it went.

Must not know of values: only of lines, statements and blocks.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from stillframe.reading.execution import Execution
from stillframe.reading.statements import Block, Body, Statement

Outcome = Literal["ran", "not_run", "unknown"]
RAN: Outcome = "ran"
NOT_RUN: Outcome = "not_run"
UNKNOWN: Outcome = "unknown"

_KEYWORDS = {"orelse": "else", "finalbody": "finally"}


@dataclass(frozen=True, slots=True)
class LineKind:
    """`kind`: code, continued, blank, comment or docstring. `owners`: the statements and blocks that say how the line
    went.
    """

    kind: str
    owners: tuple[Hashable, ...] = ()


def outcomes_of(body: Body, executions: Sequence[Execution], calls: Sequence[object], complete: bool) -> dict[object, Outcome]:
    """How each statement and block of the function went, over all its calls; `None` stands for the call itself."""
    certain = {one for execution in executions for one in execution.certain}
    maybe = {one for execution in executions for one in execution.maybe}
    entered = {one for execution in executions for one in execution.entered}
    otherwise = NOT_RUN if complete else UNKNOWN
    found: dict[object, Outcome] = {None: RAN if calls else otherwise}
    for statement in body.statements:
        found[statement] = RAN if statement in certain else UNKNOWN if statement in maybe else otherwise
    for statement in body.statements:
        for block in statement.blocks:
            found[block] = _of_block(block, found, entered, otherwise)
        _settle_heads(statement, found)
    return found


def line_kinds(body: Body, lines: Sequence[str]) -> dict[int, LineKind]:
    """What each line of a function is. Lines of functions within it are as the outer one sees them."""
    function = body.function
    numbers = range(function.line, min(function.end_line, len(lines)) + 1)
    if function.qualname == "<module>":
        numbers = range(1, len(lines) + 1 - (lines[-1:] == [""]))
    if body.node is None:
        return {number: LineKind("blank" if not lines[number - 1].strip() else "code") for number in numbers}
    owners: dict[int, list[Hashable]] = {}
    begins: set[int] = set()
    for line, owner, first in _owned(body, lines):
        owners.setdefault(line, []).append(owner)
        if first:
            begins.add(line)
    docstrings, within = _texts(body.node)
    return {number: _kind(number, lines[number - 1], owners, begins, docstrings, within) for number in numbers}


def _kind(
    number: int, text: str, owners: dict[int, list[Hashable]], begins: set[int], docstrings: set[int], within: set[int]
) -> LineKind:
    if number in docstrings and number not in begins:
        return LineKind("docstring")
    if number not in within and (not text.strip() or text.lstrip().startswith("#")):
        return LineKind("comment" if text.strip() else "blank")
    return LineKind("code" if number in begins else "continued", tuple(owners.get(number, ())))


def _owned(body: Body, lines: Sequence[str]) -> Iterator[tuple[int, Hashable, bool]]:
    """Lines with what says how they went, and whether it begins there."""
    if not isinstance(body.node, ast.Module) and body.node is not None:
        first = body.node.body[0]
        last = max(body.node.lineno, getattr(first, "lineno", 1) - 1)
        for line in range(body.function.line, last + 1):
            yield line, None, line in (body.function.line, body.node.lineno)
    for statement in body.statements:
        own = statement.lines
        for line in own:
            yield line, statement, line in (own[0], statement.node.lineno)
        for block in statement.blocks:
            keyword = _keyword_line(block, lines)
            if keyword and keyword not in own:
                yield keyword, block, True


def _keyword_line(block: Block, lines: Sequence[str]) -> int:
    """The line of `else:`, `finally:`, `except …:` or `case …:`, 0 if the block has none of its own."""
    if isinstance(block.head, ast.ExceptHandler):
        return block.head.lineno
    if isinstance(block.head, ast.match_case):
        return block.head.pattern.lineno
    keyword = _KEYWORDS.get(block.part)
    if keyword is None or not block.statements or block.owner is None:
        return 0
    first = block.statements[0].lines[0]
    for line in range(first, block.owner.node.lineno, -1):
        text = lines[line - 1].strip()
        if text.startswith(keyword) and text[len(keyword) :].lstrip().startswith(":"):
            return line
        if text.startswith("elif"):
            return 0
    return 0


def _of_block(block: Block, found: dict[object, Outcome], entered: set[Block], otherwise: Outcome) -> Outcome:
    if block in entered:
        return RAN
    return found[block.statements[0]] if block.statements else UNKNOWN if otherwise is UNKNOWN else NOT_RUN


def _settle_heads(statement: Statement, found: dict[object, Outcome]) -> None:
    """The heads of handlers and cases before one that was entered were asked, too."""
    heads = [block for block in statement.blocks if block.head is not None]
    last = max((at for at, block in enumerate(heads) if found[block] is RAN), default=-1)
    for block in heads[:last]:
        found[block] = RAN
    if last < 0 and heads and isinstance(statement.node, ast.Match) and found[statement] is RAN:
        for block in heads:
            found[block] = UNKNOWN


def _texts(node: ast.AST) -> tuple[set[int], set[int]]:
    """The lines of docstrings and other bare constants, and those that begin within a text of several lines."""
    docstrings: set[int] = set()
    within: set[int] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            docstrings.update(_lines_of(one))
        if isinstance(one, ast.Constant | ast.JoinedStr):
            within.update(_lines_of(one)[1:])
    return docstrings, within - docstrings


def _lines_of(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
