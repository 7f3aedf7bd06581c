"""Takes what a site hands over while the program runs; gives events: rows of three numbers, in order.

Knows no file and no model. Everything here is on the hot path of somebody else's program: it looks up, appends and returns;
it never raises, and a fault of its own is counted, not passed on.
"""

from __future__ import annotations

import sys
import weakref
from _thread import get_ident
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from stillframe.capture.objects import plain_args
from stillframe.capture.values import ValueKeeper
from stillframe.capture.weave import Observers

MAX_CHAIN = 400


# A frame begun: address of the frame in scope above it (0: none), the code and instruction offset there that was at work,
# the code objects out of scope between (innermost first), the thread, whether the autograd engine was running, and the value id
# of the object whose method it is (0: none). A plain tuple, as it is made on the hot path.
Entered = tuple[int, CodeType | None, int, tuple[CodeType, ...], int, bool, int]


@dataclass(frozen=True, slots=True)
class Caught:
    """A handler entered: the exception's type, its bounded message, and the frames it had left, outermost first."""

    type_name: str
    message: str
    frames: tuple[int, ...]
    lines: tuple[int, ...]


@dataclass(slots=True)
class EventLog:
    """What observers append to.

    `events` holds site, frame address and value id of each event in turn: three numbers an event, since numbers cost the
    garbage collector nothing. A negative site marks a row of `extra`, whose key stands where the value would. `faults` counts
    errors of our own by what they were.
    """

    events: list[int] = field(default_factory=list)
    extra: dict[int, Entered | Caught] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    active: bool = True

    def fault(self, error: BaseException) -> None:
        """Count an error of our own."""
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        line = f" (line {where.tb_lineno} of {where.tb_frame.f_code.co_qualname})" if where else ""
        what = f"{type(error).__name__}: {str(error)[:200]}{line}"
        if what in self.faults or len(self.faults) < 50:
            self.faults[what] = self.faults.get(what, 0) + 1


def make_observers(
    log: EventLog,
    keeper: ValueKeeper,
    codes: Collection[int],
    inner_codes: Mapping[int, int],
    verify: bool,
) -> tuple[Observers, Callable[[], None], Callable[[int, FrameType, tuple[Any, ...], int | None], None]]:
    """Observers that record into `log`, what to call once torch has been imported, and what tells of a frame begun elsewhere.

    `codes` and `inner_codes` are as in weave.Loom. `verify`: look at the bytes of what
    is read from attributes, since code out of scope may write to them without torch counting it.
    """
    add, extra, fault = log.events.extend, log.extra, log.fault
    known, immediates = keeper.known.get, keeper.immediates.get
    reference, constant, tensor, name_of = keeper.of, keeper.constant, keeper.tensor, keeper.name_of
    fresh, get_frame = keeper.number, sys._getframe
    pending: dict[int, Any] = {}
    plain_tensor: type = _Never
    parameter: type = _Never
    modes: Callable[[], int] = _zero
    graph_task: Callable[[], int] = _minus_one

    def use_torch() -> None:
        nonlocal plain_tensor, parameter, modes, graph_task
        torch = sys.modules["torch"]
        plain_tensor, parameter = torch.Tensor, torch.nn.Parameter
        modes, graph_task = torch._C._len_torch_function_stack, torch._C._current_graph_task_id

    def value(site: int, value: Any) -> Any:
        if not log.active:
            return value
        try:
            kind = type(value)
            if kind is plain_tensor or kind is parameter:
                before = known(id(value))
                if (
                    before is not None
                    and before() is value
                    and before.address > 0  # else it may have no memory that can be asked for
                    and not modes()
                    and before.address == value.data_ptr()
                    and before.version == value._version
                ):
                    add((site, id(get_frame(1)), before.value))
                else:
                    add((site, id(get_frame(1)), tensor(value, site)))
                return value
            plain = immediates(kind)
            if plain is not None:
                number = plain.get(value)
                add((site, id(get_frame(1)), constant(value, plain) if number is None else number))
            else:
                add((site, id(get_frame(1)), reference(value)))
        except Exception as error:
            fault(error)
        return value

    def inner(site: int, value: Any) -> Any:
        if log.active:
            try:
                frame = get_frame(1)
                function = inner_codes.get(id(frame.f_code))
                address = id(frame) if function is None else frame_of(function, frame)
                add((site, address, reference(value)))
            except Exception as error:
                fault(error)
        return value

    def held(site: int, value: Any) -> Any:
        if log.active:
            try:
                kind = type(value)
                if verify and (kind is plain_tensor or kind is parameter):
                    add((site, id(get_frame(1)), tensor(value, 0, True)))
                else:
                    plain = immediates(kind)
                    number = plain.get(value) if plain is not None else None
                    add((site, id(get_frame(1)), reference(value) if number is None else number))
            except Exception as error:
                fault(error)
        return value

    def enter(site: int, *arguments: Any) -> None:
        if log.active:
            try:
                entered(site, get_frame(1), arguments, None)
            except Exception as error:
                fault(error)

    def method(site: int, owner: Any, *arguments: Any) -> None:
        if log.active:
            try:  # what the object holds is told where it changes, not at each of its methods
                met = known(id(owner))
                entered(site, get_frame(1), arguments, met.value if met and met() is owner and met.value else name_of(owner))
            except Exception as error:
                fault(error)

    def entered(site: int, frame: FrameType, arguments: tuple[Any, ...], owner: int | None) -> None:
        address = id(frame)
        above = frame.f_back
        chain: list[CodeType] = []
        site_code, lasti = None, 0
        while above is not None and len(chain) < MAX_CHAIN:
            code = above.f_code
            if id(code) in codes:
                break
            if id(code) not in inner_codes:
                chain.append(code)
            elif site_code is None:
                site_code, lasti = code, above.f_lasti
            above = above.f_back
        if above is not None and site_code is None:
            site_code, lasti = above.f_code, above.f_lasti
        row = fresh()
        caller = id(above) if above is not None and len(chain) < MAX_CHAIN else 0
        extra[row] = (caller, site_code, lasti, tuple(chain), get_ident(), graph_task() != -1, owner or 0)
        events = [-site, address, row]
        if owner is not None:
            site += 1
            events += (site, address, owner)
        for argument in arguments:  # of an object that is known it is enough to say which it is
            site += 1
            kind = type(argument)
            if kind is plain_tensor:
                seen = tensor(argument, site)
            else:
                plain = immediates(kind)
                number = plain.get(argument) if plain is not None else None
                seen = reference(argument, 1) if number is None else number
            events += (site, address, seen)
        add(events)

    def base(site: int, value: Any) -> Any:
        if log.active:
            try:
                address = id(get_frame(1))
                try:
                    pending[address] = weakref.ref(value)
                except TypeError:
                    pending[address] = lambda: value  # a list or dict: let go at `stored`, the next instruction but one
            except Exception as error:
                fault(error)
        return value

    def stored(site: int) -> None:
        try:
            address = id(get_frame(1))
            target = pending.pop(address, None)
            thing = target() if target is not None else None
            if log.active and thing is not None:
                add((site, address, reference(thing)))
        except Exception as error:
            fault(error)

    def caught(site: int) -> None:
        if not log.active:
            return
        try:
            frame = get_frame(1)
            error = sys.exception()
            if error is None:
                return
            frames, lines = [], []
            trace = error.__traceback__
            while trace is not None:
                if trace.tb_frame is not frame and id(trace.tb_frame.f_code) in codes:
                    frames.append(id(trace.tb_frame))
                    lines.append(trace.tb_lineno)
                trace = trace.tb_next
            row = fresh()
            plain = [str(one) for one in plain_args(error) if type(one) in (str, int)]
            extra[row] = Caught(type(error).__qualname__, " ".join(plain)[:200], tuple(frames), tuple(lines))
            add((-site, id(frame), row))
        except Exception as fault_of_ours:
            fault(fault_of_ours)

    def mark(site: int) -> None:
        if log.active:
            add((site, id(get_frame(1)), 0))

    return (
        Observers(value, inner, held if verify else value, enter, method, base, stored, caught, mark),
        use_torch,
        entered,
    )


def frame_of(function: int, inner: FrameType) -> int:
    """The address of the frame of a function (the id of its code) that a comprehension's frame belongs to; 0 if unsure.

    A comprehension is called by its function; a generator expression by whoever consumes it, further down from its function.
    """
    frame = inner.f_back
    found = 0
    while frame is not None:
        if id(frame.f_code) == function:
            if frame is inner.f_back and inner.f_code.co_name != "<genexpr>":
                return id(frame)
            if found:
                return 0  # the function is at work twice: which of the two it is cannot be told
            found = id(frame)
        frame = frame.f_back
    return found


class _Never:
    """A class that nothing is an instance of."""


def _zero() -> int:
    return 0


def _minus_one() -> int:
    return -1
