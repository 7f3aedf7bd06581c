"""The codec gives back what it was given, and writes nothing but plain JSON."""

from __future__ import annotations

import json
import math
from array import array
from types import MappingProxyType
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.recording.codec import MAX_JSON_DEPTH, MAX_JSON_LENGTH, decode, encode, pack_ints, unpack_ints

KEYS = st.text(st.characters(), max_size=5) | st.sampled_from(["$", "$float", "$int", "$$float", "$x"])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
NESTED = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def refuse(name: str) -> NoReturn:
    raise AssertionError(name)


@given(NESTED)
def test_comes_back_as_it_was(value: Any) -> None:
    text = encode(value)
    assert repr(decode(text)) == repr(value)
    json.loads(text, parse_constant=refuse)
    assert text.isascii()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, '{"$float":"nan"}'),
        ([-math.inf, math.inf], '[{"$float":"-inf"},{"$float":"inf"}]'),
        ({"$float": "nan"}, '{"$$float":"nan"}'),
        ([math.nan, -(1 << 1024)], '[{"$float":"nan"},{"$int":"-0x1' + 256 * "0" + '"}]'),
        ((1, 2.0), "[1,2.0]"),
        (MappingProxyType({"a": MappingProxyType({"b": math.nan})}), '{"a":{"b":{"$float":"nan"}}}'),
    ],
)
def test_is_spelled_as_documented(value: Any, text: str) -> None:
    assert encode(value) == text
    assert encode(decode(text)) == text


def test_an_integer_too_long_to_print_comes_back() -> None:
    assert decode(encode({"seed": 7**20_000})) == {"seed": 7**20_000}


@pytest.mark.parametrize(
    "text",
    [
        "NaN", "[Infinity]", "", '{"a":1}x', '{"$float":"1"}', '{"$float":1}', '{"$int":"1_0"}', '{"$python":"os"}',
        "[" * 200_000, '{"a":' * 5000 + "1" + "}" * 5000, "1" * 5000,
    ],
)  # fmt: skip
def test_what_it_never_writes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(text)


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", [[math.nan, object()]], "x" * (MAX_JSON_LENGTH + 1)])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        encode(value)


def test_a_circle_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match=r"."):
        encode(circle)


def test_nesting_is_allowed_up_to_its_bound() -> None:
    deep: list[Any] = []
    for _ in range(MAX_JSON_DEPTH - 1):
        deep = [deep, "[[[", '"[']
    assert decode(encode(deep)) == deep
    with pytest.raises(ValueError, match=r"."):
        encode([deep])


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_come_back(numbers: list[int]) -> None:
    column = array("q", numbers)
    assert unpack_ints(pack_ints(column)) == column
    assert pack_ints(array("q", [1])) == b"\1" + bytes(7)
