"""Takes what is to be run and where the recording goes; runs it, recorded, and says how it went.

The only place where both halves meet: target and capture produce, the writer keeps. It knows nothing of how a recording is
read or shown.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stillframe.capture.engine import Engine, refuse_second
from stillframe.capture.policy import RECORDING_LIMIT, VALUE_LIMIT, ValuePolicy
from stillframe.capture.reach import names_in
from stillframe.capture.scope import ScopeRules
from stillframe.errors import StillframeError
from stillframe.recording.writer import StillWriter, check_writable
from stillframe.target.build import build
from stillframe.target.inputs import make_inputs
from stillframe.target.scenario import scenario_called
from stillframe.target.script import Interrupted, find_script, run_module, run_script
from stillframe.target.spec import Spec, parse_spec

__all__ = [
    "IncompleteWarning",
    "Interrupted",
    "Outcome",
    "Session",
    "ValuePolicy",
    "parse_spec",
    "record",
    "record_script",
    "record_target",
]

_VERSIONED = ("stillframe", "torch", "transformers")


class IncompleteWarning(UserWarning):
    """A recording could not be written to its end; the run itself was not touched."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a recorded run went: the file, the exit code, and why the file is not complete ("" if it is)."""

    path: Path
    exit_code: int
    incomplete: str


class Session:
    """`with record(path):` — whatever runs inside is recorded."""

    def __init__(self, path: str | os.PathLike[str], policy: ValuePolicy, rules: ScopeRules, facts: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._policy, self._rules, self._facts = policy, rules, facts
        self._engine: Engine | None = None

    def __enter__(self) -> Session:
        refuse_second()
        caller = sys._getframe(1)
        roots = (*self._rules.roots, os.getcwd(), *_folder_of(caller))
        rules = ScopeRules(roots, self._rules.include, self._rules.exclude, self._rules.inside)
        engine = Engine(StillWriter(self.path), self._policy, rules)
        engine.recorder.describe_run(_run_facts() | dict(self._facts))
        engine.start(names_in(caller.f_code), _functions_in(caller))
        self._engine = engine
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        engine = self._engine
        if engine is None:
            return
        if error is not None:
            engine.raised(error)
        engine.stop(_how_it_ended(error), _late_facts())
        if engine.failure is not None:
            warnings.warn(IncompleteWarning(str(engine.failure)), stacklevel=2)

    @property
    def incomplete(self) -> str:
        """Why the recording is not complete; "" if it is, or is still running."""
        failure = self._engine.failure if self._engine else None
        return "" if failure is None else str(failure)


def record(
    path: str | os.PathLike[str],
    *,
    values: bool = True,
    value_limit: int = VALUE_LIMIT,
    recording_limit: int = RECORDING_LIMIT,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    inside: bool = False,
) -> Session:
    """Record what runs in the `with` block into the file at `path`.

    `values` False keeps shapes and other metadata without bytes. Values above `value_limit` bytes are summarised, and all are
    once `recording_limit` bytes are kept. `include` and `exclude` name modules whose functions count, or do not count, as the
    reader's; `inside` opens calls into torch.nn. Raises RecordingError before the block if `path` cannot be written, and
    CaptureError if another recording is running in this process. An exception from the block is recorded and raised on.
    """
    policy = ValuePolicy(values, value_limit, recording_limit)
    rules = ScopeRules((), tuple(include), tuple(exclude), inside)
    return Session(path, policy, rules, {"command": "record"})


def _unheard(error: BaseException) -> None:
    """Nobody asked to be told of the exception that ends a run."""


def record_target(
    spec: Spec,
    path: Path,
    policy: ValuePolicy,
    *,
    scenario: str = "forward",
    inside: bool = False,
    on_raise: Callable[[BaseException], None] = _unheard,
) -> Outcome:
    """Build what `spec` says, run it once in a scenario, recorded at `path`.

    An exception of the model is recorded, told to `on_raise`, and raised on; one that comes before it runs leaves no file.
    """
    run = scenario_called(scenario)
    built = build(spec)
    inputs = make_inputs(built.tokenizer, spec.batch, spec.seq, spec.texts)
    engine = Engine(StillWriter(path), policy, ScopeRules(inside=inside))
    engine.recorder.describe_run(
        _run_facts()
        | {
            "command": "read",
            "target": spec.target,
            "scenario": scenario,
            "spec": asdict(spec),
            "class_name": built.class_name,
            "source_file": built.source_file,
            "sizes": dict(built.sizes),
            "n_parameters": built.n_parameters,
            "attn": built.attn,
            "tokens": inputs.tokens,
            "notes": [*built.notes, *inputs.notes],
        }
    )
    engine.start(("forward", "generate") if scenario == "generate" else ("forward",))
    error: BaseException | None = None
    try:
        run(built.model, inputs.tensors)
    except BaseException as raised:
        error = raised
        engine.raised(raised)
        on_raise(raised)
        raise
    finally:
        engine.stop(_how_it_ended(error), _late_facts())
    return Outcome(path, 0, _why(engine))


def record_script(
    script: str,
    args: Sequence[str],
    path: Path,
    policy: ValuePolicy,
    *,
    module: bool,
    breakpoints: str,
    inside: bool = False,
) -> Outcome:
    """Run an unmodified script, or a module as with `python -m`, recorded at `path`; its output and exit code are its own."""
    root = os.getcwd() if module else os.path.dirname(os.path.realpath(find_script(script)))
    ended: list[BaseException] = []
    with _older_kept(path) as begun:
        engine = Engine(StillWriter(path), policy, ScopeRules(roots=(root,), inside=inside))
        engine.recorder.describe_run(
            _run_facts() | {"command": "run", "target": script, "module": module, "args": list(args), "folder": os.getcwd()}
        )

        def on_raise(error: BaseException) -> None:
            ended.append(error)
            if not isinstance(error, SystemExit):
                engine.raised(error)

        def compile_main(source: bytes, filename: str) -> types.CodeType:
            begun()
            return engine.compile_main(source, filename)

        try:
            engine.start()
            engine.take_breakpoints(breakpoints)
            run = run_module if module else run_script
            code = run(script, args, compile_main, restore=False, on_raise=on_raise)
        except StillframeError:
            engine.stop("failed")
            path.unlink(missing_ok=True)
            raise
        finally:
            error = ended[0] if ended else None
            engine.stop(_how_it_ended(error), _late_facts() | {"exit_code": None if error else 0})
    return Outcome(path, code, _why(engine))


@contextlib.contextmanager
def _older_kept(path: Path) -> Iterator[Callable[[], None]]:
    """Put an older recording back if nothing came to be run. What is given is to be called when something is."""
    check_writable(path)
    aside = path.with_name(f"{path.name}.{os.getpid()}.older")
    if path.exists():
        path.replace(aside)

    def drop() -> None:
        aside.unlink(missing_ok=True)

    try:
        yield drop
    except BaseException:
        if aside.exists():
            aside.replace(path)
        raise
    drop()


def _why(engine: Engine) -> str:
    return "" if engine.failure is None else str(engine.failure)


def _how_it_ended(error: BaseException | None) -> str:
    if error is None or isinstance(error, SystemExit):
        return "finished"
    return "interrupted" if isinstance(error, KeyboardInterrupt) else "raised"


def _run_facts() -> dict[str, Any]:
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "argv": list(sys.argv),
    }


def _late_facts() -> dict[str, Any]:
    """What is known once the run is over: the versions of what it imported."""
    versions = {}
    for name in _VERSIONED:
        if name in sys.modules:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                versions[name] = str(getattr(sys.modules[name], "__version__", "unknown"))
    return {"versions": versions}


def _folder_of(frame: types.FrameType) -> tuple[str, ...]:
    """The folder of the file a frame's code is in, unless that is an installed package."""
    path = frame.f_code.co_filename
    return () if path.startswith("<") else (os.path.dirname(os.path.realpath(path)),)


def _functions_in(frame: types.FrameType) -> list[types.FunctionType]:
    """The functions a frame can call by a name of its own."""
    names = {**frame.f_globals, **frame.f_locals}
    used = set(frame.f_code.co_names) | set(frame.f_code.co_varnames)
    return [value for name, value in names.items() if name in used and isinstance(value, types.FunctionType)]
