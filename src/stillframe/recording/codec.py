"""Takes plain values and integer columns; gives the JSON text and the bytes a recording keeps, and the way back.

Must not know what the values mean, nor of SQLite: only how they are spelled (docs/format.md, "Spelling").

JSON has no NaN, no infinities and, in practice, no very long integers. They are written as an object with one marked
key: `{"$float": "nan"}`, `{"$float": "inf"}`, `{"$float": "-inf"}`, `{"$int": "-0x1f…"}`. A key of the caller's own
that begins with "$" gets a second "$" in front, so nothing can be mistaken for a mark.
"""

from __future__ import annotations

import json
import math
import re
import sys
from array import array
from collections.abc import Mapping
from typing import Any, NoReturn

MAX_JSON_LENGTH = 8 * 1024 * 1024
MAX_JSON_DEPTH = 100

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')
_HEX = re.compile(r"-?0x[0-9a-f]+")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LONGEST_PLAIN_INT = 1 << 1024


def encode(value: Any) -> str:
    """`value` as compact JSON. Raises ValueError for what JSON cannot hold, or what `decode` would not take back."""
    try:
        text = _plain(value)
        if '"$' in text:
            text = _encoder.encode(_marked(value))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"It cannot be written as JSON: {error}.") from error
    _check_bounds(text)
    return text


def decode(text: str) -> Any:
    """What `encode` was given (tuples come back as lists). Raises ValueError for anything `encode` would not write."""
    _check_bounds(text)
    try:
        return (_marked_decoder if '"$' in text else _plain_decoder).decode(text)
    except RecursionError as error:  # only when the caller's own stack is nearly full
        raise ValueError("It is nested too deeply.") from error


def pack_ints(column: array[int]) -> bytes:
    """The column as little-endian signed 64-bit integers."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()


def unpack_ints(data: bytes) -> array[int]:
    """The column that `pack_ints` wrote. Raises ValueError if `data` is no whole number of integers."""
    column = array("q")
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _plain(value: Any) -> str:
    try:
        return _encoder.encode(value)
    except ValueError:  # a NaN, an infinity or an integer too long to print; a circle ends in RecursionError
        return _encoder.encode(_marked(value))


def _marked(value: Any) -> Any:
    """`value` with marks in place of what JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, int) and not -_LONGEST_PLAIN_INT < value < _LONGEST_PLAIN_INT:
        return {"$int": hex(value)}
    if isinstance(value, Mapping):
        return {"$" + key if isinstance(key, str) and key[:1] == "$" else key: _marked(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_marked(item) for item in value]
    return value


def _unmarked(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) == 1:
        key, inner = pairs[0]
        if key == "$float" and isinstance(inner, str) and inner in _FLOATS:
            return _FLOATS[inner]
        if key == "$int" and isinstance(inner, str) and _HEX.fullmatch(inner):
            return int(inner, 16)
    return {_own_key(key): inner for key, inner in pairs}


def _own_key(key: str) -> str:
    if key.startswith("$"):
        if not key.startswith("$$"):
            raise ValueError(f"The mark {key!r} is not known.")
        return key[1:]
    return key


def _check_bounds(text: str) -> None:
    if len(text) > MAX_JSON_LENGTH:
        raise ValueError(f"It is {len(text):,} characters of JSON; {MAX_JSON_LENGTH:,} are allowed.")
    if text.count("[") + text.count("{") <= MAX_JSON_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(text):
        bracket = token.group()
        if bracket in ("[", "{"):
            depth += 1
            if depth > MAX_JSON_DEPTH:
                raise ValueError(f"It is nested deeper than {MAX_JSON_DEPTH} levels.")
        elif bracket in ("]", "}"):
            depth -= 1


def _as_dict(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")


_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_as_dict)
_plain_decoder = json.JSONDecoder(parse_constant=_refuse_constant)
_marked_decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unmarked)
