"""Takes a value's description and its content; gives the value's numbers, worked out when they are looked at.

Must not know of torch or numpy, nor of the file: views are read by shape, stride and offset, as torch defines them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from stillframe.errors import RecordingError
from stillframe.recording.chunks import Damage
from stillframe.recording.codec import decode
from stillframe.recording.dtypes import ITEM_SIZES, Number, decode_elements, plain_dtype
from stillframe.recording.statistics import Statistics, as_number, from_summary, work_out
from stillframe.records import Content, Value

MOST_AT_ONCE = 1 << 26  # elements; an expanded view of a few bytes can claim any number of them
MOST_DIMENSIONS = 64

Nested = Any  # a number, or a list of Nested: as deep as there are dimensions


def read_numbers(value: Value, content: Content) -> Numbers | None:
    """The numbers of `value`, or None if its dtype, shape or form is not one whose numbers can be told.

    Raises Damage if the content does not hold what the value's description says.
    """
    about = value.about
    shape = _sizes(about.get("shape"))
    dtype = plain_dtype(about.get("dtype"))
    if shape is None or dtype is None:
        return None
    if content.form == "summary":
        return _from_summary(value, content, shape, dtype)
    size = ITEM_SIZES[dtype]
    if content.form == "dense":
        if len(content.data) != math.prod(shape) * size:
            raise Damage(f"Value {value.id} does not have as many bytes as its shape and dtype need.")
        return Numbers(shape, dtype, content.data, _dense_strides(shape))
    stride, offset = _sizes(about.get("stride")), about.get("offset", 0)
    if stride is None or len(stride) != len(shape) or type(offset) is not int:
        return None
    if offset < 0 or (0 not in shape and (offset + _reach(shape, stride)) * size > len(content.data)):
        raise Damage(f"Value {value.id} reaches beyond the memory that was kept for it.")
    return Numbers(shape, dtype, content.data, stride, offset)


class Numbers:
    """The numbers of one value: those of all its elements, or only a sample of them.

    `shape` and `dtype` (without "torch.") are the value's. Where a summary was kept, `sampled` is true and
    `sample_shape` is the shape of what can be had: every `sample_steps[i]`-th element along dimension i, or, if
    `sample_steps` is None, elements of which it is not known where they stood. Otherwise `sample_shape` is `shape`.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: str, data: bytes | list[Number], stride: tuple[int, ...], offset: int = 0
    ) -> None:
        """`data`: bytes in `dtype`, or the numbers themselves; `stride` and `offset` are in elements of it."""
        self.shape = shape
        self.dtype = dtype
        self.sampled = False
        self.sample_shape = shape
        self.sample_steps: tuple[int, ...] | None = (1,) * len(shape)
        self._data = data
        self._stride = stride
        self._offset = offset

    @property
    def count(self) -> int:
        """How many elements the value has (not how many the sample has)."""
        return math.prod(self.shape)

    @cached_property
    def flat(self) -> Sequence[Number]:
        """All numbers that can be had, in C order. Raises RecordingError if they are too many to hold at once."""
        return self._gather(self.sample_shape, self._stride, self._offset)

    def row(self, *leading: int) -> Nested:
        """What stands at these leading indices: a number if there are as many as dimensions, else nested lists.

        Reads only the part of the memory it gives. Raises IndexError as a list would.
        """
        shape, depth = self.sample_shape, len(leading)
        if depth > len(shape):
            raise IndexError(f"{depth} indices for {len(shape)} dimensions")
        offset = self._offset
        for index, size, step in zip(leading, shape[:depth], self._stride[:depth], strict=True):
            if not -size <= index < size:
                raise IndexError(f"index {index} in a dimension of {size}")
            offset += index % size * step
        return _nest(self._gather(shape[depth:], self._stride[depth:], offset), shape[depth:])

    def nested(self) -> Nested:
        """All numbers that can be had, as nested lists; the number itself if there is no dimension."""
        return _nest(self.flat, self.sample_shape)

    def statistics(self) -> Statistics:
        """What all elements are like, together: of a sampled value too, whose run worked them out."""
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        # Order does not matter here: memory order reads fastest, and what a view repeats needs to be read only once.
        dimensions = sorted(zip(self._stride, self.shape, strict=True), reverse=True)
        read = [(step, size) for step, size in dimensions if step or not size]
        repeated = math.prod(size for step, size in dimensions if not step and size)
        numbers = self._gather(tuple(size for _, size in read), tuple(step for step, _ in read), self._offset)
        return work_out(numbers, repeated)

    def _gather(self, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Sequence[Number]:
        """The elements of that view, in C order."""
        count = math.prod(shape)
        _check_amount(count)
        if not count:
            return []
        elements = self._elements(offset, offset + _reach(shape, stride))
        dimensions = _merged(shape, stride)
        if dimensions == [(count, 1)]:
            return elements
        size, step = dimensions.pop()
        starts = [0]
        for outer_size, outer_step in dimensions:
            steps = [outer_step * at for at in range(outer_size)]
            starts = [start + further for start in starts for further in steps]
        gathered: list[Number] = []
        for start in starts:
            gathered += elements[start : start + (size - 1) * step + 1 : step] if step else [elements[start]] * size
        return gathered

    def _elements(self, first: int, stop: int) -> Sequence[Number]:
        if isinstance(self._data, list):
            return self._data[first:stop]
        size = ITEM_SIZES[self.dtype]
        return decode_elements(memoryview(self._data)[first * size : stop * size], self.dtype)


class _Sampled(Numbers):
    """The sample and the statistics that a summary keeps."""

    def __init__(self, shape: tuple[int, ...], dtype: str, sample: list[Number], statistics: Statistics) -> None:
        super().__init__(shape, dtype, sample, (1,))
        self.sampled = True
        self.sample_shape = (len(sample),)
        self.sample_steps = None
        self._kept = statistics

    def lay_out(self, steps: tuple[int, ...]) -> None:
        """Give the sample the shape it has if it was taken by `steps`; if the two do not fit, leave it in one row."""
        if len(steps) != len(self.shape) or 0 in steps:
            return
        shape = tuple(-(-size // step) for size, step in zip(self.shape, steps, strict=True))
        if math.prod(shape) == len(self._data):
            self.sample_shape, self.sample_steps, self._stride = shape, steps, _dense_strides(shape)

    def statistics(self) -> Statistics:
        return self._kept


def _from_summary(value: Value, content: Content, shape: tuple[int, ...], dtype: str) -> Numbers | None:
    summary = decode(content.data.decode("utf-8"))
    spelled = summary.get("sample", []) if isinstance(summary, dict) else None
    if not isinstance(spelled, list):
        raise Damage(f"The summary of value {value.id} is none.")
    if plain_dtype(summary.get("dtype", dtype)) != dtype:  # made of the same memory, seen as other numbers
        return None
    sample = [number for number in map(as_number, spelled) if number is not None]
    if len(sample) != len(spelled):
        raise Damage(f"The sample of value {value.id} holds something that is no number.")
    if dtype.startswith("complex") and not any(isinstance(number, complex) for number in sample):
        sample = list(map(complex, sample[0::2], sample[1::2]))
    sampled = _Sampled(shape, dtype, sample, from_summary(summary, math.prod(shape)))
    # Views that cover the same memory may share a summary: the sample stands in one as in another only if they are laid
    # out alike, and a summary that does not say how the view was laid out does not say where its sample stood.
    if _sizes(summary.get("shape")) == shape and summary.get("stride") == value.about.get("stride"):
        sampled.lay_out(_sizes(summary.get("sample_steps")) or ())
    return sampled


def _sizes(numbers: object) -> tuple[int, ...] | None:
    """`numbers` as sizes or steps along dimensions, or None if they are no such thing."""
    if not isinstance(numbers, (list, tuple)) or len(numbers) > MOST_DIMENSIONS:
        return None
    if any(type(number) is not int or number < 0 for number in numbers):
        return None
    return tuple(numbers)


def _dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))


def _reach(shape: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """How many elements lie between a view's first and last, both counted. Of a view with elements only."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


def _merged(shape: tuple[int, ...], stride: tuple[int, ...]) -> list[tuple[int, int]]:
    """The view's dimensions as (size, step), those that are one run through memory made one; never none."""
    merged: list[tuple[int, int]] = []
    for size, step in zip(shape, stride, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1] == size * step:
            merged[-1] = (merged[-1][0] * size, step)
        else:
            merged.append((size, step))
    return merged or [(1, 1)]


def _nest(flat: Sequence[Number], shape: tuple[int, ...]) -> Nested:
    if not shape:
        return flat[0]
    nested: list[Any] = list(flat)
    for depth in range(len(shape) - 1, 0, -1):
        groups, size = math.prod(shape[:depth]), shape[depth]
        _check_amount(groups)  # of an empty value, too, whose lists may be many
        nested = [nested[at * size : (at + 1) * size] for at in range(groups)]
    return nested


def _check_amount(count: int) -> None:
    if count > MOST_AT_ONCE:
        asked = f"{count:,} numbers of a value were asked for."
        found = f"At most {MOST_AT_ONCE:,} can be given at once."
        raise RecordingError("recording-too-many-numbers", asked, found, "Ask for a part of them, by leading indices.")
