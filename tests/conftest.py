"""Every test leaves the process as it found it: trace functions, hooks, finders, limits, threads, torch's modes."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs this in the background has its processes ignore Ctrl-C, and those that the tests start, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What may keep a test from running where no test may be skipped for want of a tool: facts of the machine or of Python.
FACTS = ("root reads everything", "sys.monitoring came with Python 3.12", "from 3.12 on no trace function is used")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With STILLFRAME_NO_SKIPS set, as CI does, a test skipped for any other reason fails the run."""
    if not os.environ.get("STILLFRAME_NO_SKIPS"):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason not in FACTS:
            reporter.write_line(f"skipped where nothing may be: {report.nodeid}: {reason}", red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _state() -> dict[str, object]:
    state: dict[str, object] = {
        "trace function": sys.gettrace(),
        "profile function": sys.getprofile(),
        "breakpoint hook": sys.breakpointhook,
        "exception hook": sys.excepthook,
        "finders": [type(finder).__name__ for finder in sys.meta_path if type(finder).__module__.startswith("stillframe")],
        "recursion limit": sys.getrecursionlimit(),
        "threads": [thread.name for thread in threading.enumerate() if thread.name.startswith("stillframe")],
    }
    if sys.version_info >= (3, 12):
        state["monitoring tools"] = [sys.monitoring.get_tool(number) for number in range(6)]
    torch = sys.modules.get("torch")
    if torch is not None:
        module = torch.nn.modules.module
        state["function modes"] = torch._C._len_torch_function_stack()
        state["module hooks"] = (len(module._global_forward_pre_hooks), len(module._global_forward_hooks))
        state["module code"] = (torch.nn.Module.__call__.__code__, torch.nn.Module.__init__.__code__)
    return state


def _is_torch_compile(name: str, now: object) -> bool:
    """Whether a change is one that torch's own compiler makes when it is first used, for good."""
    if name == "recursion limit":
        return now == 2000 and "torch._inductor.compile_fx" in sys.modules
    guard = sys.modules.get("torch._dynamo.mutation_guard")
    return name == "module code" and guard is not None and now[1].co_filename == guard.__file__


@pytest.fixture(autouse=True)
def _as_found():
    before = _state()
    yield
    after = _state()
    different = [name for name in before if before[name] != after[name] and not _is_torch_compile(name, after[name])]
    assert not different, f"left changed: {', '.join(different)}"


@pytest.fixture(autouse=True)
def _close_recordings():
    yield
    recorded = sys.modules.get("recorded")
    while recorded is not None and recorded.OPENED:
        recorded.OPENED.pop().close()
