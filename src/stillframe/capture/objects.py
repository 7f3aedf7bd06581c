"""Takes a live object that is no tensor; gives a bounded description, without calling anything that its class defines.

Knows no identity and no numbering: a value within is left to the caller.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import types
from collections.abc import Iterable, Mapping
from typing import Any

MAX_ITEMS = 64
MAX_TEXT = 200
MAX_FIELDS = 24

SEQUENCES: dict[type, str] = {
    tuple: "tuple",
    list: "list",
    set: "set",
    frozenset: "frozenset",
    collections.deque: "deque",
}
_PLAIN = frozenset({types.ModuleType, complex, bytes, bytearray, range})
_FUNCTION_KINDS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType)


def about_constant(value: Any) -> dict[str, Any]:
    kind = type(value)
    if value is None:
        return {"kind": "none"}
    if kind is int:
        return {"kind": "int", "value": value} if value.bit_length() <= 256 else {"kind": "int", "bits": value.bit_length()}
    if kind in (bool, float):
        return {"kind": kind.__name__, "value": value}
    if kind is str:
        about: dict[str, Any] = {"kind": "str", "value": value[:MAX_TEXT].encode("utf-8", "replace").decode()}
        return about | {"length": len(value)} if len(value) > MAX_TEXT else about
    return {"kind": kind.__name__, "value": str(value)}


def plain_args(error: BaseException) -> tuple[object, ...]:
    """What an exception was made with, whatever its class makes of the name `args`."""
    found: tuple[object, ...] = BaseException.__dict__["args"].__get__(error)
    return found


def is_fixed(kind: type, module_type: type) -> bool:
    """Whether objects of a type are described once for all: what they are does not change, or is told elsewhere."""
    if issubclass(kind, (module_type, type, enum.Enum, BaseException, *_FUNCTION_KINDS)):
        return True
    return kind in _PLAIN or kind.__module__ in ("numpy", "builtins")


def about_fixed(value: Any, kind: type, module_type: type) -> dict[str, Any]:
    """The description of an object that is described once."""
    if issubclass(kind, module_type):
        return {"kind": "module", "type": type_name(kind)}
    if issubclass(kind, type):
        return {"kind": "class", "name": type_name(value)}
    if issubclass(kind, _FUNCTION_KINDS):
        name = f"{getattr(value, '__module__', None) or ''}.{getattr(value, '__qualname__', '')}".lstrip(".")
        about: dict[str, Any] = {"kind": "function", "name": name[:MAX_TEXT]}
        code = getattr(value, "__code__", None)
        return about | {"line": code.co_firstlineno, "file": code.co_filename} if code else about
    if kind is types.ModuleType:
        return {"kind": "package", "name": value.__name__}
    if issubclass(kind, enum.Enum):
        return {"kind": "enum", "type": type_name(kind), "name": str(value.__dict__.get("_name_", ""))[:MAX_TEXT]}
    if issubclass(kind, BaseException):
        plain = [one for one in plain_args(value) if type(one) in (str, int, float)]
        return {"kind": "exception", "type": type_name(kind), "message": " ".join(str(one) for one in plain)[:MAX_TEXT]}
    if kind is complex:
        return {"kind": "complex", "value": [value.real, value.imag]}
    if kind in (bytes, bytearray):
        return {"kind": kind.__name__, "length": len(value), "value": bytes(value[:32]).hex()}
    if kind is range:
        return {"kind": "range", "value": [value.start, value.stop, value.step]}
    if kind.__module__ == "numpy" and hasattr(kind, "dtype"):
        return {
            "kind": "array",
            "type": type_name(kind),
            "dtype": str(value.dtype),
            "shape": [int(n) for n in value.shape],
        }
    return {"kind": "object", "type": type_name(kind)}


def fields_of(value: Any) -> Mapping[str, Any]:
    """The attributes an object stores, without calling anything it defines."""
    try:
        fields = object.__getattribute__(value, "__dict__")
    except AttributeError:
        fields = {}
    if type(fields) is not dict:
        return {}
    if not fields and dataclasses.is_dataclass(value):
        return {one.name: object.__getattribute__(value, one.name) for one in dataclasses.fields(value)}
    return fields


def signature_of(fields: Mapping[str, Any]) -> tuple[int, ...]:
    """What changes when an object's attributes are set anew, or a list or dict among them grows."""
    return (*map(id, fields.values()), *(len(one) for one in fields.values() if type(one) in (list, dict, set)))


def elements_of(value: Any, kind: type) -> Iterable[Any]:
    base = next(base for base in SEQUENCES if issubclass(kind, base))
    return iter(base.__iter__(value))  # type: ignore[attr-defined, no-any-return]


def length_of(value: Any, kind: type) -> int:
    base = next(base for base in (*SEQUENCES, dict) if issubclass(kind, base))
    return int(base.__len__(value))  # type: ignore[attr-defined]


def key_text(key: Any) -> str:
    if type(key) is str:
        return key[:MAX_TEXT]
    return repr(key)[:MAX_TEXT] if type(key) in (int, bool, float, type(None)) else type_name(type(key))


def type_name(kind: type) -> str:
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
