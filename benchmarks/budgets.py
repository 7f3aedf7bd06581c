"""Holds the budgets; takes a measurement and says whether its budget was met.

Knows nothing of how anything is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.clock import Spread


@dataclass(frozen=True, slots=True)
class Budget:
    """One row of the design's table. `limit` is in `unit`: "x" a ratio to bare, "s" seconds, "%" per cent off constant.

    `later` says why it is not measured yet.
    """

    key: str
    work: str
    limit: float
    unit: str = "x"
    later: str = ""


BUDGETS = (
    Budget("metadata", "every site in scope, metadata only, tiny llama forward", 1.25),
    Budget("bytes", "the same with every value's bytes", 2.0),
    Budget("wide", "wide model (hidden 1024, 8 layers, B=4, T=256), default policy", 1.15),
    Budget("generate", "tiny generate of 16 tokens, all values", 2.2),
    Budget("train", "tiny training step (forward, backward, AdamW), all values", 2.2),
    Budget("stop", "a live stop that is never reached", 1.03, later="there are no live stops yet"),
    Budget("weave-first", "weaving a model's files the first time", 0.3, "s"),
    Budget("weave-cached", "weaving a model's files from the cache", 0.05, "s"),
    Budget("read", "`stillframe read llama`, whole process, to importing torch and LlamaForCausalLM", 1.3),
    Budget("full-size", "DeepSeek-V3 at full size, recorded and read", 6.0, "s", later="models are not yet built at full size"),
    Budget("open", "opening a recording of 100,000 ops, first screen, whole process", 1.0, "s"),
    Budget("layers", "cost per event from 2 to 126 layers, off that at 2", 20.0, "%"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured for a budget, in its unit; `more` is what else the reader should know, one line each."""

    key: str
    spread: Spread
    more: tuple[str, ...] = ()


def verdict(limit: float, found: Spread) -> str:
    """Whether a budget was met: by the median, with a word where the quartiles lie on both sides of the limit."""
    word = "met" if found.median <= limit else "missed"
    return f"{word}, within the noise" if found.low <= limit < found.high else word


def shown(value: float, unit: str) -> str:
    """A number in its unit."""
    return {"x": f"{value:.2f}×", "s": f"{value:.3f} s", "%": f"{value:.0f} %"}[unit]
