"""Gives other recorders of a forward pass as contenders: Python's own, torch's, transformers', and those installed.

Each does its own nearest job on the same tiny forward, so the ratios are not all for the same work; `sees` says what a
tool keeps. Tools that decorate a function get LlamaAttention.forward alone. Each is asked afterwards whether it kept
anything: one that was on and recorded nothing has failed.
"""

from __future__ import annotations

import bdb
import contextlib
import copy
import importlib.util
import inspect
import io
import os
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from types import FrameType
from typing import Any

from benchmarks.contest import Contender, Ready, always
from benchmarks.work import Work


@dataclass(frozen=True, slots=True)
class Peer:
    """A recorder: `on(work)` readies it. `module` is what must be there to import, `install` what pip calls it."""

    name: str
    sees: str
    on: Callable[[Work], AbstractContextManager[Ready]]
    module: str = ""
    install: str = ""

    @property
    def installed(self) -> bool:
        return not self.module or importlib.util.find_spec(self.module) is not None

    def contender(self, work: Work) -> Contender:
        return Contender(self.name, lambda: self.on(work))


class _Nowhere(io.TextIOBase):
    """Takes text and keeps none, but counts it."""

    def __init__(self) -> None:
        self.taken = 0

    def write(self, text: str) -> int:
        self.taken += len(text)
        return len(text)


# ---- Python's own


class _Debugger(bdb.Bdb):
    def user_line(self, frame: FrameType) -> None:
        self.set_continue()


def _bdb(work: Work) -> AbstractContextManager[Ready]:
    module = sys.modules[type(work.model).__module__]
    path = str(module.__file__)
    line = inspect.getsourcelines(type(work.model).__mro__[1])[1]  # where a class begins: never reached again

    def call() -> object:
        debugger = _Debugger()
        problem = debugger.set_break(path, line)
        if problem:
            raise RuntimeError(str(problem))
        try:
            return debugger.runcall(work.call)
        finally:
            sys.settrace(None)
            debugger.clear_all_breaks()

    return always(call)


def _line_tracing(work: Work) -> AbstractContextManager[Ready]:
    import torch

    path = sys.modules[type(work.model).__module__].__file__
    events: list[tuple[str, int, dict[str, Any]]] = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != path:
            return None
        return line(frame, event, argument)

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        shapes = {name: one.shape for name, one in frame.f_locals.items() if isinstance(one, torch.Tensor)}
        events.append((event, frame.f_lineno, shapes))
        return line

    def call() -> object:
        events.clear()
        sys.settrace(trace)
        try:
            work.call()
        finally:
            sys.settrace(None)
        return events

    return always(call, len)


# ---- torch's and transformers' own


def _function_mode(work: Work) -> AbstractContextManager[Ready]:
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __init__(self) -> None:
            super().__init__()
            self.events: list[tuple[Any, Any]] = []

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            self.events.append((func, result))
            return result

    def call() -> object:
        mode = Mode()
        with mode:
            work.call()
        return mode.events

    return always(call, len)


def _debug_mode(work: Work) -> AbstractContextManager[Ready]:
    from torch.utils._debug_mode import DebugMode

    def call() -> object:
        with DebugMode() as mode:
            work.call()
        return mode

    return always(call, lambda mode: len(mode.operators))


@contextlib.contextmanager
def _addition_debugger(work: Work) -> Iterator[Ready]:
    from transformers import model_addition_debugger_context

    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:

        def call() -> object:
            with model_addition_debugger_context(work.model, debug_path=folder, do_prune_layers=False):
                return work.call()

        try:
            yield Ready(call)
            if not any(os.scandir(folder)):
                raise ValueError("it recorded nothing")
        finally:
            for module in work.model.modules():  # it leaves the bound method on each, which would hide a decorated one
                module.__dict__.pop("forward", None)


# ---- installed ones


@contextlib.contextmanager
def _decorated(work: Work, decorate: Callable[[Any], Any], kept: Callable[[], int]) -> Iterator[Ready]:
    """The attention's forward decorated, on the innermost function, where the source is."""
    kind = type(work.model.model.layers[0].self_attn)
    before = kind.forward
    kind.forward = decorate(inspect.unwrap(before))
    try:
        yield Ready(work.call)
        if not kept():
            raise ValueError("it recorded nothing")
    finally:
        kind.forward = before


def _pysnooper(work: Work) -> AbstractContextManager[Ready]:
    output = _Nowhere()
    return _decorated(work, import_module("pysnooper").snoop(output=output), lambda: output.taken)


def _torchsnooper(work: Work) -> AbstractContextManager[Ready]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torchsnooper = import_module("torchsnooper")
    output = _Nowhere()
    return _decorated(work, torchsnooper.snoop(output=output), lambda: output.taken)


def _snoop(work: Work) -> AbstractContextManager[Ready]:
    output = _Nowhere()
    return _decorated(work, import_module("snoop").Config(out=output).snoop(), lambda: output.taken)


@contextlib.contextmanager
def _birdseye(work: Work) -> Iterator[Ready]:
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
        address = f"sqlite:///{folder}/birdseye.db"
        os.environ["BIRDSEYE_DB"] = address
        os.environ["OUTDATED_IGNORE"] = "1"
        eye = import_module("birdseye.bird").BirdsEye(address)

        def kept() -> int:
            with contextlib.closing(sqlite3.connect(f"{folder}/birdseye.db")) as database:
                return int(database.execute("SELECT count(*) FROM call").fetchone()[0])

        with _decorated(work, eye, kept) as ready:
            yield ready


@contextlib.contextmanager
def _torchlens(work: Work) -> Iterator[Ready]:
    import torch

    torchlens = import_module("torchlens")

    def call() -> object:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torchlens.trace(work.model, work.ids, capture=torchlens.options.CaptureOptions(layers_to_save="all"))

    try:
        with always(call, lambda trace: sum(one.has_saved_activation for one in trace.layer_list)) as ready:
            yield ready
    finally:  # else every torch function stays wrapped, and a bare call is none
        import_module("torchlens.backends.torch.wrappers").unwrap_torch()


def _nnsight(work: Work) -> AbstractContextManager[Ready]:
    import torch

    model = import_module("nnsight").NNsight(copy.deepcopy(work.model))  # it leaves another `forward` on each module

    def call() -> object:
        with torch.no_grad(), model.trace(work.ids) as tracer:
            cache = tracer.cache(include_inputs=True).save()
        return cache

    return always(call, lambda cache: len(cache.keys()))


PEERS = (
    Peer("pdb (bdb), breakpoint never hit", "nothing", _bdb),
    Peer("sys.settrace, lines and shapes", "lines and local shapes of the model's file", _line_tracing),
    Peer("TorchFunctionMode", "torch calls, results by reference", _function_mode),
    Peer("torch DebugMode", "aten calls as text", _debug_mode),
    Peer("model_addition_debugger", "modules' inputs and outputs, as text and statistics", _addition_debugger),
    Peer("PySnooper", "lines and locals of one attention", _pysnooper, "pysnooper", "PySnooper"),
    Peer(
        "TorchSnooper",
        "lines and locals' shapes of one attention",
        _torchsnooper,
        "torchsnooper",
        "TorchSnooper 'setuptools<81'",
    ),
    Peer("snoop", "lines and locals of one attention", _snoop, "snoop", "snoop"),
    Peer("birdseye", "every expression of one attention, as text", _birdseye, "birdseye", "birdseye"),
    Peer("torchlens", "every torch call, its output kept", _torchlens, "torchlens", "torchlens"),
    Peer("nnsight", "modules' inputs and outputs", _nnsight, "nnsight", "nnsight"),
)
