"""Takes source files and observers; swaps woven code into the functions that run, and swaps it back.

Knows no torch and no recording: what an observer does with a value is not its business. A function is found through the
garbage collector by its code object, so that decorators, closures and wrappers hide nothing; it is matched by comparing that
code with what its source compiles to, so that a changed file, or code another tool rewrote, is refused, never guessed.
"""

from __future__ import annotations
import __future__

import ast
import functools
import gc
import inspect
import marshal
import operator
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
from stillframe.capture.sites import Unit, plant, prune

_COMPREHENSION_CODE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})

_FUTURE = functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))

_FROZEN_BY_PYTHON = 1000  # more objects than an interpreter freezes before it runs anything

CodeKey = tuple[types.CodeType, str, bytes]


@dataclass(frozen=True, slots=True)
class Observers:
    """What stands at each kind of marker (see `places`): an observer records, halts, or hands back another value."""

    value: Callable[[int, Any], Any]
    inner: Callable[[int, Any], Any]
    held: Callable[[int, Any], Any]
    enter: Callable[..., None]
    method: Callable[..., None]
    base: Callable[[int, Any], Any]
    stored: Callable[[int], None]
    caught: Callable[[int], None]
    mark: Callable[[int], None]

    def at_markers(self) -> dict[str, Callable[..., Any]]:
        """The observers by the marker they replace."""
        return {
            VALUE: self.value,
            INNER: self.inner,
            HELD: self.held,
            ENTER: self.enter,
            METHOD: self.method,
            BASE: self.base,
            STORED: self.stored,
            CAUGHT: self.caught,
            MARK: self.mark,
        }


@dataclass(frozen=True, slots=True)
class WovenFile:
    """Code of one file, compiled plain and with markers, and the places the markers stand for."""

    path: str
    functions: tuple[PlannedFunction, ...]
    sites: tuple[PlannedSite, ...]
    plain: types.CodeType
    marked: types.CodeType


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No search for garbage within this block.

    A syntax tree is many objects at once, for which Python would look through all that the program holds, several times;
    none of them is garbage that only a search finds.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def weave_source(
    source: str,
    path: str,
    units: Iterable[Unit] | None = None,
    *,
    whole: bool = False,
    module_body: bool = False,
    watch: Callable[[PlannedSite], bool] | None = None,
    flags: int = 0,
) -> WovenFile:
    """Compile a file with markers in the chosen units (all, if None). Raises SyntaxError.

    `flags` are those of a code object of it: a `__future__` import may have been made outside of the text.

    The code is that of the chosen functions alone, unless `whole` (the module's own statements stay, unwatched) or
    `module_body` (they are watched too): then it can be executed as the module.
    """
    flags &= _FUTURE
    with collector_at_rest(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a marker is a string that is called, and the compiler remarks on it
        tree = ast.parse(source)
        if not (whole or module_body):
            prune(tree, units)
        plain = compile(tree, path, "exec", flags=flags, dont_inherit=True)
        planted = plant(tree, source, module_body=module_body, watch=watch)
        marked = compile(tree, path, "exec", flags=flags, dont_inherit=True)
    return WovenFile(path, planted.functions, planted.sites, plain, marked)


def inject(code: types.CodeType, at_markers: dict[str, Callable[..., Any]], first_site: int) -> types.CodeType:
    """The same code with observers where markers stand; site numbers start at `first_site`."""
    constants: list[Any] = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constants.append(inject(constant, at_markers, first_site))
        elif isinstance(constant, str) and constant.startswith(SITE):
            constants.append(int(constant[len(SITE) :]) + first_site)
        elif isinstance(constant, str) and constant in at_markers:
            constants.append(at_markers[constant])
        else:
            constants.append(constant)
    return _with_constants(code, constants)


def _with_constants(code: types.CodeType, constants: list[Any]) -> types.CodeType:
    """The same code with other constants.

    `code.replace` forgets which variables belong to inlined comprehensions: whoever looks at the locals of a class body would
    then take them for the class's own (Python 3.12 deletes those of that name). Of such code a copy is made that remembers,
    and its constants are set one by one, before anybody else has seen it.
    """
    if code.co_flags & inspect.CO_OPTIMIZED or not code.co_varnames:
        return code.replace(co_consts=tuple(constants))
    import ctypes

    copy: types.CodeType = marshal.loads(marshal.dumps(code))
    address = ctypes.c_void_p(id(copy.co_consts))  # PyTuple_SetItem asks for a tuple that nobody holds but its owner
    try:
        for index, (before, constant) in enumerate(zip(code.co_consts, constants, strict=True)):
            if constant is not before:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(constant))
                ctypes.pythonapi.PyTuple_SetItem(address, ctypes.c_ssize_t(index), ctypes.py_object(constant))
    except SystemError:  # another build of Python may share constants between codes
        return code.replace(co_consts=tuple(constants))
    return copy


def key_of(code: types.CodeType) -> CodeKey:
    """What tells two code objects apart, columns included (equality alone leaves them out before Python 3.12)."""
    return code, code.co_qualname, code.co_linetable


def paired(plain: types.CodeType, woven: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """Each code object nested in `plain` with its counterpart in `woven`. Stops where the two no longer correspond."""
    inner = [[c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (plain, woven)]
    if len(inner[0]) != len(inner[1]):
        return
    for one, other in zip(*inner, strict=True):
        if one.co_name != other.co_name or one.co_freevars != other.co_freevars:
            continue
        if one.co_firstlineno == other.co_firstlineno:
            yield one, other
            yield from paired(one, other)


@dataclass(slots=True)
class Loom:
    """Holds what is woven now.

    `codes` are the ids of woven functions' code objects; `inner_codes` those of comprehensions and generator expressions, each
    with the id of the function's code it stands in.
    """

    codes: set[int] = field(default_factory=set)
    inner_codes: dict[int, int] = field(default_factory=dict)
    _plain_of: dict[int, types.CodeType] = field(default_factory=dict)
    _kept: list[types.CodeType] = field(default_factory=list)
    _woven_of: dict[CodeKey, types.CodeType] = field(default_factory=dict)
    _paths: set[str] = field(default_factory=set)
    _swapped: list[tuple[weakref.ref[types.FunctionType], types.CodeType]] = field(default_factory=list)

    def take(self, file: WovenFile, observers: Observers, first_site: int) -> types.CodeType:
        """Ready a file's code; returns the woven module code. Functions change only in `swap`."""
        woven = inject(file.marked, observers.at_markers(), first_site)
        self._remember(file.plain, woven)
        for plain, code in paired(file.plain, woven):
            self._woven_of[key_of(plain)] = code
            self._remember(plain, code)
        self._place_inner(woven, id(woven))
        self._paths.add(file.path)
        return woven

    def _remember(self, plain: types.CodeType, woven: types.CodeType) -> None:
        self._kept.append(woven)  # so that an id stays the id of this code
        self._plain_of[id(woven)] = plain
        if woven.co_name not in _COMPREHENSION_CODE:
            self.codes.add(id(woven))

    def _place_inner(self, code: types.CodeType, function: int) -> None:
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                inner = constant.co_name in _COMPREHENSION_CODE
                if inner:
                    self.inner_codes[id(constant)] = function
                self._place_inner(constant, function if inner else id(constant))

    def swap(
        self,
        functions: Iterable[types.FunctionType],
        skips: Callable[[types.FunctionType], bool] = lambda function: False,
    ) -> list[types.FunctionType]:
        """Put woven code into each function that has the plain one, unless `skips` it.

        Returns the functions of woven files for which there is no code: their code is not what their source compiles to, or
        they were not among the chosen units.
        """
        missed: list[types.FunctionType] = []
        for function in functions:
            code = function.__code__
            if code.co_filename in self._paths and id(code) not in self._plain_of and not skips(function):
                woven = self._woven_of.get(key_of(code))
                if woven is None:
                    missed.append(function)
                else:
                    self._put(woven, function)
        return missed

    def swap_one(self, function: types.FunctionType) -> bool:
        """The same for one function known already."""
        woven = self._woven_of.get(key_of(function.__code__))
        if woven is not None:
            self._put(woven, function)
        return woven is not None

    def _put(self, woven: types.CodeType, function: types.FunctionType) -> None:
        own = function.__code__
        function.__code__ = woven
        self._swapped.append((weakref.ref(function), own))
        for plain, code in paired(own, woven):  # what it makes while woven gets back the very code it would have had
            self._plain_of[id(code)] = plain

    def watch_plainly(self, code: types.CodeType) -> None:
        """Count a code object as watched although it is as it was: somebody tells of its frames in another way."""
        self._kept.append(code)
        self.codes.add(id(code))

    def is_woven(self, code: types.CodeType) -> bool:
        """Whether this is woven code of ours."""
        return id(code) in self._plain_of

    def restore(self) -> None:
        """Give every function its own code back, those made during the run too. May be called again."""
        self.restore_swapped()
        for function in functions_alive():
            plain = self._plain_of.get(id(function.__code__))
            if plain is not None:
                function.__code__ = plain

    def restore_swapped(self) -> None:
        """The same for the functions that were swapped, without looking for others."""
        for reference, own in self._swapped:
            function = reference()
            if function is not None and id(function.__code__) in self._plain_of:
                function.__code__ = own
        self._swapped.clear()
        self._woven_of.clear()
        self._paths.clear()


def functions_alive() -> list[types.FunctionType]:
    """Every Python function that there is."""
    return [thing for thing in objects_alive() if type(thing) is types.FunctionType]


def objects_alive() -> list[Any]:
    """Every object the garbage collector knows of, and those that `gc.freeze` hides from it too."""
    found = gc.get_objects()
    if gc.get_freeze_count() > _FROZEN_BY_PYTHON:
        known = set(map(id, found))
        found += [thing for thing in _reachable() if id(thing) not in known]
    return found


def _reachable() -> Iterator[Any]:
    """Every object that modules and running frames lead to."""
    pending: list[Any] = [*sys.modules.values(), *sys._current_frames().values()]
    met: set[int] = set()
    while pending:
        fresh = [thing for thing in pending if gc.is_tracked(thing) and id(thing) not in met]
        fresh = list({id(thing): thing for thing in fresh}.values())
        met.update(map(id, fresh))
        yield from fresh
        pending = gc.get_referents(*fresh)
