"""Measures whole processes: the command line beside importing what it needs, and opening a long recording.

Runs each in a process of its own, in turn; what counts is the CPU time of the process, and the wall's is shown.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import work
from benchmarks.budgets import Measured
from benchmarks.clock import Clock, Span, spread
from benchmarks.ours import DEFAULT, RULES
from benchmarks.weaving import CACHE
from stillframe.capture.engine import Engine
from stillframe.reading.still import open_still
from stillframe.recording.reader import open_recording
from stillframe.recording.writer import StillWriter

OPS = 100_000
IMPORTS = "import torch; from transformers import LlamaForCausalLM"
SHOW = (
    "import sys; from stillframe.cli.main import main; code = main(['show', sys.argv[1]]); "
    "sys.exit('torch was imported' if 'torch' in sys.modules else code)"
)


def measure_read(repeats: int) -> list[Measured]:
    """`stillframe read llama` to the imports alone, alternating; the cache of woven code empty, and then full."""
    bare: list[Span] = []
    cold: list[Span] = []
    warm: list[Span] = []
    for _ in range(max(repeats, 3)):
        with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
            read = ["-m", "stillframe", "read", "llama", "-o", str(Path(folder) / "llama.still")]
            cache = {CACHE: str(Path(folder) / "cache")}
            bare.append(_process(["-c", IMPORTS], cache))
            cold.append(_process(read, cache))
            warm.append(_process(read, cache))
    ratios, again = _ratios(cold, bare), spread(_ratios(warm, bare))
    walls = spread([one.wall / other.wall for one, other in zip(cold, bare, strict=True)])
    imports = spread([one.cpu for one in bare])
    more = (
        f"with woven code in the cache {again.median:.2f}× ({again.low:.2f} to {again.high:.2f})",
        f"by the clock on the wall {walls.median:.2f}×; importing alone takes {imports.median:.2f} s of CPU time",
    )
    return [Measured("read", spread(ratios), more)]


def _ratios(some: Sequence[Span], others: Sequence[Span]) -> list[float]:
    return [one.cpu / other.cpu for one, other in zip(some, others, strict=True)]


def _process(arguments: Sequence[str], environment: dict[str, str]) -> Span:
    """What a Python process took, its start included. Raises RuntimeError if it failed."""
    before, start = _children(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "OMP_NUM_THREADS": "1",
            **environment,
        },
        check=False,
    )
    wall, cpu = time.perf_counter() - start, _children() - before
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:60]}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return Span(cpu, cpu, wall)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_open(repeats: int) -> list[Measured]:
    """A recording of 100,000 ops: the first screen of `stillframe show`, and the same in this process."""
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
        path = Path(folder) / "long.still"
        ops, calls = _record_ops(path, OPS)
        whole = [_process(["-c", SHOW, str(path)], {}) for _ in range(max(repeats, 3))]
        python = [_process(["-c", "pass"], {}) for _ in range(max(repeats, 3))]
        clock = Clock()
        first = spread([clock.time(lambda: _first_screen(path)).cpu for _ in range(max(repeats, 3))])
        bare_reading = clock.time(lambda: _read_events(path))
        size = path.stat().st_size
    wall, start = spread([one.wall for one in whole]), spread([one.cpu for one in python])
    more = (
        f"{ops:,} ops in {calls} forwards of a narrow Llama, a file of {size / 2**20:.0f} MiB; torch was not imported",
        f"by the clock on the wall {wall.median:.3f} s; an empty Python process takes {start.median:.3f} s",
        f"in a process that runs already: open, overview and path {first.median:.3f} s, "
        f"reading every event {bare_reading.cpu:.3f} s",
    )
    return [Measured("open", spread([one.cpu for one in whole]), more)]


def _record_ops(path: Path, count: int) -> tuple[int, int]:
    """Record forwards until at least `count` events gave a tensor; how many did, and in how many forwards."""
    narrow = work.forward(work.NARROW)
    calls, ops = 1, 0
    while True:
        engine = Engine(StillWriter(path), DEFAULT, RULES)
        engine.start(narrow.names)
        try:
            for _ in range(calls):
                narrow.call()
        finally:
            engine.stop()
        with open_recording(path) as recording:
            ops = sum(recording.value(one.value).about["kind"] == "tensor" for one in recording.events() if one.value)
        if ops >= count:
            return ops, calls
        calls = -(-count * calls // ops) + 1


def _first_screen(path: Path) -> object:
    with open_still(path) as still:
        return still.overview(), still.path()


def _read_events(path: Path) -> int:
    with open_recording(path) as recording:
        return sum(1 for _ in recording.events())
