"""Takes a place where control was in a function; gives what is begun next, and whether that is certain.

Must not know what else was seen in the call: only the syntax, and the one event it was seen by.
"""

from __future__ import annotations

import ast

from stillframe.reading.branches import Condition, constant_truth
from stillframe.reading.happened import Seen
from stillframe.reading.statements import (
    JUMPS,
    LOOPS,
    SIMPLE_AND_SAFE,
    TRIES,
    WITHS,
    Block,
    Body,
    Defined,
    Span,
    Statement,
    results_of,
    span,
    span_of,
)
from stillframe.records import Site

Next = tuple[Statement | None, bool]  # what is begun next, and whether that is certain; None: nothing can be


class Successors:
    """What follows what in one function."""

    def __init__(self, body: Body, conditions: dict[Span, Condition]) -> None:
        self._body, self._conditions = body, conditions

    def past_silent(self, statement: Statement) -> Next:
        """What comes after a statement that was begun and told nothing; nothing, if it would have told by then."""
        node = statement.node
        if isinstance(node, TRIES):
            return first_of(statement.part("body")), True
        if isinstance(node, ast.If | ast.While):
            truth = constant_truth(node.test)
            return (None, False) if truth is None else (self._chosen(statement, truth), True)
        if isinstance(node, JUMPS) or statement.tells:
            return None, False
        if isinstance(node, ast.ClassDef):
            return first_of(statement.part("body")), False
        following, sure = self.following(statement)
        return following, sure and _is_safe(node)

    def after(self, last: Seen) -> Next:
        """What is begun after an event, and whether that is certain."""
        statement, site = last.statement, last.site
        node = statement.node
        if isinstance(node, ast.Break | ast.Continue):
            return self._jumped(statement)
        if site is None or isinstance(node, JUMPS):
            return None, False
        if site.id in self._body.handler_of:
            return first_of(self._body.handler_of[site.id]), True
        if isinstance(node, ast.If | ast.While):
            condition = self._conditions.get(span_of(site))
            if site.kind != "test" or last.truth is None or condition is None or condition.test is not node.test:
                return None, False
            outcome = condition.outcome(span_of(site), last.truth)
            return (None, False) if outcome is None else (self._chosen(statement, outcome), True)
        if isinstance(node, ast.For | ast.AsyncFor):
            if site.kind == "bind" and site.use == "iterate":
                return first_of(statement.part("body")), True
            told = any(one.kind == "bind" and one.use == "iterate" for one in statement.sites)
            return (self._chosen(statement, False), False) if told else (first_of(statement.part("body")), False)
        if isinstance(node, WITHS):
            last_item = node.items[-1].optional_vars
            return first_of(statement.part("body")), site.kind == "bind" and last_item is not None and _ends(site, last_item)
        if isinstance(node, ast.Match):
            following, _ = self.following(statement)
            return following, False
        return self._after_simple(statement, site, last.fits)

    def _after_simple(self, statement: Statement, site: Site, fits: bool) -> Next:
        node = statement.node
        following, sure = self.following(statement)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if site.kind == "store":
                return following, sure and len(targets) == 1 and isinstance(targets[0], ast.Subscript)
            one_by_one = _told_one_by_one(statement, node.value)
            value = one_by_one[-1] if one_by_one else node.value
            done = site.kind == "bind" or (site.kind == "value" and _is_result(site, value))
            if not done:
                return (following, False) if _tells_late(node) else (None, False)
            fits = fits or bool(one_by_one)
            safe = all(isinstance(target, ast.Name) or (fits and _is_names(target)) for target in targets)
            return following, sure and safe
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Yield | ast.YieldFrom) or not results_of(node.value):
                return following, False
            return (following, sure) if site.kind == "value" and _is_result(site, node.value) else (None, False)
        if isinstance(node, ast.AugAssign):
            if site.kind in ("bind", "store"):
                return following, sure
            return (None, False) if any(one.kind in ("bind", "store") for one in statement.sites) else (following, False)
        return following, False

    def _chosen(self, statement: Statement, outcome: bool) -> Statement | None:
        """Where an `if` or a loop goes on."""
        part = statement.part("body" if outcome else "orelse")
        return first_of(part) if part is not None else self.following(statement)[0]

    def following(self, statement: Statement) -> Next:
        """What is begun once a statement has come to its end."""
        sure = True
        while statement.following is None:
            owner, part = statement.block.owner, statement.block.part
            if owner is None:
                return None, False
            if isinstance(owner.node, LOOPS) and part == "body":
                return self._round(owner)
            if isinstance(owner.node, TRIES) and part != "finalbody":
                onward = [owner.part("orelse")] if part == "body" else []
                block = next((one for one in [*onward, owner.part("finalbody")] if one is not None), None)
                if block is not None:
                    return first_of(block), sure
            if isinstance(owner.node, (*WITHS, *TRIES, ast.ClassDef)):
                sure = sure and isinstance(owner.node, TRIES) and part != "finalbody"
            statement = owner
        return statement.following, sure

    def _jumped(self, jump: Statement) -> Next:
        """What is begun after a `break` or `continue`, if no `finally` or `with` is on the way: what follows the loop,
        or a round.
        """
        loop = loop_of(jump)
        between = jump.above[: jump.above.index(loop)] if loop in jump.above else ()
        if any(isinstance(owner.node, (*WITHS, *TRIES)) for owner in between):
            return None, False
        return self.following(loop) if isinstance(jump.node, ast.Break) else self._round(loop)

    def _round(self, loop: Statement) -> Next:
        """What is begun once the body of a loop has come to its end, and nothing tells of another round."""
        if isinstance(loop.node, ast.While):
            return (first_of(loop.part("body")), True) if constant_truth(loop.node.test) else (None, False)
        return self._chosen(loop, False), False


def first_of(block: Block | None) -> Statement | None:
    return block.statements[0] if block is not None and block.statements else None


def loop_of(jump: Statement) -> Statement:
    """The loop that a `break` or `continue` is for. One in the `else` of a loop is for the loop around that."""
    inner = jump
    for owner in jump.above:
        if isinstance(owner.node, LOOPS) and inner.block.part == "body":
            return owner
        inner = owner
    return jump


def _is_safe(node: ast.stmt) -> bool:
    """Whether a statement that tells nothing cannot raise."""
    if isinstance(node, Defined):
        arguments = node.args
        plain = not node.decorator_list and not arguments.defaults and not any(arguments.kw_defaults)
        return plain and node.returns is None and not any(one.annotation for one in arguments.args + arguments.kwonlyargs)
    return isinstance(node, SIMPLE_AND_SAFE) or (isinstance(node, ast.AnnAssign) and node.value is None)


def _is_result(site: Site, value: ast.expr) -> bool:
    return any(span_of(site) == span(result) for result in results_of(value))


def _told_one_by_one(statement: Statement, value: ast.expr) -> list[ast.expr]:
    """The values of `a, b = c, d` if each was told with its own name, as where Python makes no tuple of them."""
    if not isinstance(value, ast.Tuple):
        return []
    told = {span_of(site) for site in statement.sites if site.use == "assign"}
    own = any(span(result) in told for element in value.elts for result in results_of(element))
    return value.elts if own else []


def _tells_late(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether the value is an `and` or `or`, of which only operands tell, and no name tells what it was bound to."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return isinstance(node.value, ast.BoolOp) and not all(isinstance(target, ast.Name) for target in targets)


def _is_names(target: ast.expr) -> bool:
    return isinstance(target, ast.Tuple | ast.List) and all(isinstance(one, ast.Name) for one in target.elts)


def _ends(site: Site, target: ast.expr) -> bool:
    return span_of(site) == span(target)
