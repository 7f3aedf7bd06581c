"""Takes a list of items with keys; gives it with every run of equal neighbours, or of equal groups of neighbours, made
one.

Must not know what the items are: only which of them are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_GROUP = 64


@dataclass(frozen=True, slots=True)
class Run:
    """`length` items from `start` on, that come `times` times one after another."""

    start: int
    length: int
    times: int


def runs_of(keys: Sequence[int], longest: int = LONGEST_GROUP) -> tuple[Run, ...]:
    """The runs in `keys`, which together cover them all. Of several ways at a place, the one that covers most."""
    found: list[Run] = []
    at, count = 0, len(keys)
    if count and len(set(keys)) == count:  # most often nothing comes twice
        return (Run(0, count, 1),)
    while at < count:
        best = Run(at, 1, 1)
        for length in range(1, min(longest, (count - at) // 2) + 1):
            if keys[at] != keys[at + length]:
                continue
            group, times = keys[at : at + length], 1
            while keys[at + times * length : at + (times + 1) * length] == group:
                times += 1
            if times > 1 and length * times > best.length * best.times:
                best = Run(at, length, times)
        if best.times == 1 and found and found[-1].times == 1:
            found[-1] = Run(found[-1].start, found[-1].length + 1, 1)
        else:
            found.append(best)
        at += best.length * best.times
    return tuple(found)
