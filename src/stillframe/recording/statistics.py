"""Takes a flat sequence of numbers, or the summary a run kept of one; gives its Statistics.

Must not know where the numbers lay in memory, nor of torch or numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from stillframe.recording.dtypes import Number


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a value's numbers are like, together.

    `min` and `max` are over all elements but NaN, so that an infinity shows; None if there is none such, or if they are
    complex numbers. `mean` and `std` (the population's: divided by the count) are over the finite elements; None if
    there are none. `nan`, `posinf`, `neginf` and `zero` count elements; of complex ones, `nan` those with a NaN part,
    `posinf` those with an infinite part and none NaN. A bool counts as 0 or 1. What a summary lacks is None.
    """

    count: int
    min: int | float | None
    max: int | float | None
    mean: float | complex | None
    std: float | None
    nan: int | None
    posinf: int | None
    neginf: int | None
    zero: int | None


def work_out(numbers: Sequence[Number], times: int = 1) -> Statistics:
    """The statistics of `numbers`, each of which is there `times` times over."""
    if numbers and isinstance(numbers[0], complex):
        return _of_complex([complex(number) for number in numbers], times)
    reals: list[int | float] = list(numbers)  # type: ignore[arg-type]
    finite, nan, posinf, neginf = _sift(reals)
    known = finite + [math.inf] * bool(posinf) + [-math.inf] * bool(neginf)
    mean, std = _mean_and_std(finite) if finite else (None, None)
    return Statistics(
        count=len(reals) * times,
        min=_plain(min(known)) if known else None,
        max=_plain(max(known)) if known else None,
        mean=mean,
        std=std,
        nan=nan * times,
        posinf=posinf * times,
        neginf=neginf * times,
        zero=reals.count(0) * times,
    )


def from_summary(summary: Mapping[str, Any], count: int) -> Statistics:
    """The statistics that a summary keeps. `count` is the number of elements by the value's shape."""

    def whole(key: str) -> int | None:
        number = summary.get(key)
        return number if type(number) is int else None

    def known(key: str) -> Number | None:
        number = as_number(summary.get(key))
        return None if number != number else number  # a NaN here says that no element is there to take it of

    def real(key: str) -> int | float | None:
        number = known(key)
        return None if isinstance(number, complex) else number

    counted = whole("count")
    return Statistics(
        count=count if counted is None else counted,
        min=real("min"),
        max=real("max"),
        mean=known("mean"),
        std=real("std"),
        nan=whole("nan"),
        posinf=whole("posinf"),
        neginf=whole("neginf"),
        zero=whole("zero"),
    )


def as_number(spelled: object) -> Number | None:
    """A number as a summary spells it: "nan", "inf" and "-inf" as text, a complex one as a list. None if it is none."""
    if isinstance(spelled, str):
        return float(spelled) if spelled in ("nan", "inf", "-inf") else None
    if isinstance(spelled, (int, float)):
        return spelled
    if isinstance(spelled, list) and len(spelled) == 2:
        real, imaginary = map(as_number, spelled)
        if isinstance(real, (int, float)) and isinstance(imaginary, (int, float)):
            return complex(real, imaginary)
    return None


def _sift(reals: list[int | float]) -> tuple[list[int | float], int, int, int]:
    """The finite ones, and how many are NaN, infinite and minus infinite."""
    try:
        if math.isfinite(math.fsum(reals)):
            return reals, 0, 0, 0
    except (OverflowError, ValueError):  # a sum too large, or infinities of both signs
        pass
    finite = [number for number in reals if math.isfinite(number)]
    nan = sum(1 for number in reals if math.isnan(number))
    posinf = sum(1 for number in reals if number == math.inf)
    return finite, nan, posinf, len(reals) - len(finite) - nan - posinf


def _plain(number: float) -> int | float:
    return int(number) if isinstance(number, bool) else number


def _mean_and_std(finite: Sequence[float]) -> tuple[float, float]:
    count = len(finite)
    if isinstance(finite[0], int):  # exactly, as the difference of two large integers would be lost in floats
        total = sum(finite)
        return total / count, math.sqrt(count * sum(map(mul, finite, finite)) - total * total) / count
    mean = _mean(finite)
    return mean, math.dist(finite, [mean] * count) / math.sqrt(count)


def _mean(finite: Sequence[float]) -> float:
    try:
        return math.fsum(finite) / len(finite)
    except OverflowError:
        return math.fsum(number / len(finite) for number in finite)


def _of_complex(numbers: Sequence[complex], times: int) -> Statistics:
    finite = [z for z in numbers if math.isfinite(z.real) and math.isfinite(z.imag)]
    nan = sum(1 for z in numbers if math.isnan(z.real) or math.isnan(z.imag))
    mean = std = None
    if finite:
        mean = complex(_mean([z.real for z in finite]), _mean([z.imag for z in finite]))
        std = math.hypot(*(abs(z - mean) for z in finite)) / math.sqrt(len(finite))
    infinite = len(numbers) - len(finite) - nan
    zero = sum(1 for z in numbers if z == 0)
    return Statistics(len(numbers) * times, None, None, mean, std, nan * times, infinite * times, 0, zero * times)
