"""Takes an expression of a syntax tree; rewrites it in place so that the values in it are shown to an observer.

Knows no statement, file, compiler or run. What the markers mean is said in `places`, what a site is in `sites`.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass

from stillframe.capture.places import (
    ENTER,
    HELD,
    INNER,
    METHOD,
    SITE,
    VALUE,
    PlannedFunction,
    PlannedSite,
)
from stillframe.capture.syntax import (
    COMPREHENSIONS_ARE_INLINED,
    NOWHERE,
    Comprehension,
    Place,
    first_line,
    first_of,
    is_bool,
    is_merged_with_not,
    is_template,
    last_line,
    lines_of,
    module_definitions,
    names_of,
    on_line,
    parameters_of,
    place_of,
    plumbing_of,
    put,
    root_of,
    target_names,
)

_ALWAYS_SEEN = frozenset({"assign", "return", "yield", "operand", "iterate", "context", "match"})
JUMPS_STAND_AT_DECIDER = sys.version_info < (3, 12)  # where a truth is asked for: at the `if`, or at its operand
USE_STANDS_AT_EXPRESSION = sys.version_info >= (3, 13)  # where `next`, `__enter__` and `__exit__` are called
LAMBDAS_RETURN_AT_BODY = sys.version_info >= (3, 13)
_BUILTINS = frozenset(dir(builtins))


@dataclass(slots=True)
class Scope:
    """What is known of the function being planted: which names are its own, and which may change behind its back."""

    function: int
    qualname: str
    local_names: frozenset[str]
    volatile: frozenset[str]
    comprehension_names: frozenset[str] = frozenset()
    inner: bool = False


class ExpressionPlanter:
    """Holds what has been planted so far, and plants in one expression at a time."""

    def __init__(self, plain: ast.Module, text: str, watch: Callable[[PlannedSite], bool] | None) -> None:
        self.functions: list[PlannedFunction] = []
        self.sites: list[PlannedSite] = []
        self._watch = watch
        self._lines = lines_of(text)
        self._scope = Scope(0, "", frozenset(), frozenset())
        self._known_names = module_definitions(plain.body) | _BUILTINS
        self._decider = on_line(1)
        self._first_decider = 1

    # ---- places and functions

    def _function(self, qualname: str, line: int, end_line: int) -> int:
        self.functions.append(PlannedFunction(qualname, line, end_line))
        return len(self.functions) - 1

    def _enter(self, node: ast.AST, arguments: ast.arguments | None, line: int) -> ast.expr | None:
        """The call that tells of a new frame and its arguments."""
        parameters = parameters_of(arguments) if arguments else []
        site = self._site("enter", node, "")
        if site is None:
            return None
        for parameter in parameters:  # watched with the call: their sites are counted from its own
            self._add(self._planned("param", parameter, "", parameter.arg))
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

    def _site(self, kind: str, node: ast.AST, use: str, binds: str = "") -> int | None:
        site = self._planned(kind, node, use, binds)
        return None if self._watch is not None and not self._watch(site) else self._add(site)

    def _add(self, site: PlannedSite) -> int:
        self.sites.append(site)
        return len(self.sites) - 1

    def _planned(self, kind: str, node: ast.AST, use: str, binds: str) -> PlannedSite:
        line = getattr(node, "lineno", 1)
        return PlannedSite(
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

    def _before(self, node: ast.expr) -> Place:
        """Where what comes before an expression's first instruction stands: with that, or nowhere if that is not known."""
        if node.lineno != node.end_lineno:
            lines = self._lines[node.lineno - 1 : node.end_lineno]
            if any("%" in line for line in lines) and any(map(is_template, ast.walk(node))):
                return NOWHERE
        return place_of(first_of(node))

    def _marker(self, marker: str) -> str:
        return INNER if self._scope.inner else marker

    # ---- expressions

    def _expr(self, node: ast.expr, use: str, binds: str = "") -> ast.expr:
        """Plant in `node` and, where its value is worth knowing, around it."""
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node, use, binds) if handler else node

    def _used(self, node: ast.expr, use: str, stands: bool = USE_STANDS_AT_EXPRESSION) -> ast.expr:
        """The same for an expression whose place what is done with it takes: `iter`, `next`, `__enter__`, adding to a list."""
        planted = self._expr(node, use)
        if stands and planted is not node:
            put(planted, place_of(node))
        return planted

    def _value(self, node: ast.expr, use: str, binds: str, original: ast.expr | None = None) -> ast.expr:
        site = self._site("value", original or node, use, binds)
        return node if site is None else self._wrapped(site, node, original or node)

    def _wrapped(self, site: int, node: ast.expr, original: ast.expr) -> ast.expr:
        first = self._before(node)
        outer = place_of(original) if original.lineno == original.end_lineno else plumbing_of(original)
        held = isinstance(node, ast.Attribute) or isinstance(node, ast.Name) and node.id not in self._scope.local_names
        return call_of(self._marker(HELD if held else VALUE), [number_of(site, first), node], outer, first)

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
        original, first = node, self._before(node)
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
        compared = isinstance(original, ast.Compare) and original.lineno != self._first_decider
        if JUMPS_STAND_AT_DECIDER and (compared or not self._first_decider):
            seen = ast.Compare(seen, [ast.IsNot()], [ast.Constant(False, **place)], **place)  # for the jump's line
        return seen

    def _operands(self, node: ast.Compare) -> None:
        node.left = self._expr(node.left, "argument")
        node.comparators = [self._expr(value, "argument") for value in node.comparators]

    # ---- kinds of expressions

    def _constant(self, node: ast.Constant, use: str, binds: str) -> ast.expr:
        return self._value(node, use, binds) if use in ("assign", "return") else node

    def _formatted(self, node: ast.JoinedStr, use: str, binds: str) -> ast.expr:
        """A text put together is a value; what it is put together of is not looked into."""
        return self._value(node, use, binds) if use in _ALWAYS_SEEN and node.lineno == node.end_lineno else node

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
        return self._expr(node, "receiver" if isinstance(node, ast.Attribute) else "subject")

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
        if not (isinstance(node.op, ast.Not) and is_merged_with_not(operand)):
            node.operand = self._expr(operand, "argument")
            return self._value(node, use, binds)
        if operand.lineno != node.lineno:
            self._operands(operand)
            return self._value(node, use, binds)
        node.operand = self._expr(operand, "argument")
        planted = self._value(node, use, binds)
        if not is_bool(operand):
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

    def _lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, names = self._scope, names_of(node)
        qualname = self._scope.qualname + "<lambda>"
        function = self._function(qualname, node.lineno, node.end_lineno or node.lineno)
        self._scope = Scope(function, qualname + ".<locals>.", *names)
        line = first_line(node.body)
        enter = self._enter(node, node.args, line)
        body = self._expr(node.body, "return")
        if enter is not None:
            place = place_of(node.body) if LAMBDAS_RETURN_AT_BODY else on_line(line)
            body = ast.IfExp(enter, ast.Constant(None, **on_line(line)), body, **place)
        node.body = body
        self._scope = outer
        return node

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
        decider = self._decider, self._first_decider
        self._decider, self._first_decider = place_of(node), 0  # what follows a comparison stands where it does
        for generator in node.generators:
            generator.ifs = [self._test(test) for test in generator.ifs]
        self._decider, self._first_decider = decider
        if isinstance(node, ast.DictComp):
            self._entry(node)
        else:
            node.elt = self._used(node.elt, "argument", COMPREHENSIONS_ARE_INLINED)
        scope.comprehension_names, scope.inner = outer

    def _entry(self, node: ast.DictComp) -> None:
        """Plant in the key and the value of a comprehension, whose places together are that of what adds them to the dict."""
        key, value = node.key, node.value
        if not COMPREHENSIONS_ARE_INLINED:
            node.key, node.value = self._expr(key, "argument"), self._expr(value, "argument")
            return
        if last_line(key) == key.lineno:  # else the observer's call would be a line event before the value's
            node.key = self._used(key, "argument", True)
        whole = place_of(key)
        whole["end_lineno"], whole["end_col_offset"] = place_of(value)["end_lineno"], place_of(value)["end_col_offset"]
        node.value = self._expr(value, "argument")
        if node.value is not value:
            put(node.value, whole)

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


_EXPRESSIONS: dict[type[ast.expr], Callable[..., ast.expr]] = {
    ast.Constant: ExpressionPlanter._constant,
    ast.JoinedStr: ExpressionPlanter._formatted,
    ast.Name: ExpressionPlanter._name,
    ast.Attribute: ExpressionPlanter._attribute,
    ast.Call: ExpressionPlanter._call_expression,
    ast.Starred: ExpressionPlanter._starred,
    ast.BinOp: ExpressionPlanter._binary,
    ast.UnaryOp: ExpressionPlanter._unary,
    ast.Compare: ExpressionPlanter._compare,
    ast.BoolOp: ExpressionPlanter._boolean,
    ast.IfExp: ExpressionPlanter._ternary,
    ast.Subscript: ExpressionPlanter._subscript,
    ast.Slice: ExpressionPlanter._slice,
    ast.Tuple: ExpressionPlanter._sequence,
    ast.List: ExpressionPlanter._sequence,
    ast.Set: ExpressionPlanter._sequence,
    ast.Dict: ExpressionPlanter._dict,
    ast.NamedExpr: ExpressionPlanter._named,
    ast.Await: ExpressionPlanter._await,
    ast.Yield: ExpressionPlanter._yield,
    ast.YieldFrom: ExpressionPlanter._yield_from,
    ast.Lambda: ExpressionPlanter._lambda_expression,
    ast.ListComp: ExpressionPlanter._comprehension,
    ast.SetComp: ExpressionPlanter._comprehension,
    ast.DictComp: ExpressionPlanter._comprehension,
    ast.GeneratorExp: ExpressionPlanter._comprehension,
}


def call_of(marker: str, arguments: list[ast.expr], place: Place, marker_place: Place) -> ast.Call:
    return ast.Call(ast.Constant(marker, **marker_place), arguments, [], **place)


def truth_of(node: ast.expr, place: Place) -> ast.expr:
    """What `bool(node)` is, asking each truth once, as a jump does."""
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return ast.IfExp(node, ast.Constant(True, **place), ast.Constant(False, **place), **place)
    return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), node, **place), **place)


def number_of(site: int, place: Place) -> ast.Constant:
    return ast.Constant(f"{SITE}{site}", **place)
