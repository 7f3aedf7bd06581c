"""Takes a script's path or a module's name with arguments, runs it as `__main__`, and gives the exit code Python would.

Must not know why: whoever wants other code to run than the plain (woven code, say) hands in what compiles it.

What the script can see is what `python SCRIPT` and `python -m MODULE` show it: sys.argv, sys.path[0], the `__main__`
module, tracebacks, exit codes. Three things differ, because this process was not started by Python's own main:
`sys.orig_argv` says how it really was; the frames below the script's are ours, to whoever walks the stack; and what
comes after the main module (waiting for threads, atexit handlers) comes when this process ends, not before return.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import os
import pkgutil
import runpy
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stillframe.errors import UnknownNameError, UsageError, nearest_names
from stillframe.target.script_source import CompileMain, code_of_file, code_of_module, compile_plain


class Interrupted(int):
    """The exit code of a script that Ctrl-C ended, told by its type from that of a script that says sys.exit(130)."""


INTERRUPTED = Interrupted(130)

OnRaise = Callable[[BaseException], None]


def _unheard(error: BaseException) -> None:
    """Nobody asked to be told of the exception that ends a script."""


_LAST = ("last_type", "last_value", "last_traceback", *(("last_exc",) if sys.version_info >= (3, 12) else ()))


def run_script(
    path: str,
    args: Sequence[str] = (),
    compile_main: CompileMain = compile_plain,
    *,
    restore: bool = True,
    on_raise: OnRaise = _unheard,
) -> int:
    """Run `path` as `python PATH ARGS` would: a file, or a folder or zip with a `__main__.py`. Gives the exit code.

    `restore` puts sys.argv, sys.path, sys.excepthook and the `__main__` module back. Pass False where the process ends
    next: threads and atexit handlers that outlive the script then still find its `__main__`. `on_raise` is told of the
    exception that ended the script, before it is printed.
    Raises UsageError when there is nothing to run; a fault of the script itself is printed, as Python prints it.
    """
    full = find_script(path)
    if pkgutil.get_importer(full) is not None:
        with _main_module([path, *args], restore):
            _put_first(full)
            return _exit_code(lambda: _run_by_runpy("__main__", False, compile_main), path, on_raise)
    source = _read(path, full)
    loader = importlib.machinery.SourcelessFileLoader if full.endswith(".pyc") else importlib.machinery.SourceFileLoader
    with _main_module([path, *args], restore) as namespace:
        if not sys.flags.safe_path:
            _put_first(os.path.dirname(os.path.realpath(full)))
        namespace.update(__file__=full, __cached__=None, __loader__=loader("__main__", full))
        return _exit_code(lambda: exec(code_of_file(source, full, compile_main), namespace), path, on_raise)


def find_script(path: str) -> str:
    """The full path of a script, as the interpreter makes it: not tidied ("./x.py" stays "/folder/./x.py").

    Raises UsageError if nothing is there; to be asked before anything is written beside it.
    """
    full = os.path.join(os.getcwd(), path)
    if not os.path.exists(full):
        raise _no_such_file(path)
    return full


def run_module(
    name: str,
    args: Sequence[str] = (),
    compile_main: CompileMain = compile_plain,
    *,
    restore: bool = True,
    on_raise: OnRaise = _unheard,
) -> int:
    """Run the module `name` as `python -m NAME ARGS` would, in the current folder. Gives the exit code.

    `restore` and what is raised: as in `run_script`.
    """
    with _main_module(["-m", *args], restore):
        if not sys.flags.safe_path:
            _put_first(os.getcwd())
        return _exit_code(lambda: _run_by_runpy(name, True, compile_main), name, on_raise)


@contextlib.contextmanager
def _main_module(argv: list[str], restore: bool) -> Iterator[dict[str, Any]]:
    """A fresh `__main__` in sys.modules, as the interpreter makes it, and its namespace; sys.argv is set."""
    old_main, old_path, entries = sys.modules.get("__main__"), sys.path, sys.path[:]
    before = {name: getattr(sys, name) for name in ("argv", "excepthook", *_LAST) if hasattr(sys, name)}
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __loader__=importlib.machinery.BuiltinImporter)
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    sys.argv = argv
    try:
        yield main.__dict__
    except UsageError:
        restore = True
        raise
    finally:
        if restore:
            sys.path = old_path
            sys.path[:] = entries
            sys.modules.pop("__main__", None)
            if old_main is not None:
                sys.modules["__main__"] = old_main
            for name in _LAST:
                vars(sys).pop(name, None)
            vars(sys).update(before)


def _put_first(folder: str) -> None:
    """Make it the first place to import from, in the stead of what the interpreter put there for what it started."""
    sys.path[: 0 if sys.flags.safe_path else 1] = [folder]


def _run_by_runpy(name: str, alter_argv: bool, compile_main: CompileMain) -> None:
    """What the interpreter itself calls for -m, folders and zips, with the main module's code made by `compile_main`.

    runpy looks the code up in one function of its own. It is stood in for until it is first asked, which is before the
    module runs; so the module is found, named and run by runpy, and its frames stand in the traceback as they should.
    """
    finders: Any = runpy
    original = finders._get_module_details

    def details(mod_name: str, error: type[Exception] = ImportError) -> tuple[str, Any, types.CodeType]:
        finders._get_module_details = original
        found, spec, code = original(mod_name, error)
        return found, spec, code_of_module(spec, code, compile_main)

    finders._get_module_details = details
    try:
        finders._run_module_as_main(name, alter_argv)
    finally:
        finders._get_module_details = original


def _exit_code(run: Callable[[], None], asked: str, on_raise: OnRaise) -> int:
    """Run, and turn however it ended into an exit code, having printed what the interpreter would print."""
    ended: BaseException | None = None
    try:
        run()
    except BaseException as error:
        ended = error
        on_raise(error)
    # Handled out here, so that a hook of the script's finds no exception being handled, as under the interpreter.
    try:
        _flush()
        if isinstance(ended, SystemExit):
            if isinstance(ended.__context__, runpy._Error):  # type: ignore[attr-defined]
                raise _nothing_to_run(asked, ended.__context__)
            return _exit_status(ended)
        return 0 if ended is None else _report(ended)
    finally:
        _flush()
        del ended


def _exit_status(error: SystemExit) -> int:
    """The exit code sys.exit(code) stands for; a code that is neither None nor a whole number is printed, and is 1."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    _write_error(f"{error.code}\n")
    return 1


def _report(error: BaseException) -> int:
    """Hand an uncaught exception to sys.excepthook, as the interpreter does, faults of the hook included."""
    error.__traceback__ = _without_ours(error.__traceback__)
    for name, value in zip(_LAST, (type(error), error, error.__traceback__, error), strict=False):
        setattr(sys, name, value)
    failed: BaseException | None = None
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as exit_error:
        return _exit_status(exit_error)
    except BaseException as hook_error:
        failed = hook_error
    if failed is not None:
        failed.__traceback__ = _without_ours(failed.__traceback__)
        _write_error("Error in sys.excepthook:\n")
        sys.__excepthook__(type(failed), failed, failed.__traceback__)
        _write_error("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
    return INTERRUPTED if type(error) is KeyboardInterrupt else 1


def _without_ours(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback less the frames of this file and of what reads the source, wherever they stand in it."""
    ours = (__file__, code_of_file.__code__.co_filename)
    while traceback is not None and traceback.tb_frame.f_code.co_filename in ours:
        traceback = traceback.tb_next
    if traceback is not None:
        traceback.tb_next = _without_ours(traceback.tb_next)
    return traceback


def _write_error(text: str) -> None:
    with contextlib.suppress(Exception):
        sys.stderr.write(text)
        sys.stderr.flush()


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(Exception):
            stream.flush()


def _read(path: str, full: str) -> bytes:
    try:
        with open(full, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(
            "script-unreadable",
            f"Run the script {path!r}.",
            f"It cannot be read: {error.strerror}.",
            "Check its permissions.",
        ) from error


def _no_such_file(path: str) -> UsageError:
    folder = Path(path).parent
    names = [entry.name for entry in folder.iterdir() if entry.suffix != ".still"] if folder.is_dir() else []
    if not folder.is_dir():
        found, todo = f"There is no folder {str(folder)!r}.", "Check the path, and the folder you are in."
    elif nearest := nearest_names(Path(path).name, names):
        found, todo = "There is no such file.", f"The nearest in that folder are: {', '.join(nearest)}."
    else:
        found, todo = "There is no such file, nor one of a similar name in that folder.", "Check the path."
    return UsageError("script-not-found", f"Run the script {path!r}.", found, todo)


def _nothing_to_run(asked: str, error: BaseException) -> UsageError:
    """What runpy could not find, or found not to be runnable, told as a mistake in the request."""
    if asked.isidentifier() and str(error) == f"No module named {asked}":
        names = (module.name for module in pkgutil.iter_modules())
        return UnknownNameError("module-not-found", "module", asked, names, "Check the name, and the folder you are in.")
    return UsageError(
        "nothing-to-run",
        f"Run {asked!r}.",
        f"{str(error)[:1].upper()}{str(error)[1:]}.",
        "Name a script, a module, or a folder, zip or package with a __main__.py.",
    )
