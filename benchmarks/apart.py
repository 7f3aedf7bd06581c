"""Takes the name of a recorder; runs it in a process of its own beside bare calls there, and gives its course.

Some recorders leave torch, a model or the garbage collector changed for good: in one process, what the next one is compared
with would not be a bare call, and a recorder would record the traces of another.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import work
from benchmarks.clock import Span
from benchmarks.contest import Contest, Course
from benchmarks.ours import EVERYTHING, METADATA, Ours
from benchmarks.peers import PEERS

OURS = {"stillframe, metadata": METADATA, "stillframe, every value": EVERYTHING}
SECONDS, LIMIT = 0.25, 60.0


def course_of(name: str, repeats: int) -> Course:
    """How a recorder fares in a process of its own. That process failing is the recorder failing."""
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
        path = Path(folder) / "course.json"
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.apart", name, str(repeats), str(path)]
        done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
        if done.returncode or not path.exists():
            last = done.stderr.strip().splitlines()[-1:] or [""]
            return Course(failed=f"exit code {done.returncode}: {last[0][:100]}")
        return _read(json.loads(path.read_text(encoding="utf-8")))


def _read(data: Mapping[str, Any]) -> Course:
    spans = {key: [Span(**one) for one in data[key]] for key in ("calls", "bare")}
    return Course(**{**data, **spans})


def _run(name: str, repeats: int) -> Course:
    policy, peer = OURS.get(name), next((peer for peer in PEERS if peer.name == name), None)
    if policy is None and peer is None:
        raise ValueError(f"there is no recorder called {name!r}")
    tiny = work.forward(work.TINY)
    contender = Ours(name, tiny, policy).contender() if policy is not None else peer.contender(tiny)
    return Contest(tiny.call, [contender], SECONDS).run(repeats, LIMIT)[name]


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(asdict(_run(sys.argv[1], int(sys.argv[2])))), encoding="utf-8")
