"""Takes a syntax tree; rewrites it in place so that every place worth knowing tells an observer, and lists those places.

Knows no file, no compiler and no run. What the markers mean is said in `places`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from stillframe.capture.expressions import JUMPS_STAND_AT_DECIDER, ExpressionPlanter, Scope, call_of, number_of
from stillframe.capture.places import (
    BASE,
    CAUGHT,
    MARK,
    STORED,
    VALUE,
)
from stillframe.capture.syntax import (
    COMPREHENSIONS_ARE_INLINED,
    EAGER_COMPREHENSIONS,
    NOWHERE,
    Comprehension,
    Place,
    blocks_of,
    declared,
    first_body_line,
    first_line_of,
    is_exchange,
    is_future_import,
    last_pattern,
    names_of,
    on_line,
    outer_lambdas,
    place_of,
    plumbing_of,
    put,
    readable,
)


class Planter(ExpressionPlanter):
    """Walks a tree once and rewrites it in place."""

    # ---- definitions

    def module(self, tree: ast.Module) -> None:
        """Plant the module's own statements, and every function in it."""
        names, volatile = names_of(tree)
        volatile |= declared(tree, ast.Global)
        end = max((s.end_lineno or s.lineno for s in tree.body), default=1)
        self._scope = Scope(self._function("<module>", 1, end), "", names, volatile)
        tree.body = self._body(tree.body, leading=True)

    def definition(self, node: ast.stmt, prefix: str) -> None:
        """Plant a function, a class's methods, or the lambdas of another statement of a class or module."""
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                self.definition(statement, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._def(node, prefix)
        elif blocks := blocks_of(node):
            for block in blocks:
                for statement in block:
                    self.definition(statement, prefix)
        else:
            outer = self._scope
            self._scope = Scope(0, prefix, frozenset(), frozenset())
            for inner in outer_lambdas(node):
                self._lambda(inner)
            self._scope = outer

    def _def(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> None:
        outer, names = self._scope, names_of(node)
        qualname = prefix + node.name
        function = self._function(qualname, first_line_of(node), node.end_lineno or node.lineno)
        self._scope = Scope(function, qualname + ".<locals>.", *names)
        node.body = self._body(node.body, leading=True, arguments=node.args, owner=node)
        self._scope = outer

    # ---- statements

    def _body(
        self,
        body: list[ast.stmt],
        *,
        leading: bool = False,
        arguments: ast.arguments | None = None,
        owner: ast.AST | None = None,
    ) -> list[ast.stmt]:
        planted: list[ast.stmt] = []
        if leading:
            keep = 0
            if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                keep = 1 if isinstance(body[0].value.value, str) else 0
            while keep < len(body) and is_future_import(body[keep]):
                keep += 1
            planted += body[:keep]
            body = body[keep:]
            if body or owner is not None:
                line = first_body_line(body, owner)
                enter = self._enter(owner or ast.Module([], []), arguments, line)
                if enter is not None:
                    planted.append(_statement(enter, on_line(line)))
        for statement in body:
            planted.extend(self._statement(statement))
        return planted

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        handler = _STATEMENTS.get(type(node))
        return handler(self, node) if handler else [node]

    def _plain_expression(self, node: ast.Expr) -> list[ast.stmt]:
        if isinstance(node.value, EAGER_COMPREHENSIONS):
            self._comprehended(node.value)  # nobody gets the value
        elif not isinstance(node.value, ast.Constant):
            node.value = self._expr(node.value, "expression")
        return [node]

    def _return(self, node: ast.Return) -> list[ast.stmt]:
        value = node.value
        if value is None:
            value = ast.copy_location(ast.Constant(None), node)
        node.value = self._expr(value, "return")
        return [node]

    def _assign(self, node: ast.Assign) -> list[ast.stmt]:
        return self._assignment(node, node.targets)

    def _annotated(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return [node] if node.value is None else self._assignment(node, [node.target])

    def _assignment(self, node: ast.Assign | ast.AnnAssign, targets: list[ast.expr]) -> list[ast.stmt]:
        binds = " = ".join(self._text(target) for target in targets)
        value = node.value
        assert value is not None
        match targets, value:
            case [ast.Tuple() | ast.List() as target], ast.Tuple() if is_exchange(target, value):
                return [node, *self._exchange(target, value)]
            case [ast.Name() as name], ast.ListComp() | ast.SetComp() | ast.DictComp() if (
                COMPREHENSIONS_ARE_INLINED and name.id not in self._scope.volatile
            ):
                return [node, *self._stored_comprehension(value, name)]
        late = isinstance(value, ast.BoolOp)
        node.value = self._expr(value, "operand" if late else "assign", "" if late else binds)
        after = [extra for target in targets for extra in self._target(target)]
        if late:
            after += [extra for target in targets for extra in self._bound(target, "assign")]
        return [node, *after]

    def _exchange(self, target: ast.Tuple | ast.List, value: ast.Tuple) -> list[ast.stmt]:
        """Plant in `a, b = c, d`, of which the compiler makes no tuple: each name gets its value."""
        after: list[ast.stmt] = []
        for index, (to, element) in enumerate(zip(target.elts, value.elts, strict=True)):
            if COMPREHENSIONS_ARE_INLINED and isinstance(element, EAGER_COMPREHENSIONS) and element is value.elts[-1]:
                after += self._stored_comprehension(element, to)
                after += self._target(to)
                continue
            late = isinstance(element, ast.BoolOp)
            value.elts[index] = self._expr(element, "operand" if late else "assign", "" if late else self._text(to))
            after += self._target(to)
            if late:
                after += self._bound(to, "assign")
        return after

    def _stored_comprehension(self, value: Comprehension, target: ast.expr) -> list[ast.stmt]:
        """Plant in `name = [...]`: the compiler stores the result before it lets go of the variables of the comprehension."""
        self._comprehended(value)
        if not isinstance(target, ast.Name):
            return []
        site = self._site("value", value, "assign", target.id)
        return [] if site is None else [self._observation(VALUE, site, ast.Name(target.id, ast.Load()))]

    def _augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        node.value = self._expr(node.value, "operand")
        if isinstance(node.target, ast.Name):
            return [node, *self._bound(node.target, "assign", node)]
        return [node, *self._target(node.target)]

    def _target(self, target: ast.expr) -> list[ast.stmt]:
        """Plant in what a target evaluates, and give the statements that tell what was written."""
        if isinstance(target, ast.Tuple | ast.List):
            return [extra for element in target.elts for extra in self._target(element)]
        if isinstance(target, ast.Starred):
            return self._target(target.value)
        if isinstance(target, ast.Attribute):
            target.value = self._expr(target.value, "subject")
            return []
        if not isinstance(target, ast.Subscript):
            return []
        target.slice = self._expr(target.slice, "index")
        base = target.value
        if isinstance(base, ast.Name):
            site = self._site("store", target, "target", base.id)
            return [] if site is None else [self._observation(VALUE, site, ast.Name(base.id, ast.Load(), **NOWHERE))]
        binds = self._text(base)
        target.value = self._expr(base, "target")
        site = self._site("store", target, "target", binds)
        if site is None:
            return []
        target.value = call_of(
            BASE, [number_of(site, place_of(target)), target.value], plumbing_of(target.value), place_of(target)
        )
        return [_statement(call_of(STORED, [number_of(site, NOWHERE)], NOWHERE, NOWHERE), NOWHERE)]

    def _bound(self, target: ast.expr, use: str, spanning: ast.AST | None = None) -> list[ast.stmt]:
        """The statement that tells what the names of `target` are bound to now."""
        names = readable(target)
        if names is None:
            return []
        site = self._site("bind", spanning or target, use, self._text(target))
        return [] if site is None else [self._observation(VALUE, site, names)]

    def _observation(self, marker: str, site: int, value: ast.expr) -> ast.stmt:
        for node in ast.walk(value):
            put(node, NOWHERE)
        return _statement(call_of(self._marker(marker), [number_of(site, NOWHERE), value], NOWHERE, NOWHERE), NOWHERE)

    def _for(self, node: ast.For | ast.AsyncFor) -> list[ast.stmt]:
        node.iter = self._used(node.iter, "iterate")
        written = self._target(node.target)
        node.body = self._bound(node.target, "iterate") + written + self._body(node.body)
        node.orelse = self._body(node.orelse)
        return [node]

    def _while(self, node: ast.While) -> list[ast.stmt]:
        node.test = self._decision(node.test, node)
        node.body, node.orelse = self._body(node.body), self._body(node.orelse)
        return [node]

    def _if(self, node: ast.If) -> list[ast.stmt]:
        node.test = self._decision(node.test, node)
        node.body, node.orelse = self._body(node.body), self._body(node.orelse)
        return [node]

    def _with(self, node: ast.With | ast.AsyncWith) -> list[ast.stmt]:
        bound: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self._used(item.context_expr, "context")
            if item.optional_vars is not None:
                bound += self._target(item.optional_vars)
                bound += self._bound(item.optional_vars, "context")
        node.body = bound + self._body(node.body)
        return [node]

    def _try(self, node: ast.Try) -> list[ast.stmt]:
        node.body = self._body(node.body)
        for handler in node.handlers:
            site = self._site("except", handler, "", handler.name or "")
            caught: list[ast.stmt] = []
            if site is not None:
                place = on_line(handler.lineno)
                caught.append(ast.Expr(call_of(CAUGHT, [number_of(site, place)], place, place), **place))
            handler.body = caught + self._body(handler.body)
        node.orelse, node.finalbody = self._body(node.orelse), self._body(node.finalbody)
        return [node]

    def _match(self, node: ast.Match) -> list[ast.stmt]:
        node.subject = self._expr(node.subject, "match")
        for case in node.cases:
            if case.guard is not None:
                case.guard = self._decision(case.guard, last_pattern(case.pattern))
            case.body = self._mark("case", case.pattern, NOWHERE) + self._body(case.body)
        return [node]

    def _mark(self, kind: str, node: ast.AST, place: Place) -> list[ast.stmt]:
        site = self._site(kind, node, "")
        return [] if site is None else [_statement(call_of(MARK, [number_of(site, place)], place, place), place)]

    def _jump(self, node: ast.Break | ast.Continue) -> list[ast.stmt]:
        return [*self._mark("mark", node, on_line(node.lineno)), node]

    def _raise(self, node: ast.Raise) -> list[ast.stmt]:
        if node.exc is not None:
            node.exc = self._expr(node.exc, "argument")
        if node.cause is not None:
            node.cause = self._expr(node.cause, "argument")
        return [node]

    def _assert(self, node: ast.Assert) -> list[ast.stmt]:
        outer = self._decider, self._first_decider
        of_lines = node.lineno != node.test.end_lineno
        self._decider, self._first_decider = place_of(node), 0 if of_lines else node.lineno
        node.test = self._test(node.test)
        if JUMPS_STAND_AT_DECIDER:  # the error is raised where the last truth was asked for
            put(node, self._decider)
        self._decider, self._first_decider = outer
        if node.msg is not None:
            node.msg = self._expr(node.msg, "argument")
        return [node]

    def _delete(self, node: ast.Delete) -> list[ast.stmt]:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                target.value, target.slice = self._expr(target.value, "subject"), self._expr(target.slice, "index")
            elif isinstance(target, ast.Attribute):
                target.value = self._expr(target.value, "subject")
        return [node]

    def _nested(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.stmt]:
        self.definition(node, self._scope.qualname)
        return [node]


_STATEMENTS: dict[type[ast.stmt], Callable[..., list[ast.stmt]]] = {
    ast.Expr: Planter._plain_expression,
    ast.Return: Planter._return,
    ast.Assign: Planter._assign,
    ast.AnnAssign: Planter._annotated,
    ast.AugAssign: Planter._augmented,
    ast.For: Planter._for,
    ast.AsyncFor: Planter._for,
    ast.While: Planter._while,
    ast.If: Planter._if,
    ast.With: Planter._with,
    ast.AsyncWith: Planter._with,
    ast.Try: Planter._try,
    ast.TryStar: Planter._try,
    ast.Match: Planter._match,
    ast.Break: Planter._jump,
    ast.Continue: Planter._jump,
    ast.Raise: Planter._raise,
    ast.Assert: Planter._assert,
    ast.Delete: Planter._delete,
    ast.FunctionDef: Planter._nested,
    ast.AsyncFunctionDef: Planter._nested,
    ast.ClassDef: Planter._nested,
}


def _statement(call: ast.expr, place: Place) -> ast.stmt:
    return ast.Expr(call, **place)
