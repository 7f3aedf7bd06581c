"""Gives the options of a recording: how much of each value is kept.

A leaf of capture: it knows no other module of the tool.
"""

from __future__ import annotations

from dataclasses import dataclass

VALUE_LIMIT = 256 * 1024
RECORDING_LIMIT = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ValuePolicy:
    """How much of values is kept: `keep_bytes` False keeps descriptions only; limits are in bytes.

    A value (or the storage it is a view of) larger than `value_limit` is summarised, and so is everything once
    `recording_limit` bytes have been kept.
    """

    keep_bytes: bool = True
    value_limit: int = VALUE_LIMIT
    recording_limit: int = RECORDING_LIMIT
