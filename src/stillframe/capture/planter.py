"""Takes a syntax tree; rewrites it in place so that every place worth knowing tells an observer, and lists those places.

Knows no file, no compiler and no run. What the markers mean is said in `sites`.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass

from stillframe.capture.places import (
    BASE,
    CAUGHT,
    ENTER,
    HELD,
    INNER,
    MARK,
    METHOD,
    SITE,
    STORED,
    VALUE,
    PlannedFunction,
    PlannedSite,
)
from stillframe.capture.syntax import (
    COMPREHENSIONS_ARE_INLINED,
    NOWHERE,
    Comprehension,
    before,
    blocks_of,
    declared,
    first_body_line,
    first_line,
    first_line_of,
    is_bool,
    is_exchange,
    is_plain_comparison,
    is_future_import,
    last_pattern,
    module_definitions,
    names_of,
    on_line,
    parameters_of,
    place_of,
    plumbing_of,
    put,
    readable,
    root_of,
    target_names,
)

_ALWAYS_SEEN = frozenset({"assign", "return", "yield", "operand", "iterate", "context", "match"})
JUMPS_STAND_AT_DECIDER = sys.version_info < (3, 12)  # where a truth is asked for: at the `if`, or at its operand
COMPARED_WITHIN_NOT = sys.version_info >= (3, 13)  # `not a == b` compares where the `not` is: one instruction does both
USE_STANDS_AT_EXPRESSION = sys.version_info >= (3, 13)  # where `next`, `__enter__` and `__exit__` are called
_BUILTINS = frozenset(dir(builtins))


@dataclass(slots=True)
class _Scope:
    """What is known of the function being planted: which names are its own, and which may change behind its back."""

    function: int
    qualname: str
    local_names: frozenset[str]
    volatile: frozenset[str]
    comprehension_names: frozenset[str] = frozenset()
    inner: bool = False


class Planter:
    """Walks a tree once and rewrites it in place."""

    def __init__(self, plain: ast.Module, text: str, watch: Callable[[PlannedSite], bool] | None) -> None:
        self.functions: list[PlannedFunction] = []
        self.sites: list[PlannedSite] = []
        self._watch = watch
        self._lines = text.splitlines()
        self._scope = _Scope(0, "", frozenset(), frozenset())
        self._known_names = module_definitions(plain.body) | _BUILTINS
        self._decider = on_line(1)
        self._first_decider = 1

    # ---- definitions

    def module(self, tree: ast.Module) -> None:
        """Plant the module's own statements, and every function in it."""
        names, volatile = names_of(tree)
        volatile |= declared(tree, ast.Global)
        end = max((s.end_lineno or s.lineno for s in tree.body), default=1)
        self._scope = _Scope(self._function("<module>", 1, end), "", names, volatile)
        tree.body = self._body(tree.body, leading=True)

    def definition(self, node: ast.stmt, prefix: str) -> None:
        """Plant a class's methods or a function."""
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                self.definition(statement, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._def(node, prefix)
        else:
            for block in blocks_of(node):
                for statement in block:
                    self.definition(statement, prefix)

    def _def(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> None:
        outer, names = self._scope, names_of(node)
        qualname = prefix + node.name
        function = self._function(qualname, first_line_of(node), node.end_lineno or node.lineno)
        self._scope = _Scope(function, qualname + ".<locals>.", *names)
        node.body = self._body(node.body, leading=True, arguments=node.args, owner=node)
        self._scope = outer

    def _lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, names = self._scope, names_of(node)
        qualname = self._scope.qualname + "<lambda>"
        function = self._function(qualname, node.lineno, node.end_lineno or node.lineno)
        self._scope = _Scope(function, qualname + ".<locals>.", *names)
        line = first_line(node.body)
        enter = self._enter(node, node.args, line)
        body = self._expr(node.body, "return")
        if enter is not None:
            place = on_line(line)
            body = ast.BoolOp(ast.Or(), [enter, body], **place)
        node.body = body
        self._scope = outer
        return node

    def _function(self, qualname: str, line: int, end_line: int) -> int:
        self.functions.append(PlannedFunction(qualname, line, end_line))
        return len(self.functions) - 1

    def _enter(self, node: ast.AST, arguments: ast.arguments | None, line: int) -> ast.expr | None:
        """The call that tells of a new frame and its arguments."""
        parameters = parameters_of(arguments) if arguments else []
        site = self._site("enter", node, "")
        if site is None:
            return None
        for parameter in parameters:
            self._site("param", parameter, "", parameter.arg)
        place = on_line(line)
        names = [ast.Name(parameter.arg, ast.Load(), **place) for parameter in parameters]
        marker = METHOD if parameters and self._is_method(node) else ENTER
        return call_of(marker, [number_of(site, place), *names], place, place)

    def _is_method(self, node: ast.AST) -> bool:
        """Whether a function stands in a class body and is no static method."""
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        owner = self.functions[self._scope.function].qualname.rpartition(".")[0]
        static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
        return bool(owner) and not owner.endswith("<locals>") and not static

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
        if isinstance(node.value, ast.ListComp | ast.SetComp | ast.DictComp):
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
        late = isinstance(value, ast.BoolOp)
        if is_exchange(targets, value):
            return [node, *self._exchange(targets[0], value)]
        if COMPREHENSIONS_ARE_INLINED and isinstance(value, ast.ListComp | ast.SetComp | ast.DictComp):
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id not in self._scope.volatile:
                return [node, *self._stored_comprehension(value, targets[0])]
        node.value = self._expr(value, "operand" if late else "assign", "" if late else binds)
        after = [extra for target in targets for extra in self._target(target)]
        if late:
            after += [extra for target in targets for extra in self._bound(target, "assign")]
        return [node, *after]

    def _exchange(self, target: ast.Tuple | ast.List, value: ast.Tuple) -> list[ast.stmt]:
        """Plant in `a, b = c, d`, of which the compiler makes no tuple: each name gets its value."""
        after: list[ast.stmt] = []
        for index, (to, element) in enumerate(zip(target.elts, value.elts, strict=True)):
            late = isinstance(element, ast.BoolOp)
            value.elts[index] = self._expr(element, "operand" if late else "assign", "" if late else self._text(to))
            after += self._target(to)
            if late:
                after += self._bound(to, "assign")
        return after

    def _stored_comprehension(self, value: Comprehension, target: ast.Name) -> list[ast.stmt]:
        """Plant in `name = [...]`: the compiler stores the result before it lets go of the variables of the comprehension."""
        self._comprehended(value)
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

    def _mark(self, kind: str, node: ast.AST, place: dict[str, int]) -> list[ast.stmt]:
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
        self._decider, self._first_decider = place_of(node), node.lineno
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

    # ---- decisions

    def _decision(self, test: ast.expr, decider: ast.expr | ast.stmt | ast.pattern) -> ast.expr:
        """Plant in the test of `decider`."""
        outer = self._decider, self._first_decider
        self._decider, self._first_decider = place_of(decider), decider.lineno
        test = self._test(test)
        self._decider, self._first_decider = outer
        return test

    def _test(self, node: ast.expr) -> ast.expr:
        """Plant observers at the operands whose truth decides; `and`, `or` and `not` stay as they are."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._test(value) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._test(node.operand)
            return node
        if isinstance(node, ast.IfExp):
            node.test, node.body, node.orelse = self._test(node.test), self._test(node.body), self._test(node.orelse)
            return node
        if isinstance(node, ast.Constant) or isinstance(node, ast.Name) and node.id == "__debug__":
            return node
        original, first = node, before(node)
        if isinstance(node, ast.Compare):
            self._operands(node)
            self._decider = place_of(node)  # as the compiler has it, for the operands after this one too
        else:
            node = self._expr(node, "test")
        site = self._site("test", original, "test")
        if site is None:
            return node
        place = self._decider if JUMPS_STAND_AT_DECIDER else place_of(original)
        if not is_bool(original):  # the truth is asked for once, here instead of by the jump
            node = truth_of(node, place)
        seen: ast.expr = call_of(self._marker(VALUE), [number_of(site, first), node], place, first)
        if JUMPS_STAND_AT_DECIDER and isinstance(original, ast.Compare) and original.lineno != self._first_decider:
            seen = ast.Compare(seen, [ast.IsNot()], [ast.Constant(False, **place)], **place)  # for the jump's line
        return seen

    def _operands(self, node: ast.Compare) -> None:
        node.left = self._expr(node.left, "argument")
        node.comparators = [self._expr(value, "argument") for value in node.comparators]

    # ---- expressions

    def _expr(self, node: ast.expr, use: str, binds: str = "") -> ast.expr:
        """Plant in `node` and, where its value is worth knowing, around it."""
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node, use, binds) if handler else node

    def _used(self, node: ast.expr, use: str) -> ast.expr:
        """The same for an expression on which the statement around it calls `iter`, `next`, `__enter__` or `__exit__`."""
        planted = self._expr(node, use)
        if USE_STANDS_AT_EXPRESSION and planted is not node:
            put(planted, place_of(node))
        return planted

    def _value(self, node: ast.expr, use: str, binds: str, original: ast.expr | None = None) -> ast.expr:
        site = self._site("value", original or node, use, binds)
        return node if site is None else self._wrapped(site, node, original or node)

    def _wrapped(self, site: int, node: ast.expr, original: ast.expr) -> ast.expr:
        first = before(node)
        outer = place_of(original) if original.lineno == original.end_lineno else plumbing_of(original)
        held = isinstance(node, ast.Attribute) or isinstance(node, ast.Name) and node.id not in self._scope.local_names
        return call_of(self._marker(HELD if held else VALUE), [number_of(site, first), node], outer, first)

    def _marker(self, marker: str) -> str:
        return INNER if self._scope.inner else marker

    def _site(self, kind: str, node: ast.AST, use: str, binds: str = "") -> int | None:
        line = getattr(node, "lineno", 1)
        site = PlannedSite(
            self._scope.function,
            kind,
            type(node).__name__,
            use,
            line,
            getattr(node, "col_offset", 0),
            getattr(node, "end_lineno", line),
            getattr(node, "end_col_offset", 0),
            binds,
        )
        if self._watch is not None and not self._watch(site):
            return None
        self.sites.append(site)
        return len(self.sites) - 1

    def _constant(self, node: ast.Constant, use: str, binds: str) -> ast.expr:
        return self._value(node, use, binds) if use in ("assign", "return") else node

    def _name(self, node: ast.Name, use: str, binds: str) -> ast.expr:
        if use == "subject" or use == "expression":
            return node
        name, scope = node.id, self._scope
        if use in _ALWAYS_SEEN or name in scope.volatile or name in scope.comprehension_names:
            return self._value(node, use, binds)
        if name not in scope.local_names and name not in self._known_names:  # a closure's or the module's variable
            return self._value(node, use, binds)
        return node

    def _attribute(self, node: ast.Attribute, use: str, binds: str) -> ast.expr:
        root = root_of(node)
        static = isinstance(root, ast.Name) and root.id not in self._scope.local_names and root.id in self._known_names
        original_value = node.value
        node.value = self._expr(node.value, "subject")
        if use == "chain" or static and use not in ("assign", "return"):
            return node
        if use == "subject" and isinstance(original_value, ast.Name | ast.Attribute):
            return node  # the middle of a dotted name
        return self._value(node, use, binds)

    def _subject(self, node: ast.expr) -> ast.expr:
        """What a method is called on, or an element taken from: a value the result was made of."""
        if isinstance(node, ast.Attribute) and node.attr != "shape":
            return self._expr(node, "receiver")
        return self._expr(node, "subject")

    def _call_expression(self, node: ast.Call, use: str, binds: str) -> ast.expr:
        func = node.func
        if isinstance(func, ast.Attribute):
            func.value = self._subject(func.value)
        elif not isinstance(func, ast.Name):
            node.func = self._expr(func, "subject")
        node.args = [self._expr(argument, "argument") for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self._expr(keyword.value, "argument")
        if isinstance(func, ast.Name) and func.id == "super":
            return node
        return self._value(node, use, binds)

    def _starred(self, node: ast.Starred, use: str, binds: str) -> ast.expr:
        node.value = self._expr(node.value, "argument")
        return node

    def _binary(self, node: ast.BinOp, use: str, binds: str) -> ast.expr:
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        template = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)
        node.left, node.right = self._expr(node.left, "argument"), self._expr(node.right, "argument")
        return node if template and use not in ("assign", "return") else self._value(node, use, binds)

    def _unary(self, node: ast.UnaryOp, use: str, binds: str) -> ast.expr:
        if isinstance(node.operand, ast.Constant):
            return self._value(node, use, binds) if use in ("assign", "return") else node
        operand = node.operand
        merged = COMPARED_WITHIN_NOT and isinstance(node.op, ast.Not) and is_plain_comparison(operand)
        if merged and operand.lineno != node.lineno:
            self._operands(operand)
            return self._value(node, use, binds)
        node.operand = self._expr(operand, "argument")
        planted = self._value(node, use, binds)
        if merged:
            put(operand, place_of(node))
        return planted

    def _compare(self, node: ast.Compare, use: str, binds: str) -> ast.expr:
        self._operands(node)
        return self._value(node, use, binds)

    def _boolean(self, node: ast.BoolOp, use: str, binds: str) -> ast.expr:
        """Each operand that is evaluated is seen; the last of them is the value."""
        inner = "return" if use == "return" else "operand"
        node.values = [self._expr(value, inner) for value in node.values]
        return node

    def _ternary(self, node: ast.IfExp, use: str, binds: str) -> ast.expr:
        """The arm that is evaluated is the value: it takes the use and the names."""
        node.test = self._decision(node.test, node)
        node.body, node.orelse = self._expr(node.body, use, binds), self._expr(node.orelse, use, binds)
        return node

    def _subscript(self, node: ast.Subscript, use: str, binds: str) -> ast.expr:
        node.value = self._subject(node.value)
        node.slice = self._expr(node.slice, "index")
        return self._value(node, use, binds)

    def _slice(self, node: ast.Slice, use: str, binds: str) -> ast.expr:
        node.lower = self._expr(node.lower, "index") if node.lower else None
        node.upper = self._expr(node.upper, "index") if node.upper else None
        node.step = self._expr(node.step, "index") if node.step else None
        return node

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set, use: str, binds: str) -> ast.expr:
        inner = "index" if use == "index" else "argument"
        node.elts = [self._expr(element, inner) for element in node.elts]
        return self._value(node, use, binds) if use in _ALWAYS_SEEN else node

    def _dict(self, node: ast.Dict, use: str, binds: str) -> ast.expr:
        node.keys = [self._expr(key, "argument") if key else None for key in node.keys]
        node.values = [self._expr(value, "argument") for value in node.values]
        return self._value(node, use, binds) if use in _ALWAYS_SEEN else node

    def _named(self, node: ast.NamedExpr, use: str, binds: str) -> ast.expr:
        late = isinstance(node.value, ast.BoolOp)
        names = node.target.id if not binds else f"{binds} = {node.target.id}"
        if late:
            node.value = self._expr(node.value, "operand")
            return self._value(node, "assign", names)
        node.value = self._expr(node.value, "assign", names)
        return node

    def _await(self, node: ast.Await, use: str, binds: str) -> ast.expr:
        node.value = self._expr(node.value, "argument")
        return self._value(node, use, binds)

    def _yield(self, node: ast.Yield, use: str, binds: str) -> ast.expr:
        if node.value is not None:
            node.value = self._expr(node.value, "yield")
        return node if use == "expression" else self._value(node, use, binds)

    def _yield_from(self, node: ast.YieldFrom, use: str, binds: str) -> ast.expr:
        node.value = self._expr(node.value, "argument")
        return node if use == "expression" else self._value(node, use, binds)

    def _lambda_expression(self, node: ast.Lambda, use: str, binds: str) -> ast.expr:
        planted: ast.expr = self._lambda(node)
        return self._value(planted, use, binds) if use == "assign" else planted

    def _comprehension(self, node: Comprehension, use: str, binds: str) -> ast.expr:
        self._comprehended(node)
        return node if isinstance(node, ast.GeneratorExp) else self._value(node, use, binds)

    def _comprehended(self, node: Comprehension) -> None:
        """Plant within a comprehension."""
        scope = self._scope
        outer = scope.comprehension_names, scope.inner
        first, *rest = node.generators
        first.iter = self._used(first.iter, "iterate")
        names = frozenset(name for generator in node.generators for name in target_names(generator.target))
        scope.comprehension_names, scope.inner = outer[0] | names, True
        for generator in rest:
            generator.iter = self._used(generator.iter, "argument")
        for generator in node.generators:
            generator.ifs = [self._decision(test, node) for test in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self._expr(node.key, "argument"), self._expr(node.value, "argument")
        else:
            node.elt = self._expr(node.elt, "argument")
        scope.comprehension_names, scope.inner = outer

    def _text(self, node: ast.expr) -> str:
        """The source text of a node, on one line."""
        if isinstance(node, ast.Name):
            return node.id
        if node.lineno == node.end_lineno and 0 < node.lineno <= len(self._lines):
            line = self._lines[node.lineno - 1]
            if line.isascii():
                return line[node.col_offset : node.end_col_offset]
            return line.encode()[node.col_offset : node.end_col_offset].decode("utf-8", "replace")
        return ast.unparse(node)


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

_EXPRESSIONS: dict[type[ast.expr], Callable[..., ast.expr]] = {
    ast.Constant: Planter._constant,
    ast.Name: Planter._name,
    ast.Attribute: Planter._attribute,
    ast.Call: Planter._call_expression,
    ast.Starred: Planter._starred,
    ast.BinOp: Planter._binary,
    ast.UnaryOp: Planter._unary,
    ast.Compare: Planter._compare,
    ast.BoolOp: Planter._boolean,
    ast.IfExp: Planter._ternary,
    ast.Subscript: Planter._subscript,
    ast.Slice: Planter._slice,
    ast.Tuple: Planter._sequence,
    ast.List: Planter._sequence,
    ast.Set: Planter._sequence,
    ast.Dict: Planter._dict,
    ast.NamedExpr: Planter._named,
    ast.Await: Planter._await,
    ast.Yield: Planter._yield,
    ast.YieldFrom: Planter._yield_from,
    ast.Lambda: Planter._lambda_expression,
    ast.ListComp: Planter._comprehension,
    ast.SetComp: Planter._comprehension,
    ast.DictComp: Planter._comprehension,
    ast.GeneratorExp: Planter._comprehension,
}


def call_of(marker: str, arguments: list[ast.expr], place: dict[str, int], marker_place: dict[str, int]) -> ast.Call:
    return ast.Call(ast.Constant(marker, **marker_place), arguments, [], **place)


def truth_of(node: ast.expr, place: dict[str, int]) -> ast.expr:
    """What `bool(node)` is, asking each truth once, as a jump does."""
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return ast.IfExp(node, ast.Constant(True, **place), ast.Constant(False, **place), **place)
    return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), node, **place), **place)


def _statement(call: ast.expr, place: dict[str, int]) -> ast.stmt:
    return ast.Expr(call, **place)


def number_of(site: int, place: dict[str, int]) -> ast.Constant:
    return ast.Constant(f"{SITE}{site}", **place)
