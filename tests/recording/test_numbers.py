"""Numbers read without torch are the numbers torch reads: every dtype, any view, and what they are like together."""

from __future__ import annotations

import ctypes
import json
import math
import time
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stillframe.errors import RecordingError
from stillframe.recording.chunks import Damage
from stillframe.recording.dtypes import ITEM_SIZES
from stillframe.recording.numbers import Numbers, read_numbers
from stillframe.recording.statistics import Statistics, work_out
from stillframe.records import Content, Value

WIDE = {"complex32": torch.complex64, "complex64": torch.complex64, "complex128": torch.complex128}


def value_of(shape: Any, dtype: str, stride: Any = None, offset: Any = 0) -> Value:
    about = {"kind": "tensor", "dtype": dtype, "shape": shape, "stride": stride, "offset": offset}
    return Value(1, about, 1, 1, 1, 0, 0)


def numbers_of(tensor: torch.Tensor, form: str = "storage") -> Numbers:
    """The numbers of a tensor as a recording would keep it."""
    if form == "dense":
        tensor = tensor.contiguous().clone()
    storage = tensor.untyped_storage()
    data = ctypes.string_at(storage.data_ptr(), storage.nbytes())
    value = value_of(list(tensor.shape), str(tensor.dtype), list(tensor.stride()), tensor.storage_offset())
    numbers = read_numbers(value, Content(1, 1, form, data))
    assert numbers is not None
    return numbers


def by_torch(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in a dtype in which torch can do anything, and in which each is exact."""
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.dtype.is_floating_point:
        return tensor.to(torch.float32 if ITEM_SIZES[name] < 8 else torch.float64).to(torch.float64)
    return tensor.to(WIDE.get(name, tensor.dtype))


@st.composite
def tensors(draw: st.DrawFn, dtypes: list[str] | None = None) -> torch.Tensor:
    """A random view, by as_strided, of random bytes: expanded, transposed, overlapping, empty, without dimension."""
    name = draw(st.sampled_from(dtypes or sorted(ITEM_SIZES)))
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    stride = draw(st.lists(st.integers(0, 6), min_size=len(shape), max_size=len(shape)))
    offset = draw(st.integers(0, 5))
    reach = offset + 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True) if size)
    size = reach * ITEM_SIZES[name]
    data = draw(st.binary(min_size=size, max_size=size))
    if name == "bool":
        data = bytes(byte & 1 for byte in data)
    storage = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(getattr(torch, name))
    return storage.as_strided(shape, stride, offset)


@settings(max_examples=400, deadline=None)
@given(tensors(), st.sampled_from(["storage", "dense"]))
def test_are_those_torch_reads(tensor: torch.Tensor, form: str) -> None:
    numbers = numbers_of(tensor, form)
    expected = by_torch(tensor)
    assert numbers.shape == tuple(tensor.shape)
    assert repr(numbers.nested()) == repr(expected.tolist())
    assert repr(list(numbers.flat)) == repr(expected.contiguous().view(-1).tolist())
    if tensor.numel():
        for depth in range(tensor.dim() + 1):
            leading = tuple(size - 1 for size in tensor.shape[:depth])
            assert repr(numbers.row(*leading)) == repr(expected[leading].tolist())


@pytest.mark.parametrize("dtype", sorted(name for name, size in ITEM_SIZES.items() if size <= 2))
def test_every_code_of_a_small_dtype_is_right(dtype: str) -> None:
    codes = torch.arange(2 if dtype == "bool" else 256, dtype=torch.uint8)
    if ITEM_SIZES[dtype] == 2:
        codes = torch.arange(65536, dtype=torch.int32).to(torch.uint16).view(torch.uint8)
    tensor = codes.view(getattr(torch, dtype))
    assert repr(list(numbers_of(tensor).flat)) == repr(by_torch(tensor).tolist())


REAL = sorted(name for name in ITEM_SIZES if not name.startswith("complex"))


@settings(max_examples=300, deadline=None)
@given(tensors(REAL))
def test_statistics_are_those_torch_works_out(tensor: torch.Tensor) -> None:
    got = numbers_of(tensor).statistics()
    numbers = by_torch(tensor)
    if not numbers.is_floating_point():
        exact = [int(number) for number in numbers.flatten().tolist()]
        assert (got.min, got.max) == ((min(exact), max(exact)) if exact else (None, None))
        numbers = torch.tensor(exact, dtype=torch.float64)
    known = numbers[~numbers.isnan()]
    finite = numbers[numbers.isfinite()]
    assert got.count == numbers.numel()
    assert got.nan == int(numbers.isnan().sum())
    assert got.posinf == int((numbers == math.inf).sum())
    assert got.neginf == int((numbers == -math.inf).sum())
    assert got.zero == int((numbers == 0).sum())
    if known.numel():
        assert got.min == pytest.approx(known.min().item())
        assert got.max == pytest.approx(known.max().item())
    else:
        assert got.min is None
        assert got.max is None
    if finite.numel():
        size = finite.abs().max().item()
        scaled = finite / size if size else finite  # torch squares: keep it from overflowing
        factor = size or 1.0
        assert got.mean == pytest.approx(scaled.mean().item() * factor, abs=1e-9 * factor)
        assert got.std == pytest.approx(scaled.std(correction=0).item() * factor, abs=1e-9 * factor)
    else:
        assert got.mean is None
        assert got.std is None


def test_statistics_of_small_cases_are_exact() -> None:
    inf, nan = math.inf, math.nan
    assert work_out([1.0, 3.0]) == Statistics(2, 1.0, 3.0, 2.0, 1.0, 0, 0, 0, 0)
    assert work_out([nan, inf, -0.0, 4.0]) == Statistics(4, -0.0, inf, 2.0, 2.0, 1, 1, 0, 1)
    assert work_out([inf, -inf]) == Statistics(2, -inf, inf, None, None, 0, 1, 1, 0)
    assert work_out([inf]) == Statistics(1, inf, inf, None, None, 0, 1, 0, 0)
    assert work_out([nan]) == Statistics(1, None, None, None, None, 1, 0, 0, 0)
    assert work_out([]) == Statistics(0, None, None, None, None, 0, 0, 0, 0)
    assert work_out([True, False, True, False], 3) == Statistics(12, 0, 1, 0.5, 0.5, 0, 0, 0, 6)
    assert work_out([1.5e308] * 4) == Statistics(4, 1.5e308, 1.5e308, 1.5e308, 0.0, 0, 0, 0, 0)
    assert work_out([2**62, 2**62 + 2]) == Statistics(2, 2**62, 2**62 + 2, 2.0**62, 1.0, 0, 0, 0, 0)
    assert work_out([1 + 1j, 1 - 1j, 0j, complex(nan, inf), complex(inf, 0)]) == Statistics(
        5, None, None, (2 + 0j) / 3, math.hypot(abs(1 / 3 + 1j), abs(1 / 3 - 1j), 2 / 3) / math.sqrt(3), 1, 1, 0, 1
    )


def test_an_expanded_view_costs_what_its_memory_costs() -> None:
    mask = torch.tensor([0.0, -math.inf, 2.0]).expand(1000, 1000, 1000, 3)
    numbers = numbers_of(mask)
    assert numbers.statistics() == Statistics(3 * 10**9, -math.inf, 2.0, 1.0, 1.0, 0, 0, 10**9, 10**9)
    assert numbers.row(999, 0, -1) == [0.0, -math.inf, 2.0]
    with pytest.raises(RecordingError) as caught:
        numbers.nested()
    assert caught.value.slug == "recording-too-many-numbers"


def test_row_raises_as_a_list_would() -> None:
    numbers = numbers_of(torch.zeros(2, 3))
    for leading in ((2,), (0, -4), (0, 0, 0)):
        with pytest.raises(IndexError):
            numbers.row(*leading)


def summarised(shape: list[int], summary: object, dtype: str = "float32") -> Numbers:
    value = value_of(shape, dtype, [shape[-1], 1])
    numbers = read_numbers(value, Content(1, 1, "summary", json.dumps(summary).encode()))
    assert numbers is not None
    return numbers


@pytest.mark.parametrize(("inf", "nan"), [("inf", "nan"), ({"$float": "inf"}, {"$float": "nan"})])
def test_a_summary_gives_its_statistics_and_its_sample(inf: object, nan: object) -> None:
    known = {
        "count": 40,
        "min": -1.0,
        "max": inf,
        "mean": 0.5,
        "std": 2.0,
        "nan": 1,
        "posinf": 2,
        "neginf": 0,
        "zero": 3,
    }
    laid_out = {"dtype": "float32", "shape": [5, 8], "stride": [8, 1], "sample_steps": [3, 4]}
    numbers = summarised([5, 8], {**known, **laid_out, "sample": [1.0, nan, 3.0, 4.0]})
    assert numbers.statistics() == Statistics(40, -1.0, math.inf, 0.5, 2.0, 1, 2, 0, 3)
    assert (numbers.sampled, numbers.count, numbers.shape) == (True, 40, (5, 8))
    assert (numbers.sample_shape, numbers.sample_steps) == ((2, 2), (3, 4))
    assert repr(numbers.nested()) == "[[1.0, nan], [3.0, 4.0]]"
    assert numbers.row(1) == [3.0, 4.0]


def test_a_sample_stands_nowhere_in_a_view_that_is_laid_out_otherwise() -> None:
    sample = {"sample": [1, 2, 3, 4], "sample_steps": [4, 4]}
    for told in ({}, {"shape": [8, 8], "stride": [1, 8]}, {"shape": [64], "stride": [1]}):
        numbers = summarised([8, 8], {**sample, **told})
        assert (numbers.sample_shape, numbers.sample_steps, numbers.nested()) == ((4,), None, [1, 2, 3, 4])
    assert summarised([8, 8], {**sample, "shape": [8, 8], "stride": [8, 1]}).nested() == [[1, 2], [3, 4]]


def test_a_summary_of_the_memory_as_other_numbers_tells_nothing() -> None:
    content = Content(1, 1, "summary", b'{"dtype":"float32","min":0.5}')
    assert read_numbers(value_of([4], "int32", [1]), content) is None


def test_a_sample_of_complex_numbers_is_spelled_in_parts() -> None:
    for sample in ([1.0, 2.0, 3.0, "inf"], [[1.0, 2.0], [3.0, "inf"]]):
        assert summarised([9, 1], {"sample": sample}, "complex64").nested() == [1 + 2j, complex(3, math.inf)]


def test_a_summary_may_lack_anything() -> None:
    numbers = summarised([5, 8], {})
    assert numbers.statistics() == Statistics(40, *[None] * 8)
    assert list(numbers.flat) == []
    odd = summarised([5, 8], {"mean": [1.0, 2.0], "nan": "many", "std": "nan", "min": {"$float": "nan"}}).statistics()
    assert odd == Statistics(40, None, None, 1 + 2j, *[None] * 5)


@pytest.mark.parametrize("summary", [[], {"sample": 1}, {"sample": ["1"]}, {"sample": [[1, 2, 3]]}])
def test_a_summary_that_is_none_is_damage(summary: object) -> None:
    with pytest.raises(Damage):
        summarised([5], summary)


@pytest.mark.parametrize(
    ("shape", "dtype", "stride", "offset"),
    [
        ([2], "torch.quint8", [1], 0), ([2], None, [1], 0), ([2], "int4", [1], 0),
        (None, "int8", [1], 0), (["s0"], "int8", [1], 0), ([-1], "int8", [1], 0), ([True], "int8", [1], 0),
        ([2], "int8", None, 0), ([2], "int8", [1, 1], 0), ([2], "int8", [-1], 1), ([2], "int8", [1], None),
        ([1] * 65, "int8", [1] * 65, 0),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_none(shape: Any, dtype: Any, stride: Any, offset: Any) -> None:
    assert read_numbers(value_of(shape, dtype, stride, offset), Content(1, 1, "storage", bytes(16))) is None


@pytest.mark.parametrize(
    ("shape", "stride", "offset", "form"),
    [([3], [8], 0, "storage"), ([1], [1], 16, "storage"), ([1], [1], -1, "storage"), ([2**62], [2**62], 0, "storage"),
     ([15], [1], 0, "dense"), ([17], [1], 0, "dense")],
)  # fmt: skip
def test_what_reaches_beyond_the_memory_is_damage(shape: Any, stride: Any, offset: int, form: str) -> None:
    with pytest.raises(Damage):
        read_numbers(value_of(shape, "torch.int8", stride, offset), Content(1, 1, form, bytes(16)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "float64"])
def test_a_large_value_is_read_at_once(dtype: str) -> None:
    tensor = torch.randn(256, 256).to(getattr(torch, dtype))
    times = []
    for _ in range(5):
        numbers = numbers_of(tensor)
        began = time.perf_counter()
        numbers.statistics()
        assert len(numbers.flat) == 65536
        times.append(time.perf_counter() - began)
    assert min(times) < 0.05  # about 0.01 when the machine is idle
