"""Takes model classes and the names used so far; gives the functions that running them can reach, within their packages.

Knows no weaving. The answer is an over-estimate on purpose: a function that is watched and never called costs nothing. A
call is followed by the names in its code: globals directly, methods by their name among the classes met so far, registries
(a dict of functions, or an object that holds one) into all their entries. Wrappers are followed to what they wrap. Left out
is what builds or loads a model instead of running it (`__init__` and class methods of model classes), and how Python looks
up an attribute.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_REGISTRY_SIZE = 400
_ATTRIBUTE_LOOKUP = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__"})


@dataclass(slots=True)
class Reach:
    """What has been reached so far; grows with each class and name added.

    `wanted(function)` says whether a function is in scope at all, `is_model(class)` whether a class is a torch module's.
    `functions` is in the order of discovery, without wrappers; all are of packages that a class or function was added from.
    """

    wanted: Callable[[types.FunctionType], bool]
    is_model: Callable[[type], bool]
    functions: dict[int, types.FunctionType] = field(default_factory=dict)
    wrappers: dict[int, types.FunctionType] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _classes: dict[int, type] = field(default_factory=dict)
    _objects: dict[int, Any] = field(default_factory=dict)
    _methods: dict[str, list[Any]] = field(default_factory=dict)
    _packages: set[str] = field(default_factory=set)
    _pending: list[types.FunctionType] = field(default_factory=list)

    def add_names(self, names: Iterable[str]) -> None:
        """Methods of these names are called by somebody."""
        for name in names:
            if name not in self._names:
                self._names.add(name)
                for thing in self._methods.pop(name, ()):
                    self._thing(thing)
        self._drain()

    def add_class(self, kind: type, *, package: str) -> None:
        """Objects of this class take part. Only base classes of the same top-level package are looked into."""
        self._packages.add(package)
        self._class(kind, package)
        self._drain()

    def add_function(self, function: Any) -> None:
        """A function that is called by somebody."""
        self._packages.update(_package_of(one.__module__) for one in _functions_behind(function))
        self._thing(function)
        self._drain()

    def _drain(self) -> None:
        while self._pending:
            function = self._pending.pop()
            package = function.__module__.partition(".")[0] if function.__module__ else ""
            namespace = function.__globals__
            used = set(names_in(function.__code__))
            for name in used:
                if name in namespace:
                    self._global(namespace[name], package, used)
            for cell in _cells(function):
                self._global(cell, package, used)
            fresh = used - self._names
            self._names |= fresh
            for name in fresh:
                for thing in self._methods.pop(name, ()):
                    self._thing(thing)

    def _global(self, thing: Any, package: str, used: set[str]) -> None:
        if isinstance(thing, types.ModuleType):
            if _package_of(thing.__name__) == package:
                for name in used & thing.__dict__.keys():
                    inner = thing.__dict__[name]
                    if not isinstance(inner, types.ModuleType):
                        self._global(inner, package, used)
            return
        if id(thing) in self._objects:
            return
        if isinstance(thing, type):
            if _package_of(thing.__module__) == package:
                self._class(thing, package)
        elif isinstance(thing, types.FunctionType | functools.partial):
            self._objects[id(thing)] = thing
            self._thing(thing)
        elif isinstance(thing, dict) or _package_of(type(thing).__module__) == package:
            self._objects[id(thing)] = thing
            if not isinstance(thing, dict):
                self._class(type(thing), package)
            for entry in _entries(thing):
                if isinstance(entry, types.FunctionType | functools.partial):
                    self._thing(entry)
                elif isinstance(entry, type) and _package_of(entry.__module__) == package:
                    self._class(entry, package)

    def _class(self, kind: type, package: str) -> None:
        for base in kind.__mro__:
            if id(base) in self._classes or _package_of(base.__module__) != package:
                continue
            self._classes[id(base)] = base
            model = self.is_model(kind)
            for name, thing in base.__dict__.items():
                if name in _ATTRIBUTE_LOOKUP or model and (name == "__init__" or isinstance(thing, classmethod)):
                    continue
                if name in self._names or name in ("forward", "__call__"):
                    self._thing(thing)
                else:
                    self._methods.setdefault(name, []).append(thing)

    def _thing(self, thing: Any) -> None:
        """Take in the functions behind a function, method, property or wrapper."""
        for function in _functions_behind(thing):
            key = id(function)
            if key in self.functions or key in self.wrappers or _package_of(function.__module__) not in self._packages:
                continue
            if not self.wanted(function):
                continue
            if hasattr(function, "__wrapped__"):
                self.wrappers[key] = function
            else:
                self.functions[key] = function
            self._pending.append(function)


def names_in(code: types.CodeType) -> Iterator[str]:
    """Every global, attribute and import name in a code object and those nested in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


def _functions_behind(thing: Any) -> Iterator[types.FunctionType]:
    seen: set[int] = set()
    pending = [thing]
    while pending and len(seen) < 50:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, types.FunctionType):
            yield one
            if "__wrapped__" in one.__dict__:
                pending.append(one.__dict__["__wrapped__"])
            pending += [cell for cell in _cells(one) if isinstance(cell, types.FunctionType)]
        elif isinstance(one, staticmethod | classmethod | types.MethodType):
            pending.append(one.__func__)
        elif isinstance(one, property):
            pending += [accessor for accessor in (one.fget, one.fset) if accessor]
        elif isinstance(one, functools.partial | functools.cached_property):
            pending.append(one.func)


def _cells(function: types.FunctionType) -> list[Any]:
    values = []
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    return values


def _entries(thing: Any) -> list[Any]:
    """What a registry holds: the values of a dict, or of the dicts an object and its class keep."""
    if isinstance(thing, dict):
        return list(dict.values(thing)) if dict.__len__(thing) <= _REGISTRY_SIZE else []
    entries: list[Any] = []
    for kept in (*vars(type(thing)).values(), *getattr(thing, "__dict__", {}).values()):
        if type(kept) is dict and len(kept) <= _REGISTRY_SIZE:
            entries += kept.values()
    return entries


def _package_of(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""
