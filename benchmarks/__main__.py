"""Takes the words of `python -m benchmarks`; measures what they ask for and prints it.

Knows no way of measuring: each row names the function that does.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.apart import OURS, course_of
from benchmarks.breakdown import Cost, measure_breakdown
from benchmarks.budgets import BUDGETS, Measured
from benchmarks.contest import Course
from benchmarks.peers import PEERS
from benchmarks.processes import measure_open, measure_read
from benchmarks.running import measure_forward, measure_generate, measure_layers, measure_train, measure_wide
from benchmarks.weaving import cache_at, measure_weaving

# What measures which rows, the processes first: they are not slowed by what this one has loaded.
MEASURES: tuple[tuple[tuple[str, ...], Callable[[int], list[Measured]]], ...] = (
    (("read",), measure_read),
    (("open",), measure_open),
    (("weave-first", "weave-cached"), measure_weaving),
    (("metadata", "bytes"), measure_forward),
    (("wide",), measure_wide),
    (("generate",), measure_generate),
    (("train",), measure_train),
    (("layers",), measure_layers),
)
OTHERS = ("peers", "events")
KEYS = (*(budget.key for budget in BUDGETS), *OTHERS)


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. The exit code is 0 if all that was asked for was measured, and every budget is met.

    That another recorder failed is told in its row, and changes nothing else.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What recording costs, beside its budgets.")
    parser.add_argument("--quick", action="store_true", help="few repeats: a look, not a result")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write everything measured to a file, too")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=KEYS, default=KEYS, help=", ".join(KEYS))
    options = parser.parse_args(words)
    repeats = 3 if options.quick else 9
    measured: dict[str, Measured] = {}
    failed: dict[str, str] = {}
    courses: dict[str, Course] = {}
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="stillframe-bench-") as folder, cache_at(folder):
        for keys, measure in MEASURES:
            if set(keys) & set(options.only):
                _say(f"{' and '.join(keys)} …")
                try:
                    measured |= {one.key: one for one in measure(repeats)}
                except Exception as error:
                    failed |= dict.fromkeys(keys, f"{type(error).__name__}: {error}")
        if "peers" in options.only:
            courses = measure_peers(3 if options.quick else 7)
            failed |= {name: courses[name].failed for name in OURS if courses[name].failed}
        if "events" in options.only:
            _say("kinds of events …")
            try:
                costs = measure_breakdown(3 if options.quick else 7)
            except Exception as error:
                failed["events"] = f"{type(error).__name__}: {error}"
    print("\n".join(f"{name}: {what}" for name, what in report.machine().items()), end="\n\n")
    if rows := report.budget_lines(measured, failed, options.only):
        print("\n".join(rows))
    if courses:
        print("\nThe same tiny forward under each recorder:\n")
        print("\n".join(report.peer_lines(courses)))
    if costs:
        print("\nWhat each kind of event costs:\n")
        print("\n".join(report.cost_lines(costs)))
    if "events" in failed:
        print(f"\nWhat each kind of event costs: failed: {failed['events']}")
    if options.json:
        data = report.as_data(measured, failed, courses, costs)
        options.json.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    limits = {budget.key: budget.limit for budget in BUDGETS}
    return int(bool(failed) or any(one.spread.median > limits[one.key] for one in measured.values()))


def measure_peers(repeats: int) -> dict[str, Course]:
    """Ours and theirs on the same tiny forward, each in a process of its own beside bare calls there."""
    courses = {}
    for name in (*OURS, *(peer.name for peer in PEERS if peer.installed)):
        _say(f"{name} …")
        courses[name] = course_of(name, repeats)
    return courses


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
