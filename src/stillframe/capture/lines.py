"""Takes functions that have no source text; tells, line by line, which names they bound, and their arguments and results.

The nearest thing to weaving where there is nothing to weave: functions typed at a plain prompt, or made from a string. It uses
`sys.monitoring` on just these functions where Python has it (3.12 and newer), else a trace function, unless somebody else
is tracing. It knows no torch and no recording.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

TOOL_NAME = "stillframe"

Begin = Callable[[FrameType, list[tuple[str, Any]]], None]
Tell = Callable[[FrameType, int, str, Any], None]


class LineWatch:
    """Watches the code objects given to `watch` until `stop`.

    `begin(frame, arguments)` is called at a call, `tell(frame, line, name, value)` when a line has bound a name; the name of a
    result is "return". `state(value)` says whether an object is still as it was: another answer means that it changed.
    """

    def __init__(self, begin: Begin, tell: Tell, state: Callable[[Any], Any]) -> None:
        self._begin, self._tell, self._state = begin, tell, state
        self._codes: set[CodeType] = set()
        self._frames: dict[int, tuple[int, dict[str, tuple[int, Any]]]] = {}  # frame's id -> line, names as last seen
        self._raising: set[int] = set()
        self._tool: int | None = None
        self._tracing = False

    def watch(self, codes: Iterable[CodeType]) -> str:
        """Begin to watch; returns by what means, "" if there is none (somebody else is tracing)."""
        self._codes |= set(codes)
        if sys.version_info >= (3, 12):
            return self._monitor()
        if sys.gettrace() is not None:
            return ""
        sys.settrace(self._trace)
        self._tracing = True
        return "a trace function"

    def stop(self) -> None:
        """Watch no more. May be called again."""
        if self._tracing and sys.gettrace() == self._trace:
            sys.settrace(None)
        self._tracing = False
        if sys.version_info >= (3, 12) and self._tool is not None:
            monitoring = sys.monitoring
            for code in self._codes:
                monitoring.set_local_events(self._tool, code, 0)
            monitoring.free_tool_id(self._tool)
            self._tool = None
        self._frames.clear()

    # ---- sys.monitoring

    def _monitor(self) -> str:
        if sys.version_info < (3, 12):
            return ""
        monitoring, events = sys.monitoring, sys.monitoring.events
        if self._tool is None:
            self._tool = next((number for number in (3, 4, 0, 1, 2, 5) if monitoring.get_tool(number) is None), None)
            if self._tool is None:
                return ""
            monitoring.use_tool_id(self._tool, TOOL_NAME)
            monitoring.register_callback(self._tool, events.PY_START, lambda code, at: self._started(sys._getframe(1)))
            monitoring.register_callback(self._tool, events.LINE, lambda code, line: self._reached(sys._getframe(1), line))
            monitoring.register_callback(
                self._tool, events.PY_RETURN, lambda code, at, value: self._returned(sys._getframe(1), value)
            )
        for code in self._codes:
            monitoring.set_local_events(self._tool, code, events.PY_START | events.LINE | events.PY_RETURN)
        return "sys.monitoring"

    # ---- sys.settrace

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event != "call" or frame.f_code not in self._codes:
            return None
        self._started(frame)
        return self._trace_inside

    def _trace_inside(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._raising.discard(id(frame))
            self._reached(frame, frame.f_lineno)
        elif event == "exception":
            self._raising.add(id(frame))
        elif event == "return":
            if id(frame) in self._raising:  # it is left by an exception, not by a return
                self._raising.discard(id(frame))
                self._frames.pop(id(frame), None)
            else:
                self._returned(frame, argument)
        return self._trace_inside

    # ---- what both have in common

    def _started(self, frame: FrameType) -> None:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        names = frame.f_locals
        arguments = [(name, names[name]) for name in code.co_varnames[:count] if name in names]
        self._begin(frame, arguments)
        self._frames[id(frame)] = (code.co_firstlineno, self._seen(frame))

    def _reached(self, frame: FrameType, line: int) -> None:
        known = self._frames.get(id(frame))
        if known is None:
            return
        before, names = known
        now = self._seen(frame)
        for name, state in now.items():
            if names.get(name) != state:
                self._tell(frame, before, name, frame.f_locals[name])
        self._frames[id(frame)] = (line, now)

    def _returned(self, frame: FrameType, value: Any) -> None:
        known = self._frames.get(id(frame))
        if known is not None:
            self._reached(frame, known[0])
            self._tell(frame, known[0], "return", value)
            del self._frames[id(frame)]

    def _seen(self, frame: FrameType) -> dict[str, tuple[int, Any]]:
        return {name: (id(value), self._state(value)) for name, value in frame.f_locals.items()}
