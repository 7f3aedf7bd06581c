"""Takes little-endian bytes and the name of a torch dtype; gives Python numbers.

Must not know of torch or numpy, nor of shapes: the element formats are spelled out here, so that a recording can be
read where neither is installed.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Number: TypeAlias = int | float | complex  # bool counts as int

_ARRAY_CODES = {
    "float32": "f", "float64": "d",
    "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip

ITEM_SIZES = {
    **{name: array(code).itemsize for name, code in _ARRAY_CODES.items()},
    "bool": 1, "float16": 2, "bfloat16": 2,
    "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
"""Bytes an element takes, of every dtype that `decode_elements` can read."""


def plain_dtype(name: object) -> str | None:
    """The dtype's name without "torch.", or None if its elements cannot be read here."""
    name = name.removeprefix("torch.") if isinstance(name, str) else ""
    return name if name in ITEM_SIZES else None


def decode_elements(data: bytes | memoryview, dtype: str) -> Sequence[Number]:
    """The elements of `data`, whole and in order, as a sequence that slices (with steps, too) without surprises."""
    code = _ARRAY_CODES.get(dtype)
    if code is not None:
        return _array(code, data)
    return _DECODERS[dtype](bytes(data))


def _array(code: str, data: bytes | memoryview) -> array[Any]:
    elements: array[Any] = array(code)
    elements.frombytes(data)
    if sys.byteorder == "big":
        elements.byteswap()
    return elements


def _bools(data: bytes) -> list[Number]:
    return list(map(bool, data))


def _halves(data: bytes) -> list[Number]:
    return list(struct.unpack(f"<{len(data) // 2}e", data))


def _bfloats(data: bytes) -> list[Number]:
    """A bfloat16 is the upper half of a float32."""
    wide = bytearray(2 * len(data))
    wide[2::4] = data[0::2]
    wide[3::4] = data[1::2]
    return _array("f", bytes(wide)).tolist()


def _complexes(parts: Sequence[float]) -> list[Number]:
    return list(map(complex, parts[0::2], parts[1::2]))


def _complex32(data: bytes) -> list[Number]:
    return _complexes(struct.unpack(f"<{len(data) // 2}e", data))


def _complex64(data: bytes) -> list[Number]:
    return _complexes(_array("f", data))


def _complex128(data: bytes) -> list[Number]:
    return _complexes(_array("d", data))


def _by_table(table: tuple[float, ...]) -> Callable[[bytes], list[Number]]:
    return lambda data: [table[byte] for byte in data]


def _float8(mantissa_bits: int, bias: int, special: Callable[[int], float | None]) -> tuple[float, ...]:
    """All 256 values of an 8-bit float of that layout; `special` gives the codes that are no plain numbers."""

    def value(code: int) -> float:
        if (other := special(code)) is not None:
            return other
        exponent = (code & 0x7F) >> mantissa_bits
        fraction = (code & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
        size = math.ldexp(1 + fraction, exponent - bias) if exponent else math.ldexp(fraction, 1 - bias)
        return -size if code & 0x80 else size

    return tuple(map(value, range(256)))


def _e5m2_special(code: int) -> float | None:
    """As in IEEE 754: the largest exponent is for infinities and NaN."""
    if code & 0x7C != 0x7C:
        return None
    return math.nan if code & 0x03 else -math.inf if code & 0x80 else math.inf


def _fn_special(code: int) -> float | None:
    """Finite, with one NaN a sign: all ones."""
    return math.nan if code & 0x7F == 0x7F else None


def _fnuz_special(code: int) -> float | None:
    """Finite, with one zero; what would be minus zero is the NaN."""
    return math.nan if code == 0x80 else None


_POWERS = (*(math.ldexp(1.0, code - 127) for code in range(255)), math.nan)  # e8m0: an exponent and nothing else

_DECODERS: dict[str, Callable[[bytes], list[Number]]] = {
    "bool": _bools,
    "float16": _halves,
    "bfloat16": _bfloats,
    "complex32": _complex32,
    "complex64": _complex64,
    "complex128": _complex128,
    "float8_e4m3fn": _by_table(_float8(3, 7, _fn_special)),
    "float8_e4m3fnuz": _by_table(_float8(3, 8, _fnuz_special)),
    "float8_e5m2": _by_table(_float8(2, 15, _e5m2_special)),
    "float8_e5m2fnuz": _by_table(_float8(2, 16, _fnuz_special)),
    "float8_e8m0fnu": _by_table(_POWERS),
}
