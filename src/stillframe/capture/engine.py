"""Takes a sink and options; records what runs between `start` and `stop`, and leaves everything as it was found.

Joins the parts of capture: scope and reach choose functions, the roster weaves them, observers log, the recorder writes. It
knows no file format and no reading.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pdb
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stillframe.capture.hooks import Hooks, ImportWatcher
from stillframe.capture.lines import LineWatch
from stillframe.capture.observe import EventLog, make_observers
from stillframe.capture.policy import ValuePolicy
from stillframe.capture.reach import Reach, names_in
from stillframe.capture.recorder import Recorder
from stillframe.capture.roster import Roster, loaded_files
from stillframe.capture.scope import Scope, ScopeRules
from stillframe.capture.values import ValueKeeper
from stillframe.capture.weave import Loom, collector_at_rest, objects_alive
from stillframe.errors import CaptureError
from stillframe.protocols import Sink
from stillframe.records import Module

MAX_NAMES = 200
_OBSERVER_DEPTH = 4
_IN_TREE = -3  # what Known.version says of a module whose path is known
_running: list[Engine] = []


class Engine:
    """One recording of one process. `start` once, `stop` once or more."""

    def __init__(self, sink: Sink, policy: ValuePolicy, rules: ScopeRules, *, threaded: bool = True) -> None:
        self.log = EventLog()
        self.keeper = ValueKeeper(policy)
        self.loom = Loom()
        observers, self._observe_torch, self._entered = make_observers(
            self.log, self.keeper, self.loom.codes, self.loom.inner_codes, policy.keep_bytes
        )
        self.recorder = Recorder(self.log, self.keeper, sink, threaded=threaded)
        self.scope = Scope(rules)
        self.roster = Roster(
            self.scope,
            self.loom,
            observers,
            self.recorder.add_file,
            lambda subject, why: self.recorder.note("unwoven", subject, why),
        )
        self._reach = Reach(self._is_wanted, _is_module_class)
        self._watched = 0
        self._seen_classes: set[type] = set()
        self._hooks = Hooks()
        self._lock = threading.RLock()
        self._started = 0.0
        self._stopped = False

    # ---- from start to stop

    def start(self, names: Iterable[str] = (), functions: Iterable[types.FunctionType] = ()) -> None:
        """Begin. `names`: attribute and function names that the code about to run uses; `functions`: what it will call."""
        refuse_second()
        _running.append(self)
        self._started = time.monotonic()
        try:
            with collector_at_rest():
                self._begin(names, functions)
        except BaseException:
            self._hooks.remove()
            self.loom.restore()
            self.recorder.close({"ended": "failed"})
            _running.remove(self)
            raise

    def _begin(self, names: Iterable[str], functions: Iterable[types.FunctionType]) -> None:
        """Choose functions, weave them, swap them."""
        self._install()
        self._reach.add_names(names)
        for function in functions:
            self._reach.add_function(function)
        for path, name in loaded_files(self.scope):
            self.roster.watch_file(path, name)
        things = objects_alive()
        alive = [thing for thing in things if type(thing) is types.FunctionType]
        kinds = {type(thing) for thing in things} if "torch" in sys.modules else set()
        del things
        self._watch_interactive(alive)
        self._watch_textless(alive)
        for kind in _module_classes(kinds):
            self._meet_class(kind)
        self._watch_reached()
        self.roster.swap(alive)
        del alive

    def stop(self, ended: str = "finished", facts: Mapping[str, Any] | None = None) -> None:
        """End: give every function its code back, write what is left. `ended` says how the run went."""
        if self._stopped:
            return
        self._stopped = True
        self.log.active = False
        self._hooks.remove()
        self.loom.restore()
        seconds = round(time.monotonic() - self._started, 3)
        self.recorder.close({**(facts or {}), "ended": ended, "seconds": seconds})
        self.keeper.close()
        if self in _running:
            _running.remove(self)

    @property
    def failure(self) -> BaseException | None:
        """Why nothing could be written any more, if so."""
        return self.recorder.failure

    # ---- told from outside

    def mark(self, frame: types.FrameType) -> None:
        """Keep all names in a frame as they are now: a `breakpoint()` met on the way."""
        if not self.log.active:
            return
        try:
            names = {name: self.keeper.of(value) for name, value in self._names_in(frame)}
            code = frame.f_code
            self.recorder.add_mark(id(frame), code.co_filename, frame.f_lineno, code.co_qualname, names)
        except Exception as error:
            self.log.fault(error)

    def take_breakpoints(self, mode: str) -> None:
        """What `breakpoint()` does from now on: "mark" it, open the usual "prompt", or nothing ("off")."""

        def mark(*arguments: Any, **options: Any) -> None:
            self.mark(sys._getframe(1))

        def nothing(*arguments: Any, **options: Any) -> None:
            return None

        if mode != "prompt":
            self._hooks.take_breakpoints(mark if mode == "mark" else nothing)
        elif sys.breakpointhook is sys.__breakpointhook__ and not os.environ.get("PYTHONBREAKPOINT"):
            self._hooks.take_breakpoints(_prompt)

    def raised(self, error: BaseException) -> None:
        """Keep an exception that leaves the run, with the values in flight. It is the caller's to raise on."""
        if self._stopped:
            return
        try:
            addresses, lines, names = [], [], []
            trace = error.__traceback__
            while trace is not None:
                frame = trace.tb_frame
                if id(frame.f_code) in self.loom.codes:
                    addresses.append(id(frame))
                    lines.append(trace.tb_lineno)
                    names.append({name: self.keeper.of(value) for name, value in self._names_in(frame)})
                trace = trace.tb_next
            message = traceback.format_exception_only(error)[-1].strip()[:2000]
            self.recorder.add_raised(type(error).__qualname__, message, addresses, lines, names)
        except Exception as fault:
            self.log.fault(fault)

    def _names_in(self, frame: types.FrameType) -> list[tuple[str, Any]]:
        """The local variables of a frame; of a module's frame, those that are no modules and no dunder names."""
        names = list(frame.f_locals.items())
        if frame.f_locals is frame.f_globals or frame.f_code.co_name == "<module>":
            names = [one for one in names if not one[0].startswith("__") and not isinstance(one[1], types.ModuleType)]
        return names[:MAX_NAMES]

    # ---- what is watched

    def compile_main(self, source: bytes, path: str) -> types.CodeType:
        """Woven code of the script to be run as `__main__`; the names it uses count from now on. Raises SyntaxError."""
        plain = compile(source, path, "exec", dont_inherit=True)  # its faults and warnings are told as without us
        self._reach.add_names(names_in(plain))
        try:
            return self.roster.code_of_main(importlib.util.decode_source(source), path)
        except (SyntaxError, ValueError, RecursionError) as error:
            self.recorder.note("unwoven", path, f"its source cannot be woven: {type(error).__name__}: {error}")
            return plain

    def _is_wanted(self, function: types.FunctionType) -> bool:
        return self.scope.of(function.__code__.co_filename, function.__module__ or "").in_scope

    def _watch_reached(self) -> None:
        """Weave what has newly come within reach."""
        functions = list(self._reach.functions.values())
        if len(functions) > self._watched:
            fresh = functions[self._watched :]
            self._watched = len(functions)
            self.roster.watch_functions(fresh)

    def _watch_interactive(self, functions: Iterable[types.FunctionType]) -> None:
        """Weave what was typed in a notebook, or at a prompt that keeps source text."""
        typed = {f.__code__.co_filename: f for f in functions if f.__code__.co_filename.startswith("<")}
        for path, function in typed.items():
            if self.scope.of(path, function.__module__ or "").in_scope:
                self.roster.watch_file(path, function.__module__ or "", function.__code__.co_flags)

    def _watch_textless(self, functions: Iterable[types.FunctionType]) -> None:
        """Watch by lines what was typed at a prompt that keeps no source text."""
        codes = {function.__code__ for function in functions if function.__code__.co_filename == "<stdin>"}
        if not codes:
            return
        for code in codes:
            self.loom.watch_plainly(code)
        sites: dict[types.CodeType, int] = {}
        lines: dict[tuple[types.CodeType, int, str], int] = {}

        def begin(frame: types.FrameType, arguments: list[tuple[str, Any]]) -> None:
            code = frame.f_code
            if code not in sites:
                sites[code] = self.roster.add_textless(code.co_filename, code, [name for name, _ in arguments])
            self._entered(sites[code], frame, tuple(value for _, value in arguments), None)

        def tell(frame: types.FrameType, line: int, name: str, value: Any) -> None:
            code = frame.f_code
            key = (code, line, name)
            if key not in lines:
                function = self.recorder.function_of(sites[code])
                lines[key] = self.roster.add_textless_line(code.co_filename, function, line, name)
            self.log.events.extend((lines[key], id(frame), self.keeper.of(value)))

        watch = LineWatch(self._guarded(begin), self._guarded(tell), _version_of)
        means = watch.watch(codes)
        self._hooks.add(watch.stop)
        how = f"watched by {means}, line by line" if means else "not watched, since somebody else is tracing"
        self.recorder.note(
            "unwoven",
            "functions typed at <stdin>",
            f"this prompt keeps no source text (Python's own does from 3.13 on, IPython always): {how};"
            " what they call is recorded",
        )

    def _guarded(self, act: Callable[..., None]) -> Callable[..., None]:
        """The same, but counting faults instead of raising them, and silent once the recording has ended."""

        def guarded(*arguments: Any) -> None:
            if self.log.active:
                try:
                    act(*arguments)
                except Exception as error:
                    self.log.fault(error)

        return guarded

    def _meet_class(self, kind: type) -> None:
        """A torch module class takes part: whatever its forward can reach in its package is to be watched."""
        self._seen_classes.add(kind)
        for base in kind.__mro__:
            path = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
            if self.scope.of(path, base.__module__).in_scope:
                self._reach.add_class(kind, package=base.__module__.partition(".")[0])

    # ---- called from the program under study

    def _install(self) -> None:
        hooks = self._hooks
        after = {
            "torch": self._torch_imported,
            "torch._dynamo": self._dynamo_imported,
            "multiprocessing.process": self._processes,
        }
        hooks.watch_imports(ImportWatcher(self._code_for_import, after))
        hooks.watch_forks(self._has_forked, self._forked)
        hooks.hide_from_debugger("stillframe.*")
        hooks.make_room(_OBSERVER_DEPTH)
        for name, act in after.items():
            module = sys.modules.get(name)
            if module is not None:
                act(module)

    def _code_for_import(self, name: str, path: str) -> types.CodeType | None:
        decision = self.scope.of(path, name)
        if not (decision.in_scope and decision.origin == "user" and self.log.active):
            return None
        code = self.roster.code_of_module(path, name)
        if code is not None:
            self._reach.add_names(names_in(code))
        return code

    def _torch_imported(self, torch: types.ModuleType) -> None:
        self.keeper.use_torch()
        self._observe_torch()
        module = sys.modules["torch.nn.modules.module"]
        self._hooks.watch_entry(
            module, {"Module.__init__": self._module_entered, "Module._wrapped_call_impl": self._module_called}
        )

    def _dynamo_imported(self, dynamo: types.ModuleType) -> None:
        from torch.compiler import set_stance

        stance = set_stance("force_eager")
        stance.__enter__()
        self._hooks.add(lambda: stance.__exit__(None, None, None))

    def _processes(self, process: types.ModuleType) -> None:
        def started(child: Any) -> None:
            if self.log.active:
                name = str(getattr(child, "_identity", ""))
                self.recorder.note("process", f"child process {name}", "it was not followed: what ran there is not recorded")

        self._hooks.watch_entry(process, {"BaseProcess.start": started})

    def _has_forked(self) -> None:
        if self.log.active:
            self.recorder.note(
                "process", "os.fork", "a child process was forked and not followed: what ran there is not recorded"
            )

    def _forked(self) -> None:
        self.recorder.forget_after_fork()

    def _module_entered(self, module: Any) -> None:
        """A torch module is being built or called: if its class is new, watch what it can reach before that runs."""
        if not self.log.active:
            return
        try:
            kind = type(module)
            if kind not in self._seen_classes:
                with self._lock:
                    self._meet_class(kind)
                    self._watch_reached()
        except Exception as error:
            self.log.fault(error)

    def _module_called(self, module: Any) -> None:
        """A torch module is being called: if it is in no tree known, it is the root of one."""
        self._module_entered(module)
        met = self.keeper.known.get(id(module))
        if self.log.active and (met is None or met() is not module or met.version != _IN_TREE):
            try:
                with self.keeper.tensors.out_of_sight() if self.keeper.tensors else contextlib.nullcontext():
                    self._new_root(module)
            except Exception as error:
                self.log.fault(error)

    def _new_root(self, root: Any) -> None:
        rows = []
        number = self.keeper.object_number(root)
        for path, part in root.named_modules(remove_duplicate=False):
            inner = self.keeper.object_number(part)
            self.keeper.known[id(part)].version = _IN_TREE
            own = {
                name: tuple(int(n) for n in tensor.shape)
                for held in (part._parameters, part._buffers)
                for name, tensor in held.items()
                if tensor is not None
            }
            rows.append(Module(inner, number, path, type(part).__qualname__, part.training, own))
        self.recorder.add_modules(rows)


def _prompt(*arguments: Any, **options: Any) -> None:
    """What Python's own breakpoint() opens, but its `step` does not step into the observers."""
    pdb.Pdb(skip=["stillframe.*"]).set_trace(sys._getframe(1))


def _version_of(value: Any) -> int | None:
    """How often a tensor was written to, where that is counted, asked of nothing that may have ideas of its own."""
    torch = sys.modules.get("torch")
    if torch is None or type(value) not in (torch.Tensor, torch.nn.Parameter) or value.is_inference():
        return None
    return int(value._version)


def refuse_second() -> None:
    """Raise CaptureError if a recording is running in this process."""
    if _running:
        raise CaptureError(
            "already-recording",
            "A second recording was asked for in this process.",
            "One is running already.",
            "End the first (leave its `with` block) before beginning another.",
        )


def _is_module_class(kind: type) -> bool:
    return "torch" in sys.modules and issubclass(kind, sys.modules["torch.nn.modules.module"].Module)


def _module_classes(kinds: Iterable[type]) -> list[type]:
    """Those of the classes that are of torch modules."""
    return sorted(filter(_is_module_class, kinds), key=lambda kind: (kind.__module__, kind.__qualname__))
