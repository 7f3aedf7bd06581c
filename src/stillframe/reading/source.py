"""Takes a function of a recording; gives its source, line by line: whether each ran, what it bound, how its conditions
went.

Must not know how it is printed, and must not guess: what the recording does not prove either way is said to be unknown.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stillframe.reading.bindings import Bound, bound_by
from stillframe.reading.branches import Condition, conditions_in
from stillframe.reading.describe import Described, Range, describe, merged, range_of
from stillframe.reading.execution import Execution
from stillframe.reading.happened import happened_in
from stillframe.reading.index import Index, Place
from stillframe.reading.linemap import RAN, UNKNOWN, LineKind, Outcome, line_kinds, outcomes_of
from stillframe.reading.statements import Body, Span, results_of, span, span_of
from stillframe.records import Frame, Function, Site

MOST_RANGES = 64
MOST_TEXTS = 4


@dataclass(frozen=True, slots=True)
class LineBound:
    """A name bound on a line, over all the times it was: `texts` are the different shapes and dtypes, or values, with
    counts.

    `range` is over all of them (None: not kept, or too many to look at); `first` and `last` are value ids. `how` as in
    bindings.Bound.
    """

    name: str
    how: str
    times: int
    texts: tuple[tuple[str, int], ...]
    more_texts: int
    range: Range | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LineTest:
    """A condition on a line: how often it came out true and false, and the same of each operand that was asked."""

    expression: str
    of: str
    true: int
    false: int
    operands: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line. `kind`: code (a statement begins), continued, blank, comment, docstring. `status`: ran, not_run, partly
    (of several statements on it), unknown; "" where there is no code. `raised` are the exceptions that came out of
    it.
    """

    line: int
    text: str
    kind: str
    status: str
    bound: tuple[LineBound, ...] = ()
    tests: tuple[LineTest, ...] = ()
    raised: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function's source, with what its calls did. `paths` are the modules whose method was called."""

    function: int
    name: str
    place: Place
    end_line: int
    origin: str
    calls: int
    paths: tuple[str, ...]
    lines: tuple[SourceLine, ...]


def read_source(index: Index, function: Function) -> FunctionSource:
    """The source of one function, with the functions defined within it."""
    return _Reading(index, function).whole()


def functions_that_ran(index: Index) -> tuple[Function, ...]:
    """The functions that were called, in the order of their first calls; those within another one that was are left to
    it.
    """
    functions = index.source.functions
    ran = [functions[id] for id in sorted(index.frames_of, key=lambda id: index.frames_of[id][0].first_event) if id]
    return tuple(one for one in ran if not any(_is_within(one, other) for other in ran))


class _Reading:
    """All calls of one function, read together."""

    def __init__(self, index: Index, function: Function) -> None:
        self._index, self._function = index, function
        self._file = index.source.files[function.file]
        self._lines = index.lines(self._file)
        self._frames: Sequence[Frame] = index.frames_of.get(function.id, ())
        self._body = Body(function, self._lines, index.sites_of.get(function.id, ()))
        self._conditions = conditions_in(self._body)
        self.head: set[int] = set()

    def whole(self) -> FunctionSource:
        function = self._function
        lines = self.lines()
        for inner in self._inner_functions():
            reading = _Reading(self._index, inner)
            for number, line in reading.lines().items():
                outer = lines.get(number)
                if outer is not None and number in reading.head:  # whether a `def` ran is for the outer function to say
                    line = replace(line, status=outer.status)
                lines[number] = line
        modules = [self._index.module_of(frame) for frame in self._frames]
        return FunctionSource(
            function.id,
            function.qualname,
            self._index.function_place(function),
            function.end_line,
            self._file.origin,
            len(self._frames),
            tuple(dict.fromkeys(module.path for module in modules if module is not None)),
            tuple(lines[number] for number in sorted(lines)),
        )

    def lines(self) -> dict[int, SourceLine]:
        """The function's own lines."""
        bound, tests, raised = self._bound(), self._tests(), self._raised()
        outcomes = outcomes_of(self._body, self._executions(), self._frames, self._index.complete)
        kinds = line_kinds(self._body, self._lines)
        self.head = {number for number, kind in kinds.items() if kind.owners == (None,)}
        found = {}
        for number, kind in kinds.items():
            status = _status(kind, outcomes, bool(self._frames))
            text = self._lines[number - 1]
            told = bound.get(number, ()), tests.get(number, ()), raised.get(number, ())
            found[number] = SourceLine(number, text, kind.kind, status, *told)
        return found

    def _inner_functions(self) -> Iterator[Function]:
        """Functions within this one, outer ones first, so that what is further in has the last word."""
        inside = [one for one in self._index.source.functions.values() if _is_within(one, self._function)]
        yield from sorted((one for one in inside if not one.qualname.endswith("<lambda>")), key=lambda one: one.line)

    def _executions(self) -> list[Execution]:
        known: dict[object, Execution] = {}
        found = []
        for frame in self._frames:
            happened = happened_in(self._index, self._body, frame)
            key = happened.key
            if key not in known:
                known[key] = Execution(self._body, self._conditions, happened)
            found.append(known[key])
        return found

    # ---- what was bound

    def _bound(self) -> dict[int, tuple[LineBound, ...]]:
        sites, source = self._index.source.sites, self._index.source
        found: dict[tuple[int, str, str], list[int]] = defaultdict(list)
        raised = {frame for raised in source.raised for frame in raised.frames}
        for frame in self._frames:
            returned: list[tuple[int, Bound]] = []
            for event in self._index.events_of.get(frame.id, ()):
                site = sites[event.site]
                for bound in bound_by(source, event.value, site):
                    if bound.how == "return":
                        returned = [(self._line_of(site), bound)] if self._returns(site) else returned
                    elif bound.how not in ("expression", "yield") or self._is_statement(site):
                        found[self._line_of(site), bound.name, bound.how].append(bound.value)
            if frame.id not in raised:
                for line, bound in returned:
                    found[line, bound.name, bound.how].append(bound.value)
        lines: dict[int, list[LineBound]] = defaultdict(list)
        for (line, name, how), values in found.items():
            one = self._line_bound(name, how, values)
            if how != "expression" or one.range is not None or source.value(values[0]).about.get("kind") == "tensor":
                lines[line].append(one)
        return {line: tuple(bounds) for line, bounds in lines.items()}

    def _line_of(self, site: Site) -> int:
        statement = self._body.statement_of.get(site.id)
        return statement.node.lineno if statement is not None and site.kind != "param" else site.line

    def _returns(self, site: Site) -> bool:
        """Whether a site is one that can be what a `return` of this function gives."""
        statement = self._body.statement_of.get(site.id)
        value = getattr(statement.node, "value", None) if statement is not None else None
        return statement is None or value is None or _holds_result(value, site)

    def _is_statement(self, site: Site) -> bool:
        statement = self._body.statement_of.get(site.id)
        return statement is None or isinstance(statement.node, ast.Expr)

    def _line_bound(self, name: str, how: str, values: Sequence[int]) -> LineBound:
        source = self._index.source
        different = list(dict.fromkeys(values))
        described = {value: describe(source, value, with_range=False) for value in different}
        counts = Counter(described[value].text for value in values)
        texts = tuple(counts.items())
        return LineBound(
            name,
            how,
            len(values),
            texts[:MOST_TEXTS],
            max(0, len(texts) - MOST_TEXTS),
            self._range(list(described.values())),
            values[0],
            values[-1],
        )

    def _range(self, described: Sequence[Described]) -> Range | None:
        if len(described) > MOST_RANGES or any(one.kind != "tensor" for one in described):
            return None
        source = self._index.source
        return merged(range_of(source, source.value(one.value)) for one in described)

    # ---- how conditions went

    def _tests(self) -> dict[int, tuple[LineTest, ...]]:
        source = self._index.source
        whole: Counter[tuple[int, bool]] = Counter()
        parts: Counter[tuple[Span, bool]] = Counter()
        met: dict[int, Condition] = {}
        for frame in self._frames:
            for event in self._index.events_of.get(frame.id, ()):
                site = source.sites[event.site]
                condition = self._conditions.get(span_of(site)) if site.kind == "test" and event.value else None
                if condition is None:
                    continue
                truth = source.value(event.value).about.get("value")
                if not isinstance(truth, bool):
                    continue
                met[id(condition)] = condition
                parts[span_of(site), truth] += 1
                outcome = condition.outcome(span_of(site), truth)
                if outcome is not None:
                    whole[id(condition), outcome] += 1
        found: dict[int, list[LineTest]] = defaultdict(list)
        for key, condition in met.items():
            operands = tuple(
                (self._text(operand), parts[place, True], parts[place, False]) for place, operand in condition.operands.items()
            )
            test = LineTest(self._text(condition.test), condition.of, whole[key, True], whole[key, False], operands)
            found[condition.line].append(test)
        return {line: tuple(tests) for line, tests in found.items()}

    def _raised(self) -> dict[int, tuple[str, ...]]:
        """The exceptions that left a call of the function, by the lines they left it at."""
        own = {frame.id for frame in self._frames}
        found: dict[int, dict[str, None]] = defaultdict(dict)
        for raised in self._index.source.raised:
            for frame, line in zip(raised.frames, raised.lines, strict=False):
                if frame in own:
                    found[line][raised.type_name] = None
        return {line: tuple(names) for line, names in found.items()}

    def _text(self, node: ast.expr) -> str:
        place = span(node)
        return self._index.text(Site(0, self._function.id, "", "", "", *place))


def _status(kind: LineKind, outcomes: dict[object, Outcome], called: bool) -> str:
    if not kind.owners:
        return UNKNOWN if kind.kind == "code" else ""
    found = {outcomes[owner] for owner in kind.owners}
    if len(found) == 1:
        return found.pop()
    return "partly" if RAN in found else UNKNOWN


def _holds_result(value: ast.expr, site: Site) -> bool:
    if isinstance(value, ast.BoolOp):
        return any(_holds_result(operand, site) for operand in value.values)
    if isinstance(value, ast.IfExp):
        return _holds_result(value.body, site) or _holds_result(value.orelse, site)
    return any(span_of(site) == span(result) for result in results_of(value))


def _is_within(one: Function, other: Function) -> bool:
    """Whether a function is defined within another one."""
    if one.id == other.id or one.file != other.file or not other.line <= one.line <= one.end_line <= other.end_line:
        return False
    return other.qualname == "<module>" or one.qualname.startswith(f"{other.qualname}.<locals>.")
