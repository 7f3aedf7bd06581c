"""Takes nodes of a syntax tree; answers small questions about them: lines, names, nesting.

Knows nothing of observers, runs or recordings.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from typing import TypedDict, TypeGuard


class Place(TypedDict):
    """Where a node stands, in the words of `ast`."""

    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
EAGER_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
RETURN_STANDS_AT_LAST_STATEMENT = sys.version_info < (3, 12)  # the one at the end of a function that has none
COMPREHENSIONS_ARE_INLINED = sys.version_info >= (3, 12)  # all but generator expressions
CALLS_BEGIN_BEFORE_FUNCTION = sys.version_info < (3, 13)  # with an instruction that stands at the function's first line
NOWHERE: Place = {"lineno": -1, "col_offset": -1, "end_lineno": -1, "end_col_offset": -1}


def lines_of(text: str) -> list[str]:
    """The lines of a source text, as the compiler counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The statement lists inside a compound statement that is no definition."""
    blocks: list[list[ast.stmt]] = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(statement, "handlers", [])]
    blocks += [case.body for case in getattr(statement, "cases", [])]
    return [block for block in blocks if block]


def outer_lambdas(statement: ast.stmt) -> list[ast.Lambda]:
    """The lambdas in a statement of a module or a class that is no definition, those within others apart."""
    found: list[ast.Lambda] = []
    pending: list[ast.AST] = [] if isinstance(statement, ast.Import | ast.ImportFrom) else [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Lambda):
            found.append(node)
        else:
            pending += children_of(node)
    return found


def first_line_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The line `co_firstlineno` gives: that of the first decorator, or of the `def`."""
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


def place_of(node: ast.expr | ast.stmt | ast.pattern) -> Place:
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno or node.lineno,
        "end_col_offset": node.end_col_offset or node.col_offset,
    }


def on_line(line: int) -> Place:
    return {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}


def put(node: ast.AST, place: Place) -> None:
    """Let a node stand at a place."""
    vars(node).update(place)


def plumbing_of(node: ast.expr) -> Place:
    """Where the call around a node of several lines stands: on its line if it starts and ends on one, else nowhere."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.Await | ast.YieldFrom):
        return place_of(node)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return place_of(node)
    first = first_line(node)
    return on_line(first) if first == last_line(node) else NOWHERE


def first_of(node: ast.expr) -> ast.expr:
    """The node that the first instruction of an expression belongs to."""
    while not is_folded(node):
        match node:
            case ast.Dict(keys=[ast.Constant(), ast.Constant(), *others]) if all(
                isinstance(key, ast.Constant) for key in others
            ):
                node = node.values[0]
            case ast.Lambda(args=ast.arguments(defaults=[inner, *_])) | ast.Dict(keys=[ast.expr() as inner, *_]):
                node = inner
            case ast.List(elts=[ast.Starred(), *_]) | ast.Set(elts=[ast.Starred(), *_]) | ast.Tuple(elts=[ast.Starred(), *_]):
                return node
            case ast.Call(func=inner) if CALLS_BEGIN_BEFORE_FUNCTION and not _calls_a_method(node):
                return inner
            case ast.Call(func=inner) | ast.IfExp(test=inner) | ast.UnaryOp(operand=inner) | ast.BinOp(left=inner):
                node = inner
            case ast.Compare(left=inner) | ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.BoolOp(values=[inner, *_]) | ast.Tuple(elts=[inner, *_]) | ast.Set(elts=[inner, *_]):
                node = inner
            case ast.List(elts=[inner, *_]) | ast.Starred(value=inner) | ast.NamedExpr(value=inner) | ast.Await(value=inner):
                node = inner
            case ast.Yield(value=ast.expr() as inner) | ast.YieldFrom(value=inner):
                node = inner
            case ast.ListComp() | ast.SetComp() | ast.DictComp() if COMPREHENSIONS_ARE_INLINED:
                node = node.generators[0].iter
            case _:
                return node
    return node


def _calls_a_method(node: ast.Call) -> bool:
    """Whether a call is compiled as that of a method, as far as its form tells."""
    unpacks = any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)
    return isinstance(node.func, ast.Attribute) and not unpacks


def is_folded(node: ast.expr) -> bool:
    """Whether an expression is a constant for the compiler too."""
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(elts=elements):
            return all(map(is_folded, elements))
        case ast.List(elts=elements) | ast.Set(elts=elements):
            return not elements or len(elements) > 2 and all(map(is_folded, elements))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return is_folded(inner)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return is_folded(left) and is_folded(right)
        case _:
            return _is_number(node)


def _is_number(node: ast.expr) -> bool:
    """Whether an expression computes with numbers that the text gives."""
    match node:
        case ast.Constant(value=int() | float() | complex()):
            return True
        case ast.UnaryOp(operand=inner):
            return _is_number(inner)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case _:
            return False


def first_line(node: ast.expr) -> int:
    """The line of the first instruction an expression compiles to."""
    return first_of(node).lineno


def last_line(node: ast.expr) -> int:
    """The line of the last instruction an expression compiles to."""
    if isinstance(node, ast.Call) and _calls_a_method(node):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.end_lineno or node.lineno
    return node.lineno


def is_template(node: ast.AST) -> bool:
    """Whether a text is formatted by `%`, which the compiler may turn into an f-string."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)


def first_body_line(body: Sequence[ast.stmt], owner: ast.AST | None) -> int:
    """The line of the first instruction of a function's body, its docstring apart."""
    for statement in body:
        silent = isinstance(statement, ast.Global | ast.Nonlocal) or (
            isinstance(statement, ast.AnnAssign) and statement.value is None and isinstance(statement.target, ast.Name)
        )
        if not silent:
            return first_statement_line(statement)
    if body and RETURN_STANDS_AT_LAST_STATEMENT:
        return body[-1].lineno
    return first_line_of(owner) if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef) else 1


def first_statement_line(node: ast.stmt) -> int:
    """The line of the first instruction a statement compiles to."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Return(value=ast.Constant()):
            return node.lineno
        case ast.If(test=inner) | ast.While(test=inner):
            return node.lineno if is_folded(inner) else first_line(inner)
        case ast.Assign(value=inner) | ast.AnnAssign(value=ast.expr() as inner) | ast.Expr(value=inner):
            return first_line(inner)
        case ast.Return(value=ast.expr() as inner) | ast.Raise(exc=ast.expr() as inner):
            return first_line(inner)
        case ast.For(iter=inner) | ast.AsyncFor(iter=inner) | ast.Assert(test=inner) | ast.Match(subject=inner):
            return first_line(inner)
        case ast.With(items=[item, *_]) | ast.AsyncWith(items=[item, *_]):
            return first_line(item.context_expr)
        case ast.FunctionDef(decorator_list=[inner, *_]) | ast.AsyncFunctionDef(decorator_list=[inner, *_]):
            return first_line(inner)
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            defaults = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None]
            return node.lineno if all(map(is_folded, arguments.defaults)) else first_line(defaults[0])
        case ast.ClassDef(decorator_list=[inner, *_]) | ast.Delete(targets=[inner, *_]):
            return first_line(inner)
        case _:
            return node.lineno


def is_bool(node: ast.expr) -> bool:
    """Whether an expression is a bool whatever its operands are."""
    return isinstance(node, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)


def is_merged_with_not(node: ast.expr) -> TypeGuard[ast.Compare]:
    """Whether `not node` is one comparison for the compiler: `not a in b`, and since Python 3.13 `not a == b`."""
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and (is_bool(node) or sys.version_info >= (3, 13))


def is_exchange(target: ast.Tuple | ast.List, value: ast.Tuple) -> bool:
    """Whether an assignment is one of those like `a, b = c, d` for which the compiler makes no tuple."""
    same = len(target.elts) == len(value.elts) <= 3
    starred = any(isinstance(element, ast.Starred) for element in (*target.elts, *value.elts))
    return same and not starred and not is_folded(value)


def is_future_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def root_of(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    extra = [one for one in (arguments.vararg,) if one]
    last = [one for one in (arguments.kwarg,) if one]
    return [*arguments.posonlyargs, *arguments.args, *extra, *arguments.kwonlyargs, *last]


def target_names(target: ast.AST) -> Iterable[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def readable(target: ast.expr) -> ast.expr | None:
    """An expression that reads back the names of a target, and nothing that could run code."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Starred):
        return readable(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        elements = [readable(element) for element in target.elts]
        if all(element is not None for element in elements):
            return ast.Tuple([element for element in elements if element is not None], ast.Load())
    return None


def module_definitions(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that a module binds by import or definition: modules, functions, classes, not variables."""
    names: set[str] = set()
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            pending += [statement for block in blocks_of(node) for statement in block]
    return frozenset(names)


def declared(tree: ast.AST, kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    return frozenset(name for node in ast.walk(tree) if isinstance(node, kind) for name in node.names)


def names_of(function: Function | ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The names a function binds, and those among them (or declared outside) that may change without its sites telling."""
    bound: set[str] = set()
    volatile: set[str] = set()
    outside: set[str] = set()
    if isinstance(function, FUNCTIONS):
        bound |= {parameter.arg for parameter in parameters_of(function.args)}
    body = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    pending: list[tuple[ast.AST, bool]] = [(node, False) for node in body]
    while pending:
        node, hidden = pending.pop()
        kind = type(node)
        if kind not in _NAMING:
            pending += [(child, hidden) for child in children_of(node)]
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
                if hidden:
                    volatile.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
            volatile.add(node.name)
            volatile |= declared(node, ast.Nonlocal)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Global | ast.Nonlocal):
            outside |= set(node.names)
        elif isinstance(node, COMPREHENSIONS):
            pending += [(child, hidden) for child in _outside_comprehension(node)]
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.ExceptHandler) and node.name:
                bound.add(node.name)
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                bound.add(node.name)
                volatile.add(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                bound.add(node.rest)
                volatile.add(node.rest)
            hidden = hidden or isinstance(node, ast.JoinedStr)
            pending += [(child, hidden) for child in children_of(node)]
    return frozenset(bound), frozenset(volatile | outside)


_NAMING = frozenset(
    (
        *(ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.Global),
        *(ast.Nonlocal, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.JoinedStr, *COMPREHENSIONS),
    )
)


def children_of(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, in one look at the node, and without what has no children and no place."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        kind = type(value)
        if kind is list:
            found += [one for one in value if isinstance(one, ast.AST)]
        elif kind not in _PLACELESS and isinstance(value, ast.AST):
            found.append(value)
    return found


_PLACELESS = frozenset((int, str, type(None), ast.Load, ast.Store, ast.Del, ast.And, ast.Or, ast.Not, ast.Add, ast.Mult))


def _outside_comprehension(node: Comprehension) -> list[ast.AST]:
    """What within a comprehension may bind a name of the function around it: the first iterable and `:=`."""
    return [node.generators[0].iter, *(inner.target for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))]


def last_pattern(pattern: ast.pattern) -> ast.pattern:
    """The last pattern that is compiled for a case."""
    while True:
        match pattern:
            case ast.MatchSequence(patterns=[*_, ast.pattern() as inner]) | ast.MatchOr(patterns=[*_, inner]):
                pass
            case ast.MatchClass(kwd_patterns=[*_, ast.pattern() as inner]):
                pass
            case ast.MatchClass(patterns=[*_, ast.pattern() as inner]) | ast.MatchMapping(patterns=[*_, inner]):
                pass
            case ast.MatchAs(pattern=ast.pattern() as inner):
                pass
            case _:
                return pattern
        pattern = inner
