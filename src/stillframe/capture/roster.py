"""Takes functions and files to be watched; weaves them and tells the recorder of their sites.

Knows no run: what the observers do, and when, is not its business. One number range of sites, functions and files serves all.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import tokenize
import types
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from stillframe.capture.cache import woven_file
from stillframe.capture.scope import Scope, package_path
from stillframe.capture.sites import Unit
from stillframe.capture.weave import Loom, Observers, WovenFile, weave_source
from stillframe.records import Function, Site, SourceFile

Register = Callable[[SourceFile, list[Function], list[Site]], None]
Refuse = Callable[[str, str], None]


@dataclass(slots=True)
class Roster:
    """Who is watched so far. `register` is told of files, functions and sites; `refuse(subject, reason)` of what cannot be."""

    scope: Scope
    loom: Loom
    observers: Observers
    register: Register
    refuse: Refuse
    _files: dict[str, SourceFile] = field(default_factory=dict)
    _units: dict[str, set[Unit]] = field(default_factory=lambda: defaultdict(set))
    _whole: set[str] = field(default_factory=set)
    _sites: int = 0
    _functions: int = 0

    def watch_file(self, path: str, module: str = "", flags: int = 0) -> None:
        """Weave every function of a file. Functions change in `swap`. `flags`: as in `weave_source`, for text in no file."""
        text = self._text(path, module)
        if text is not None and path not in self._whole:
            self._whole.add(path)
            in_no_file = path.startswith("<")
            self._take(path, lambda: weave_source(text, path, flags=flags) if in_no_file else woven_file(text, path))

    def watch_functions(self, functions: Iterable[types.FunctionType]) -> None:
        """Weave the top-level functions and methods that these are, or are nested in, and swap these at once."""
        wanted: dict[str, list[types.FunctionType]] = defaultdict(list)
        for function in functions:
            wanted[function.__code__.co_filename].append(function)
        for path, group in wanted.items():
            module = group[0].__module__ or ""
            text = self._text(path, module)
            if text is None:
                continue
            fresh = {_unit_of(function.__code__) for function in group} - self._units[path] - {None}
            if fresh and path not in self._whole:
                units = {unit for unit in fresh if unit is not None}
                self._units[path] |= units
                self._take(path, functools.partial(woven_file, text, path, units))
            self._missed(
                function for function in group if not self.loom.swap_one(function) and not self.loom.is_woven(function.__code__)
            )

    def swap(self, functions: Iterable[types.FunctionType]) -> None:
        """Let every one of these functions that is to be watched run its woven code; say which cannot.

        Wrappers of libraries are passed over, although they stand in functions that are watched.
        """

        def is_wrapper(function: types.FunctionType) -> bool:
            file = self._files.get(function.__code__.co_filename)
            return file is not None and file.origin == "library" and "__wrapped__" in function.__dict__

        missed = self.loom.swap(functions, is_wrapper)
        self._missed(function for function in missed if function.__code__.co_filename in self._whole)

    def _missed(self, functions: Iterable[types.FunctionType]) -> None:
        names: dict[str, list[str]] = defaultdict(list)
        for function in functions:
            if function.__code__.co_name == "<module>":  # a prompt runs what was typed as a function's code
                continue
            names[function.__code__.co_filename].append(f"{function.__qualname__} (line {function.__code__.co_firstlineno})")
        for path, group in names.items():
            more = f" and {len(group) - 5} more" if len(group) > 5 else ""
            self.refuse(
                f"{package_path(path)}: {', '.join(group[:5])}{more}",
                "code that is not what the source compiles to: the file changed since, or another tool rewrote it",
            )

    def add_textless(self, path: str, code: types.CodeType, parameters: list[str]) -> int:
        """Give a function without source text sites for its call and its arguments; returns the first."""
        if path not in self._files:
            self._files[path] = SourceFile(len(self._files) + 1, path, path, "interactive", "")
        self._functions += 1
        lines = [line for _, _, line in code.co_lines() if line is not None]
        function = Function(self._functions, self._files[path].id, code.co_qualname, code.co_firstlineno, max(lines))
        kinds = [("enter", ""), *(("param", name) for name in parameters)]
        first = self._sites + 1
        sites = [self._textless(kind, "", code.co_firstlineno, name) for kind, name in kinds]
        self.register(self._files[path], [function], sites)
        return first

    def add_textless_line(self, path: str, function_site: int, line: int, name: str) -> int:
        """Give a line of such a function a site for a name that it bound ("return": for its result)."""
        use = "return" if name == "return" else "assign"
        site = self._textless("value" if use == "return" else "bind", use, line, "" if use == "return" else name, function_site)
        self.register(self._files[path], [], [site])
        return site.id

    def _textless(self, kind: str, use: str, line: int, binds: str, function: int = 0) -> Site:
        self._sites += 1
        return Site(self._sites, function or self._functions, kind, "line", use, line, 0, line, 0, binds)

    def code_of_module(self, path: str, name: str) -> types.CodeType | None:
        """Woven code to execute a module with that is about to be imported; None if it is to be left alone."""
        text = self._text(path, name)
        if text is None:
            return None
        self._whole.add(path)
        return self._take(path, lambda: weave_source(text, path, whole=True))

    def code_of_main(self, text: str, path: str) -> types.CodeType:
        """Woven code of a script, its own statements included. Raises SyntaxError."""
        self._whole.add(path)
        woven = weave_source(text, path, module_body=True)
        self._files[path] = SourceFile(len(self._files) + 1, path, package_path(path), "script", text)
        return self._loaded(path, woven)

    def _text(self, path: str, module: str) -> str | None:
        """The source text of a file in scope, None for any other."""
        decision = self.scope.of(path, module)
        if not decision.in_scope:
            return None
        known = self._files.get(path)
        if known is not None:
            return known.text
        if path.startswith("<"):
            text = "".join(linecache.getlines(path))
        else:
            try:
                with tokenize.open(path) as file:
                    text = file.read()
            except (OSError, SyntaxError, UnicodeDecodeError) as error:
                self.refuse(path, f"its source cannot be read: {error}")
                return None
        self._files[path] = SourceFile(len(self._files) + 1, path, package_path(path), decision.origin, text)
        return text

    def _take(self, path: str, weave: Callable[[], WovenFile]) -> types.CodeType | None:
        try:
            woven = weave()
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.refuse(path, f"its source cannot be woven: {type(error).__name__}: {error}")
            return None
        return self._loaded(path, woven)

    def _loaded(self, path: str, woven: WovenFile) -> types.CodeType:
        file = self._files[path]
        first_function, first_site = self._functions + 1, self._sites + 1
        functions = [
            Function(first_function + index, file.id, one.qualname, one.line, one.end_line)
            for index, one in enumerate(woven.functions)
        ]
        sites = [
            Site(
                first_site + index,
                first_function + one.function,
                one.kind,
                one.node,
                one.use,
                one.line,
                one.col,
                one.end_line,
                one.end_col,
                one.binds,
            )
            for index, one in enumerate(woven.sites)
        ]
        self._functions += len(functions)
        self._sites += len(sites)
        self.register(file, functions, sites)
        return self.loom.take(woven, self.observers, first_site)


def _unit_of(code: types.CodeType) -> Unit | None:
    """The top-level function or method that a function is or is nested in, whatever its line if nested."""
    outer, nested, _ = code.co_qualname.partition(".<locals>")
    if nested:
        return Unit(outer, 0)
    return None if outer.endswith("<lambda>") else Unit(outer, code.co_firstlineno)


def loaded_files(scope: Scope) -> list[tuple[str, str]]:
    """Path and module name of every imported module that belongs to the program being read."""
    found = []
    for name, module in list(sys.modules.items()):
        path: Any = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py"):
            decision = scope.of(path, name)
            if decision.in_scope and decision.origin == "user" and os.path.isfile(path):
                found.append((path, name))
    return found
