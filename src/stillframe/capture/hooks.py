"""Takes callbacks; calls them when a module is imported, a function entered, a process forked, or `breakpoint()` is met.

Knows nothing of what the callbacks do. Everything installed is taken out again by `remove`, in reverse order.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from typing import Any

from stillframe.capture.places import PlannedSite
from stillframe.capture.sites import Unit
from stillframe.capture.weave import Loom, Observers, weave_source


@dataclass(slots=True)
class Hooks:
    """What has been installed, and how to take each of it out."""

    _undo: list[Callable[[], None]] = field(default_factory=list)

    def add(self, undo: Callable[[], None]) -> None:
        """Remember how to undo something that has just been done."""
        self._undo.append(undo)

    def remove(self) -> None:
        """Undo everything, last first. May be called again."""
        while self._undo:
            self._undo.pop()()

    def watch_imports(self, watcher: ImportWatcher) -> None:
        """Let `watcher` see every import from now on."""
        sys.meta_path.insert(0, watcher)

        def undo() -> None:
            if watcher in sys.meta_path:
                sys.meta_path.remove(watcher)

        self.add(undo)

    def watch_entry(self, module: types.ModuleType, callbacks: Mapping[str, Callable[[Any], None]]) -> None:
        """Call back with the first argument whenever a function of `module`, named by its qualified name, is entered."""
        path = module.__file__ or ""
        with open(path, encoding="utf-8") as file:
            woven = weave_source(file.read(), path, [Unit(qualname, 0) for qualname in callbacks], watch=_is_entry)
        loom = Loom()
        by_site = [callbacks[woven.functions[site.function].qualname] for site in woven.sites]
        loom.take(woven, _entry_observers(by_site), 0)
        for qualname in callbacks:
            function: Any = module
            for part in qualname.split("."):
                function = function.__dict__[part]
            if isinstance(function, types.FunctionType):
                loom.swap_one(function)
        self.add(loom.restore_swapped)

    def take_breakpoints(self, hook: Callable[..., Any]) -> None:
        """Let `hook` be what `breakpoint()` calls."""
        before = sys.breakpointhook
        sys.breakpointhook = hook

        def undo() -> None:
            if sys.breakpointhook is hook:
                sys.breakpointhook = before

        self.add(undo)

    def watch_forks(self, in_parent: Callable[[], None], in_child: Callable[[], None]) -> None:
        """Call back around each `fork`, until removed."""
        if not hasattr(os, "register_at_fork"):
            return
        alive = [True]
        os.register_at_fork(
            after_in_parent=lambda: in_parent() if alive[0] else None,
            after_in_child=lambda: in_child() if alive[0] else None,
        )
        self.add(lambda: alive.__setitem__(0, False))

    def make_room(self, frames: int) -> None:
        """Raise the recursion limit by what an observer needs, so that the program itself may nest as deep as without it."""
        raised = sys.getrecursionlimit() + frames
        sys.setrecursionlimit(raised)

        def undo() -> None:
            if sys.getrecursionlimit() == raised:
                with contextlib.suppress(RecursionError):
                    sys.setrecursionlimit(raised - frames)

        self.add(undo)

    def hide_from_debugger(self, pattern: str) -> None:
        """Ask a debugger of the standard library's kind, if one is tracing, not to step into modules of this pattern."""
        debugger = getattr(sys.gettrace(), "__self__", None)
        if debugger is None or not hasattr(debugger, "is_skipped_module"):
            return
        before = debugger.skip
        debugger.skip = {*(before or ()), pattern}
        self.add(lambda: setattr(debugger, "skip", before))


class ImportWatcher(MetaPathFinder):
    """Finds nothing itself: it lets the other finders find, and looks over the loader's shoulder.

    `code_for(name, path)` may give the code a source module is executed with; `after(module)` is called once it has been.
    """

    def __init__(
        self,
        code_for: Callable[[str, str], types.CodeType | None],
        after: dict[str, Callable[[types.ModuleType], None]],
    ) -> None:
        self._code_for = code_for
        self._after = after
        self._busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec that the other finders give, its loader watched if need be."""
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: importlib.machinery.ModuleSpec | None = find(fullname, path, target)
            if spec is not None:
                self._watch(fullname, spec)
                return spec
        return None

    def _watch(self, name: str, spec: importlib.machinery.ModuleSpec) -> None:
        loader = spec.loader
        after = self._after.get(name)
        source = isinstance(loader, importlib.machinery.SourceFileLoader)
        code = self._code_for(name, spec.origin) if source and spec.origin else None
        if loader is None or after is None and code is None:
            return
        own = loader.__dict__
        if code is not None:

            def get_code(name: str) -> types.CodeType:
                del own["get_code"]
                return code

            own["get_code"] = get_code
        if after is not None:
            execute = loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                del own["exec_module"]
                execute(module)
                after(module)

            own["exec_module"] = exec_module


def _is_entry(site: PlannedSite) -> bool:
    return site.kind == "enter"


def _entry_observers(callbacks: Sequence[Callable[[Any], None]]) -> Observers:
    def enter(site: int, *arguments: Any) -> None:
        if arguments:
            callbacks[site](arguments[0])

    def same(site: int, value: Any) -> Any:
        return value

    def nothing(site: int) -> None:
        return None

    return Observers(same, same, same, enter, enter, same, nothing, nothing, nothing)
