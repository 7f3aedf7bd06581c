"""Takes what was measured; gives the lines that are printed, as Markdown tables, and the same as plain data.

Measures nothing.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.breakdown import Cost
from benchmarks.budgets import BUDGETS, Measured, shown, verdict
from benchmarks.clock import spread
from benchmarks.contest import Course
from benchmarks.peers import PEERS


def machine() -> dict[str, str]:
    """What the numbers were taken on: no name of a host, no path."""
    import torch
    import transformers

    return {
        "cores": str(os.cpu_count()),
        "processor": _processor(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": str(transformers.__version__),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            named = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        named = ""
    return f"{named or platform.processor() or 'unknown'} ({platform.machine()})"


def budget_lines(measured: Mapping[str, Measured], failed: Mapping[str, str], chosen: Iterable[str]) -> list[str]:
    """The table of budgets, and what else is to be known of each row."""
    wanted = set(chosen)
    rows, notes = [], []
    for budget in BUDGETS:
        found = measured.get(budget.key)
        limit = f"±{shown(budget.limit, '%')}" if budget.unit == "%" else f"≤ {_plain(budget.limit, budget.unit)}"
        if budget.later and budget.key in wanted:
            rows.append((budget.work, limit, f"not yet: {budget.later}", ""))
        elif budget.key in failed:
            rows.append((budget.work, limit, f"failed: {failed[budget.key]}", "not measured"))
        elif found is not None:
            middle, unit = found.spread, budget.unit
            between = f" ({shown(middle.low, unit)} to {shown(middle.high, unit)})" if middle.count > 1 else ""
            rows.append((budget.work, limit, shown(middle.median, unit) + between, verdict(budget.limit, middle)))
            notes += ["", f"{budget.key}: {budget.work}", *(f"  {line}" for line in found.more)]
        elif budget.key in wanted:
            rows.append((budget.work, limit, "not measured", ""))
    head = ("work", "budget", "measured: median (quartiles)", "verdict")
    return [*table(head, rows), *notes] if rows else []


def _plain(limit: float, unit: str) -> str:
    return f"{limit:g}{'×' if unit == 'x' else ' s'}"


def peer_lines(courses: Mapping[str, Course]) -> list[str]:
    """Ours and theirs in one table, the lightest first, then what is not installed."""
    sees = {peer.name: peer.sees for peer in PEERS}
    ran = (one for one in courses.items() if one[1].cpu and not one[1].failed)
    done = sorted(ran, key=lambda one: one[1].ratio().median)
    rows = []
    for name, course in done:
        cpu, wall = course.ratio(), spread(course.wall)
        kept = sees.get(name, "expressions, names, arguments, branches and calls in scope")
        rows.append((name, f"{cpu.median:.2f}×", f"{cpu.low:.2f} to {cpu.high:.2f}", f"{wall.median:.2f}×", kept))
    rows += [(name, "failed", "", "", course.failed) for name, course in courses.items() if course.failed]
    rows += [(peer.name, "not installed", "", "", f"pip install {peer.install}") for peer in PEERS if not peer.installed]
    return table(("recorder", "CPU", "quartiles", "wall", "keeps"), rows)


def cost_lines(costs: Sequence[Cost]) -> list[str]:
    """What each kind of event costs."""
    rows = [
        (
            cost.kind,
            f"{cost.each.median * 1e6:.2f} µs",
            str(cost.count) if cost.count else "",
            f"{cost.each.median * cost.count * 1e3:.3f} ms" if cost.count else "",
        )
        for cost in costs
    ]
    return table(("kind of event", "each", "in one tiny forward", "in all"), rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table, its columns aligned."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in (head, *rows)
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def as_data(
    measured: Mapping[str, Measured], failed: Mapping[str, str], courses: Mapping[str, Course], costs: Sequence[Cost]
) -> dict[str, Any]:
    """Everything measured, to be written as JSON."""
    limits = {budget.key: budget for budget in BUDGETS}
    return {
        "machine": machine(),
        "budgets": {
            key: {
                "work": limits[key].work,
                "unit": limits[key].unit,
                "budget": limits[key].limit,
                "median": one.spread.median,
                "quartiles": [one.spread.low, one.spread.high],
                "repeats": one.spread.count,
                "verdict": verdict(limits[key].limit, one.spread),
                "more": list(one.more),
            }
            for key, one in measured.items()
        },
        "failed": dict(failed),
        "not_yet": {budget.key: budget.later for budget in BUDGETS if budget.later},
        "recorders": {
            name: {"cpu": course.cpu, "wall": course.wall, "failed": course.failed} for name, course in courses.items()
        },
        "events": [{"kind": cost.kind, "seconds": cost.each.median, "count": cost.count} for cost in costs],
    }
