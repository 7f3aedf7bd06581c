"""Takes the source text of a function; gives its statements as blocks within blocks, and which of them a place belongs
to.

Must not know what ran: pure syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stillframe.records import Function, Site

Defined = ast.FunctionDef | ast.AsyncFunctionDef
Span = tuple[int, int, int, int]

SIMPLE_AND_SAFE = (ast.Pass, ast.Global, ast.Nonlocal)
JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
WITHS = (ast.With, ast.AsyncWith)
TRIES = (ast.Try, ast.TryStar)


@dataclass(eq=False, slots=True)
class Block:
    """Statements one after another. `part` says of which part of its owner: body, orelse, finalbody, handler or case.

    `head` is the handler or the case it belongs to. A function's own block has no owner.
    """

    owner: Statement | None
    part: str
    head: ast.ExceptHandler | ast.match_case | None = None
    statements: list[Statement] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Statement:
    """One statement in its block; `sites` are those of its own, not of the blocks within it."""

    node: ast.stmt
    block: Block
    at: int
    blocks: list[Block] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)

    @property
    def following(self) -> Statement | None:
        """The next one in the same block."""
        return self.block.statements[self.at + 1] if self.at + 1 < len(self.block.statements) else None

    @property
    def tells(self) -> bool:
        """Whether an event comes of it as soon as it is carried out without an exception."""
        return any(site.kind not in ("except", "case") for site in self.sites)

    def part(self, name: str) -> Block | None:
        return next((block for block in self.blocks if block.part == name), None)

    @property
    def above(self) -> tuple[Statement, ...]:
        """The statements this one is within, innermost first."""
        owner = self.block.owner
        return (owner, *owner.above) if owner is not None else ()

    @property
    def lines(self) -> range:
        """The lines of the statement itself: of a compound one, its head."""
        first, last = self.node.lineno, self.node.end_lineno or self.node.lineno
        decorators = getattr(self.node, "decorator_list", [])
        if decorators:
            first = min(first, decorators[0].lineno)
        inner = getattr(self.node, "body", None)
        if isinstance(self.node, TRIES):
            last = first
        elif isinstance(self.node, ast.Match):
            last = self.node.subject.end_lineno or first
        elif inner:
            last = max(self.node.lineno, _head_end(self.node), _first_line(inner[0]) - 1)
        return range(first, last + 1)


class Body:
    """A function taken apart. `node` is None if its text could not be read as the function it should be."""

    def __init__(self, function: Function, lines: Sequence[str], sites: Sequence[Site]) -> None:
        self.function = function
        self.node = _parsed(function, lines)
        self.root = Block(None, "body")
        self.statements: list[Statement] = []
        self.statement_of: dict[int, Statement] = {}
        self.handler_of: dict[int, Block] = {}
        self.lazy: set[int] = set()
        if self.node is not None:
            self._fill(self.root, self.node.body, leading=True)
            self._place(sites)

    @property
    def is_generator(self) -> bool:
        """Whether calls of it stop in the middle: a generator or a coroutine."""
        if isinstance(self.node, ast.AsyncFunctionDef):
            return True
        own = (node for statement in self.statements for node in own_expressions(statement.node))
        return any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in own)

    def _fill(self, block: Block, nodes: Sequence[ast.stmt], leading: bool = False) -> None:
        for node in nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring or a bare constant compiles to nothing
            statement = Statement(node, block, len(block.statements))
            block.statements.append(statement)
            self.statements.append(statement)
            if isinstance(node, Defined):
                continue
            for part in ("body", "orelse", "finalbody"):
                if getattr(node, part, None):
                    self._inner(statement, part, getattr(node, part))
            for handler in getattr(node, "handlers", ()):
                self._inner(statement, "handler", handler.body, handler)
            for case in getattr(node, "cases", ()):
                self._inner(statement, "case", case.body, case)

    def _inner(
        self,
        owner: Statement,
        part: str,
        nodes: Sequence[ast.stmt],
        head: ast.ExceptHandler | ast.match_case | None = None,
    ) -> None:
        block = Block(owner, part, head)
        owner.blocks.append(block)
        self._fill(block, nodes)

    def _place(self, sites: Sequence[Site]) -> None:
        spans = [(_span(statement.node), statement) for statement in self.statements]
        lazy = [_span(node) for node in ast.walk(self.node or ast.Module([], [])) if isinstance(node, ast.GeneratorExp)]
        for site in sites:
            if site.kind in ("enter", "param"):
                continue
            place = (site.line, site.col, site.end_line, site.end_col)
            inside = [(span, statement) for span, statement in spans if _within(place, span)]
            if not inside:
                continue
            owner = max(inside, key=lambda one: (one[0][:2], (-one[0][2], -one[0][3])))[1]
            self.statement_of[site.id] = owner
            owner.sites.append(site)
            if site.kind in ("except", "case"):
                heads = ((block, block.head) for block in owner.blocks if block.head is not None)
                for block, head in heads:
                    if place == _span(head.pattern if isinstance(head, ast.match_case) else head):
                        self.handler_of[site.id] = block
            if any(_within(place, span) and place != span for span in lazy) and site.use != "iterate":
                self.lazy.add(site.id)

    def at_line(self, line: int) -> Statement | None:
        """The statement of which a line is part, innermost."""
        found = [statement for statement in self.statements if line in statement.lines]
        return found[-1] if found else None


def own_expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, less those of statements, functions and classes within it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.Lambda):
            continue
        yield child
        yield from own_expressions(child)


def results_of(node: ast.expr) -> list[ast.expr]:
    """The expressions one of which gives the value of `node`, when it is observed there."""
    if isinstance(node, ast.IfExp):
        return results_of(node.body) + results_of(node.orelse)
    if isinstance(node, ast.BoolOp):
        return []
    if isinstance(node, ast.NamedExpr):
        return [node] if isinstance(node.value, ast.BoolOp) else results_of(node.value)
    return [node]


def span_of(site: Site) -> Span:
    return site.line, site.col, site.end_line, site.end_col


def span(node: ast.expr) -> Span:
    return _span(node)


def _parsed(function: Function, lines: Sequence[str]) -> Defined | ast.Module | None:
    """The syntax tree of a function, its places those in the file; of a whole file, if it is the module's body."""
    if function.qualname == "<module>":
        return _tree("\n".join(lines))
    own = lines[function.line - 1 : function.end_line]
    indented = bool(own) and own[0][:1] in (" ", "\t", "\f")
    tree = _tree("\n".join([*(["if 1:"] if indented else []), *own]))
    if tree is None or not tree.body:
        return None
    first = tree.body[0]
    if indented and isinstance(first, ast.If):
        first = first.body[0]
    if not isinstance(first, Defined) or first.name != function.qualname.rpartition(".")[2]:
        return None
    ast.increment_lineno(first, function.line - 1 - indented)
    return first


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _span(node: ast.AST) -> Span:
    line, col = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return line, col, getattr(node, "end_lineno", line) or line, getattr(node, "end_col_offset", col) or col


def _within(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(decorators[0].lineno if decorators else getattr(node, "lineno", 1))


def _head_end(node: ast.stmt) -> int:
    """The last line of the expressions in a compound statement's head."""
    ends = (getattr(one, "end_lineno", None) or 0 for one in own_expressions(node))
    return max(node.lineno, *ends, 0)
