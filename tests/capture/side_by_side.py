"""Runs a function as its source says and woven, and tells the two apart by everything Python lets one see."""

from __future__ import annotations

import dis
import functools
import gc
import inspect
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stillframe.capture import weave
from stillframe.capture.weave import Loom, Observers, WovenFile, functions_alive, weave_source

HERE = Path(__file__).parent
SNIPPETS = HERE.parent / "snippets" / "grammar"


class Seen:
    """Observers that keep the order of sites, and nothing of the values."""

    def __init__(self) -> None:
        self.sites: list[int] = []
        add = self.sites.append

        def value(site: int, value: Any) -> Any:
            add(site)
            return value

        def enter(site: int, *arguments: Any) -> None:
            add(site)

        def mark(site: int) -> None:
            add(site)

        self.observers = Observers(value, value, value, enter, enter, value, mark, mark, mark)


def module_from(source: str, path: str, name: str = "snippet") -> types.ModuleType:
    """The module a source text makes."""
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    return module


@functools.cache
def weave_once(source: str, path: str) -> WovenFile:
    """The woven code of a source text."""
    return weave_source(source, path)


@contextmanager
def little_garbage() -> Iterator[None]:
    """Cycles are collected at the end of a run and at no other time, and looking for them is quick.

    So is looking for functions: those that are woven here are made after everything else was frozen.
    """
    before = weave._FROZEN_BY_PYTHON
    weave._FROZEN_BY_PYTHON = sys.maxsize
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.enable()
        weave._FROZEN_BY_PYTHON = before


@contextmanager
def woven(source: str, path: str, observers: Observers | None = None, **options: Any) -> Iterator[Loom]:
    """Every function made from `source` runs woven within this block."""
    loom = Loom()
    file = weave_source(source, path, **options) if options else weave_once(source, path)
    loom.take(file, observers or Seen().observers, 0)
    loom.swap(functions_alive())
    try:
        yield loom
    finally:
        loom.restore()


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Every code object nested in another."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_in(constant)


def without_addresses(text: str) -> str:
    """A text in which objects' addresses are all the same.

    So are the iterators of `[...]` and `(...)`: where a list is only gone through, the compiler makes a tuple of it, but not
    where somebody looks at it. No program can tell; the local variable `.0` of a comprehension does.
    """
    text = text.replace("<list_iterator", "<tuple_iterator")
    return re.sub(r"\b0x[0-9a-f]+|Task-\d+", "0x", text) if "0x" in text or "Task-" in text else text


def outcome_of(call: Callable[[], Any]) -> list[str]:
    """What a call gives or raises, in words.

    Where a variable without a value is read, Python 3.11 tells of another place in plain code once it has run a few times:
    that of the instruction before, which it has joined with it. There the places are not compared.
    """
    try:
        result = call()
    except BaseException as error:
        lines = traceback.format_exception(error)
        if sys.version_info < (3, 12) and "UnboundLocalError" in "".join(lines):
            lines = []
        return ["raised", *map(without_addresses, [*lines, *_links(error)])]
    return ["gave", without_addresses(repr(result))]


def _links(error: BaseException) -> list[str]:
    found, seen = [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        found.append(f"{type(error)} {error.args} {getattr(error, '__notes__', None)} {error.__suppress_context__}")
        error = error.__cause__ or error.__context__
    return found


# ---- what can be driven: generators, coroutines, asynchronous generators

PLANS = {
    0: ["next"] * 30,
    1: ["next", "send 1", "send 2", "send 3", "send 4", "send 5", "send 6"],
    2: ["next", "throw", "next", "next"],
    3: ["next", "next", "throw", "next"],
    4: ["next", "close", "next"],
    5: ["close"],
    6: ["throw"],
    7: ["next", "next", "next", "drop"],
}


class Thrown(Exception):
    """What is thrown into a generator."""


def state_of(driven: Any) -> str:
    """What a generator shows of itself."""
    prefix = {"generator": "gi", "coroutine": "cr", "async_generator": "ag"}[type(driven).__name__]
    frame = getattr(driven, f"{prefix}_frame")
    awaited = getattr(driven, "gi_yieldfrom" if prefix == "gi" else f"{prefix}_await")
    suspended = getattr(driven, f"{prefix}_suspended", None)
    if prefix == "ag" and sys.version_info < (3, 12):
        suspended = None
    line = frame.f_lineno if frame else None
    names = sorted(frame.f_locals) if frame else None
    return f"{type(awaited).__name__} at {line} names {names} suspended {suspended} in {driven.__qualname__}"


def drive(driven: Any, plan: list[str], say: Callable[..., None]) -> str:
    """Go through a plan; tells every step."""
    asynchronous = inspect.isasyncgen(driven)
    for step in plan:
        word, _, argument = step.partition(" ")
        if word == "drop":
            break
        try:
            if asynchronous:
                made = {
                    "next": driven.__anext__,
                    "send": lambda argument=argument: driven.asend(argument or None),
                    "throw": lambda: driven.athrow(Thrown("thrown")),
                    "close": driven.aclose,
                }[word]()
                result = _by_hand(made, say)
            elif word == "next":
                result = driven.send(None)
            elif word == "send":
                result = driven.send(argument)
            elif word == "throw":
                result = driven.throw(Thrown("thrown"))
            else:
                result = driven.close()
            say(step, "gave", repr(result))
        except (StopIteration, StopAsyncIteration) as stop:
            say(step, "stopped", repr(stop))
            say(state_of(driven))
            return "ended"
        finally:
            say(state_of(driven))
    return "left"


def _by_hand(awaitable: Any, say: Callable[..., None]) -> Any:
    steps = awaitable.__await__()
    try:
        while True:
            say("awaits", repr(steps.send(None)))
    except StopIteration as stop:
        return stop.value


def run_case(function: Callable[..., Any], kit: Any) -> list[str]:
    """Call a case with operands named as its parameters, and drive what it gives."""

    def call() -> Any:
        names = inspect.signature(function).parameters
        result = function(**{name: kit if name == "t" else kit(name) for name in names})
        if inspect.isgenerator(result) or inspect.iscoroutine(result) or inspect.isasyncgen(result):
            result = drive(result, PLANS[kit.seed % len(PLANS)], kit.say)
        return result

    outcome = outcome_of(call)
    gc.collect()
    return [*map(without_addresses, kit.story), "----", *outcome]


# ---- the same with somebody watching


class LinesOf:
    """Drops, in Python 3.12 and 3.13, an event for the very line that the frame's last line event was for.

    Those interpreters give it or withhold it, where ways join, by what was done last and by how long the code is, in plain
    code too: with 3.12, `x = a or b` gives one event and `x = a or f(b)` two; with 3.13, `x = a or (yield)` gives one more
    than `x = a or f((yield))`, and a handler on the line of its `with` may give one in long code and not in short code.
    """

    def __init__(self) -> None:
        self._last: dict[int, tuple[types.CodeType, int]] = {}

    def begins(self, frame: types.FrameType) -> None:
        """A frame is new."""
        self._last.pop(id(frame), None)

    def counts(self, frame: types.FrameType, line: int) -> bool:
        """Whether the event for a line is to be told."""
        same = self._last.get(id(frame)) == (frame.f_code, line)
        self._last[id(frame)] = (frame.f_code, line)
        return not same or not (3, 12) <= sys.version_info < (3, 14)


@functools.cache
def beginning_of(code: types.CodeType) -> int:
    """Where the first instruction of a function is that a trace function is called at."""
    return next(one.offset for one in dis.get_instructions(code) if one.opname == "RESUME")


def names_in(frame: types.FrameType) -> dict[str, Any]:
    """The local names of a frame.

    Not those in cells in Python 3.13: its first releases crash when a comprehension binds one of them
    (https://github.com/python/cpython/issues/128396).
    """
    if sys.version_info[:2] == (3, 13) and frame.f_code.co_cellvars:
        safe = set(frame.f_code.co_varnames) - set(frame.f_code.co_cellvars)
        return {name: frame.f_locals[name] for name in safe if name in frame.f_locals}
    return dict(frame.f_locals)


def shown(value: Any) -> str:
    """What an object says of itself, if it is ready to."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}: {error!r}>"


def traced(path: str, call: Callable[[], Any]) -> list[str]:
    """Every event `sys.settrace` gives of a file, with the local names."""
    found: list[str] = []
    failed: list[BaseException] = []
    lines = LinesOf()

    def tell(frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_lasti <= beginning_of(frame.f_code):
            lines.begins(frame)
        if event == "line" and not lines.counts(frame, frame.f_lineno):
            return
        what = argument[0].__name__ if event == "exception" else shown(argument) if event == "return" else ""
        names = {name: shown(value) for name, value in sorted(names_in(frame).items()) if name not in ("t", "__class__")}
        found.append(f"{event} {frame.f_code.co_name}:{frame.f_lineno} {what} {names}")

    def trace(frame: types.FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != path:
            return None
        try:
            tell(frame, event, argument)
        except BaseException as error:  # Python would stop tracing and say nothing
            failed.append(error)
            raise
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    if failed:
        raise failed[0]
    return [without_addresses(line) for line in found]


def monitored(path: str, call: Callable[[], Any]) -> list[str]:
    """Every event `sys.monitoring` gives of a file, instructions, branches, jumps and calls apart (Python 3.12 on)."""
    monitoring = sys.monitoring
    tool, found = monitoring.PROFILER_ID, []
    events, lines = monitoring.events, LinesOf()

    def on(name: str) -> Callable[..., Any]:
        def callback(code: types.CodeType, place: int, *rest: Any) -> Any:
            if code.co_filename != path:
                return None
            frame = sys._getframe(1)
            if name == "PY_START":
                lines.begins(frame)
            if name == "LINE" and not lines.counts(frame, place):
                return None
            where = f"line {place}" if name == "LINE" else ""
            what = [type(one).__name__ if isinstance(one, BaseException) else repr(one) for one in rest]
            found.append(f"{name} {code.co_name} {where} {what}")
            return None

        return callback

    names = [
        *("LINE", "PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "PY_THROW"),
        *("RAISE", "RERAISE", "EXCEPTION_HANDLED", "STOP_ITERATION"),
    ]
    monitoring.use_tool_id(tool, "test")
    try:
        for name in names:
            monitoring.register_callback(tool, getattr(events, name), on(name))
        monitoring.set_events(tool, sum(getattr(events, name) for name in names))
        call()
    finally:
        monitoring.set_events(tool, 0)
        for name in names:
            monitoring.register_callback(tool, getattr(events, name), None)
        monitoring.free_tool_id(tool)
    return [without_addresses(line) for line in found]
