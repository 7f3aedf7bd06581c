"""Takes what reading found; gives it as JSON text, in the stable form that docs/json.md describes.

Must not know of terminals; it leaves out nothing and adds nothing but the envelope.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from stillframe.reading.tree import Call, Op, Stop, Way

FORM = 1
_STEPS: dict[type, str] = {Call: "call", Op: "op", Stop: "breakpoint"}


def as_json(what: str, answer: Mapping[str, Any], file: Path) -> str:
    """One JSON object: `form`, `what` was asked, the recording's `file`, and the answer's own keys."""
    return json.dumps({"form": FORM, "what": what, "file": str(file), **_spelled(answer)}, ensure_ascii=False)


def steps_of(way: Way) -> dict[str, Any]:
    """The way with each step's kind said: call, op or breakpoint."""
    steps = [{"step": _STEPS[type(step)], **_spelled(step)} for step in way.steps]
    return {"steps": steps, "left_out": way.left_out, "unnamed": way.unnamed}


def json_lines(records: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Each record as one line: `record` says which, the rest are its fields."""
    for name, record in records:
        if name == "manifest":
            yield json.dumps({"record": name, "facts": _spelled(record)}, ensure_ascii=False)
        else:
            yield json.dumps({"record": name, **_spelled(record)}, ensure_ascii=False)


def _spelled(value: Any) -> Any:
    """Plain JSON: NaN and infinities as "nan", "inf", "-inf"; complex numbers as pairs; bytes in base64."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return [_spelled(value.real), _spelled(value.imag)]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _spelled(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _spelled(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spelled(one) for one in value]
    return value
