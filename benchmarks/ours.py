"""Takes work and a policy of values; gives stillframe as a contender, with what starting and stopping it costs.

Starts and stops an engine as `stillframe read` does, its writer running in the background; throws the recording away.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.clock import Clock, Span
from benchmarks.contest import Contender, Ready
from benchmarks.work import Work
from stillframe.capture.engine import Engine
from stillframe.capture.policy import RECORDING_LIMIT, ValuePolicy
from stillframe.capture.scope import ScopeRules
from stillframe.recording.reader import open_recording
from stillframe.recording.writer import StillWriter

METADATA = ValuePolicy(keep_bytes=False)
EVERYTHING = ValuePolicy(value_limit=1 << 40)
DEFAULT = ValuePolicy()
RULES = ScopeRules(exclude=("benchmarks",))


@dataclass(slots=True)
class Ours:
    """Stillframe on some work, one recording a block. The lists have an entry a recording.

    `events` is of one call; `starts` and `stops` are the engine's, `firsts` the first call after the start.
    """

    name: str
    work: Work
    policy: ValuePolicy
    starts: list[Span] = field(default_factory=list)
    firsts: list[Span] = field(default_factory=list)
    stops: list[Span] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    file_bytes: list[float] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)

    def contender(self) -> Contender:
        return Contender(self.name, self.on)

    @contextlib.contextmanager
    def on(self) -> Iterator[Ready]:
        """Record until the block ends; raise if it met a fault or outgrew the budget for values: that is no result."""
        calls = 0

        def call() -> object:
            nonlocal calls
            calls += 1
            return self.work.call()

        with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder:
            path = Path(folder) / "bench.still"
            engine = Engine(StillWriter(path), self.policy, RULES)
            try:
                self.starts.append(self.clock.time(lambda: engine.start(self.work.names)))
                self.firsts.append(self.clock.time(call))
                yield Ready(call, engine.recorder.flush)
            finally:
                self.stops.append(self.clock.time(engine.stop))
            tensors = engine.keeper.tensors
            if tensors is not None and tensors.kept_bytes > 0.9 * RECORDING_LIMIT:
                raise ValueError(f"the block was too long: {tensors.kept_bytes >> 20} MiB of values were kept")
            with open_recording(path) as recording:
                faults = [note.reason for note in recording.notes if note.kind == "incomplete"]
                self.events.append(recording.event_count / calls)
                self.file_bytes.append(path.stat().st_size / calls)
            if faults or engine.failure is not None:
                raise ValueError(f"the recording is incomplete: {engine.failure or faults[0]}")
