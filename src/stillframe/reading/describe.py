"""Takes values of a recording; gives short texts for people, and the range of a tensor's numbers.

Must not know where a value was seen, nor how the text will be shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stillframe.reading.readable import Readable
from stillframe.records import Value

MAX_ITEMS = 4
MAX_TEXT = 60
MAX_DEPTH = 3
_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c", "qint": "qi", "quint": "qu"}


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and largest element (NaN left out; None: there is none, or they have no order), and what is not
    finite.
    """

    min: int | float | None
    max: int | float | None
    nan: int
    posinf: int
    neginf: int
    count: int

    @property
    def text(self) -> str:
        """As "[-2.1, 1.9]", with the counts of NaN and infinities if there are any; "" if there is nothing to say."""
        parts = []
        if self.min is not None and self.max is not None:
            one = self.count == 1
            parts.append(f"= {number_text(self.min)}" if one else f"[{number_text(self.min)}, {number_text(self.max)}]")
        counts = ((self.nan, "NaN"), (self.posinf, "Inf"), (self.neginf, "-Inf"))
        return " ".join([*parts, *(f"{count} {name}" for count, name in counts if count)])


@dataclass(frozen=True, slots=True)
class Described:
    """One value in short. `text` is "(2, 6, 7, 8) f32" for a tensor, else the value or what it is; `dtype` is without
    "torch.".

    `shape` is None if it is no tensor or its shape could not be had. `range` is None if no numbers were kept.
    """

    value: int
    kind: str
    text: str
    dtype: str = ""
    shape: tuple[int | str, ...] | None = None
    range: Range | None = None

    @property
    def whole(self) -> str:
        """The text with the range."""
        return f"{self.text} {self.range.text}".rstrip() if self.range else self.text


def describe(source: Readable, id: int, *, with_range: bool = True) -> Described:
    """The value with that id, in short. Raises RecordingError if there is none."""
    value = source.value(id)
    about = value.about
    kind = str(about.get("kind", "object"))
    if kind != "tensor":
        return Described(id, kind, text_of(source, value))
    shape = shape_of(about)
    numbers = range_of(source, value) if with_range else None
    return Described(id, kind, text_of(source, value), str(about.get("dtype", "")), shape, numbers)


def range_of(source: Readable, value: Value) -> Range | None:
    """The range of a value's numbers, None if they were not kept or cannot be told."""
    numbers = source.numbers(value)
    if numbers is None:
        return None
    found = numbers.statistics()
    low, high = found.min, found.max
    if value.about.get("dtype") == "bool":
        low, high = _truth(low), _truth(high)
    return Range(low, high, found.nan or 0, found.posinf or 0, found.neginf or 0, found.count)


def merged(ranges: Iterable[Range | None]) -> Range | None:
    """One range over several values; None if that of any is not known."""
    known = list(ranges)
    found = [one for one in known if one is not None]
    if not found or len(found) != len(known):
        return None
    lows, highs = [one.min for one in found], [one.max for one in found]
    return Range(
        None if None in lows else min(one for one in lows if one is not None),
        None if None in highs else max(one for one in highs if one is not None),
        sum(one.nan for one in found),
        sum(one.posinf for one in found),
        sum(one.neginf for one in found),
        sum(one.count for one in found),
    )


def text_of(source: Readable, value: Value, depth: int = 0) -> str:
    """A value in a few words. What is within a container is shown to a small depth."""
    about = value.about
    teller = _TELLERS.get(str(about.get("kind")))
    return teller(source, about, depth) if teller else _other(source, about, depth)


def shape_of(about: Mapping[str, Any]) -> tuple[int | str, ...] | None:
    shape = about.get("shape")
    return tuple(shape) if isinstance(shape, (list, tuple)) else None


def dtype_text(dtype: str) -> str:
    """ "f32" for "float32", "f8_e4m3fn" for "float8_e4m3fn", "bool" as it is."""
    letters = dtype.rstrip("0123456789")
    if letters != dtype and letters in _SHORT:
        return _SHORT[letters] + dtype[len(letters) :]
    return f"f{dtype[5:]}" if dtype.startswith("float8") else dtype


def number_text(number: object) -> str:
    """A number with three digits that count; whole numbers and truths whole."""
    if isinstance(number, float) and not isinstance(number, bool):
        if math.isfinite(number):
            return f"{number:.3g}"
        return "NaN" if math.isnan(number) else "Inf" if number > 0 else "-Inf"
    if isinstance(number, complex):
        return f"{number:.3g}"
    return str(number)


def cut(text: str, width: int = MAX_TEXT) -> str:
    """On one line, and not longer than `width`."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def last_name(dotted: object) -> str:
    """The class or function in a dotted name, without its modules and enclosing functions."""
    return str(dotted).rpartition("<locals>.")[2].rpartition(".")[2]


def _truth(number: int | float | None) -> int | float | None:
    return None if number is None else bool(number)


def _tensor(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    shape = shape_of(about)
    parts = ["tensor of unknown shape" if shape is None else _tuple_text([str(size) for size in shape])]
    if about.get("dtype"):
        parts.append(dtype_text(str(about["dtype"])))
    kind = str(about.get("type", "Tensor"))
    device = str(about.get("device", "cpu"))
    layout = about.get("layout", "strided")
    extra = [last_name(kind)] if kind not in ("Tensor", "Parameter") else []
    extra += [device] if device != "cpu" else []
    extra += [str(layout)] if layout != "strided" else []
    extra += ["in a transform"] if "transformed" in about else []
    return " ".join([*parts, *extra])


def _tuple_text(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _items(source: Readable, about: Mapping[str, Any], depth: int) -> list[str]:
    ids = about.get("items")
    known = ids if isinstance(ids, list) else []
    if depth >= MAX_DEPTH:
        return ["…"] if known else []
    texts = [text_of(source, source.value(id), depth + 1) for id in known[:MAX_ITEMS] if type(id) is int]
    length = about.get("length", len(known))
    missing = length - len(texts) if isinstance(length, int) else 0
    return [*texts, f"… {missing} more"] if missing > 0 else texts


def _tuple(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    name = last_name(about["type"]) if about.get("type") not in (None, "torch.Size") else ""
    if isinstance(about.get("text"), list):
        return _tuple_text([str(size) for size in about["text"]])
    items = _items(source, about, depth)
    return name + (_tuple_text(items) if items or not about.get("length") else "(…)")


def _list(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return f"[{', '.join(_items(source, about, depth))}]"


def _set(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    items = _items(source, about, depth)
    return f"{{{', '.join(items)}}}" if items else f"{about['kind']}()"


def _dict(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    name = last_name(about["type"]) if about.get("type") else ""
    keys = about.get("keys") if isinstance(about.get("keys"), list) else []
    items = _items(source, about, depth)
    if not keys:
        length = about.get("length", 0)
        return f"{name}{{}}" if not length else f"{name}{{… {length} more}}"
    texts = [f"{key}: {item}" for key, item in zip(keys or [], items, strict=False)]
    return f"{name}{{{', '.join([*texts, *items[len(keys or []) :]])}}}"


def _module(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return f"{last_name(about.get('type', 'Module'))} module"


def _named(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return last_name(about.get("name", about.get("kind")))


def _enum(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return f"{last_name(about.get('type', ''))}.{about.get('name', '')}"


def _text(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return cut(repr(about.get("value", "")))


def _float(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    value = about.get("value")
    return repr(float(f"{value:.6g}")) if isinstance(value, float) and math.isfinite(value) else number_text(value)


def _slice(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return f"slice({', '.join(_items(source, about, depth))})"


def _exception(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return cut(f"{last_name(about.get('type', ''))}({about.get('message', '')!r})")


def _none(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    return "None"


def _array(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    shape = shape_of(about) or ()
    return f"{_tuple_text([str(size) for size in shape])} {dtype_text(str(about.get('dtype', '')))} numpy"


def _range(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    value = about.get("value")
    return f"range({', '.join(map(str, value))})" if isinstance(value, list) else "range"


def _other(source: Readable, about: Mapping[str, Any], depth: int) -> str:
    if "value" in about:
        return cut(str(about["value"]))
    return last_name(about.get("type") or about.get("name") or about.get("kind") or "object")


_TELLERS: dict[str, Callable[[Readable, Mapping[str, Any], int], str]] = {
    "tensor": _tensor,
    "none": _none,
    "float": _float,
    "str": _text,
    "tuple": _tuple,
    "list": _list,
    "deque": _list,
    "set": _set,
    "frozenset": _set,
    "dict": _dict,
    "module": _module,
    "function": _named,
    "class": _named,
    "package": _named,
    "enum": _enum,
    "exception": _exception,
    "slice": _slice,
    "array": _array,
    "range": _range,
}
