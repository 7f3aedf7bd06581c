"""Takes live values; gives frozen ones: a number for each state of each object, with bounded descriptions.

Knows no site, no frame and no file, and works without torch. It holds no tensor and no object: it knows them again by weak
references. It calls no method of a value that the program under study defined.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import itertools
import types
import weakref
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stillframe.capture.policy import ValuePolicy
from stillframe.records import Content

if TYPE_CHECKING:
    from stillframe.capture.tensors import TensorShelf

MAX_ITEMS = 64
MAX_DEPTH = 4
MAX_TEXT = 200
MAX_FIELDS = 24

# weak reference, version, address, value id, object number, state (of a tensor)
Known = tuple[Callable[[], Any], int, int, int, int, Any]


class ValueKeeper:
    """Numbers values. `known` maps the id of a live object to what was last seen of it; `immediates` hold plain constants."""

    def __init__(self, policy: ValuePolicy) -> None:
        self.number = itertools.count(1).__next__
        self.known: dict[int, Known] = {}
        self.immediates: dict[type, dict[Any, int]] = {int: {}, bool: {}, type(None): {}, str: {}}
        self.tensors: TensorShelf | None = None
        self._interned: dict[Any, int] = {}
        self._signatures: dict[int, tuple[Any, ...]] = {}
        self._rows: list[tuple[int, ...]] = []
        self._descriptions: list[tuple[int, Mapping[str, Any]]] = []
        self._contents: list[Content] = []
        self._tensor_type: type = _NoTensor
        self._module_type: type = _NoTensor
        self._plain_tensors: tuple[type, ...] = ()
        self.on_module: Callable[[Any, int], None] = lambda module, number: None
        self._policy = policy

    def use_torch(self) -> None:
        """Begin to know tensors; called once torch is there. Until then nothing can be one."""
        import torch

        from stillframe.capture.tensors import TensorShelf

        if self.tensors is not None:
            return
        self.tensors = TensorShelf(self._policy, self.number, self._describe, self._contents.append, self.of)
        self._tensor_type, self._module_type = torch.Tensor, torch.nn.Module
        self._plain_tensors = (torch.Tensor, torch.nn.Parameter)
        self.immediates |= {torch.Size: {}, torch.dtype: {}, torch.device: {}}

    # ---- numbering

    def of(self, value: Any, depth: int = 0) -> int:
        """The id of a value: the one it has already if it is known and unchanged, else a new one."""
        kind = type(value)
        plain = self.immediates.get(kind)
        if plain is not None:
            try:
                number = plain.get(value)
            except TypeError:  # a symbolic size within a torch.Size
                return self._row({"kind": "tuple", "type": kind.__name__, "text": [str(one) for one in value]})
            return number if number is not None else self.constant(value, plain)
        if issubclass(kind, self._tensor_type):
            return self.tensor(value)
        if kind is float:
            return self._constant_row((float, repr(value)), {"kind": "float", "value": value})
        return self._other(value, kind, depth)

    def constant(self, value: Any, plain: dict[Any, int]) -> int:
        """Number a constant met for the first time. `plain` is the table of its type."""
        if isinstance(value, tuple):  # torch.Size
            about = {"kind": "tuple", "type": "torch.Size", "length": len(value), "items": self._all(value, 0)}
        else:
            about = _constant_about(value)
        number = self._row(about)
        if len(plain) < 20_000 and not (type(value) is str and len(value) > MAX_TEXT):
            plain[value] = number
        return number

    def tensor(self, value: Any, check: bool = False) -> int:
        """Number the present state of a tensor. `check`: look at its bytes even if its version count stands still."""
        assert self.tensors is not None
        key = id(value)
        before = self.known.get(key)
        same = before is not None and before[0]() is value
        seen = self.tensors.seen(value, check)
        if before is not None and same and before[5] == seen:
            return before[3]
        number_of_object = before[4] if before is not None and same else self.number()
        reference = before[0] if before is not None and same else weakref.ref(value)
        base = 0
        if type(value) in self._plain_tensors and value._is_view():
            base = self._object_number(value._base)
        number = self.number()
        self._rows.append((number, seen.description, number_of_object, seen.storage, seen.content, seen.version, base))
        address = 0
        if type(value) in self._plain_tensors and seen.storage:
            address = value.data_ptr()
        self.known[key] = (reference, seen.version, address, number, number_of_object, seen)
        return number

    def _object_number(self, thing: Any) -> int:
        """The identity of a weakly referable object, known or not."""
        before = self.known.get(id(thing))
        if before is not None and before[0]() is thing:
            return before[4]
        number = self.number()
        self.known[id(thing)] = (weakref.ref(thing), -2, -2, 0, number, None)  # a version no tensor has: its state is not known
        return number

    def _row(self, about: Mapping[str, Any], object_number: int = 0) -> int:
        number = self.number()
        self._rows.append((number, self._describe(about), object_number, 0, 0, 0, 0))
        return number

    def _describe(self, about: Mapping[str, Any]) -> int:
        number = self.number()
        self._descriptions.append((number, about))
        return number

    def _constant_row(self, key: Any, about: Mapping[str, Any]) -> int:
        number = self._interned.get(key)
        if number is None:
            number = self._row(about)
            if len(self._interned) < 50_000:
                self._interned[key] = number
        return number

    # ---- everything that is no tensor and no constant

    def _other(self, value: Any, kind: type, depth: int) -> int:
        if issubclass(kind, tuple | list | set | frozenset | dict | collections.deque):
            return self._container(value, kind, depth)
        if kind is slice:
            return self._row({"kind": "slice", "items": [self.of(part) for part in (value.start, value.stop, value.step)]})
        before = self.known.get(id(value))
        if before is not None and before[0]() is value:
            if kind in _UNCHANGING or issubclass(kind, self._module_type) or not self._has_changed(value):
                return before[3]
        return self._object(value, kind, depth, before)

    def _has_changed(self, value: Any) -> bool:
        fields = _fields_of(value)
        if len(fields) > MAX_FIELDS:
            return False
        signature = tuple(map(id, fields.values())) + tuple(
            len(one) for one in fields.values() if type(one) in (list, dict, set)
        )
        return self._signatures.get(id(value)) != signature

    def _object(self, value: Any, kind: type, depth: int, before: Known | None) -> int:
        same = before is not None and before[0]() is value
        about, described = _about_object(value, kind, self._module_type)
        if described:
            if same and before is not None:
                return before[3]
        elif depth < MAX_DEPTH:
            fields = _fields_of(value)
            if len(fields) <= MAX_FIELDS:
                self._signatures[id(value)] = tuple(map(id, fields.values())) + tuple(
                    len(one) for one in fields.values() if type(one) in (list, dict, set)
                )
            about["fields"] = {
                str(name)[:MAX_TEXT]: self.of(one, depth + 1) for name, one in list(fields.items())[:MAX_FIELDS]
            }
        try:
            reference = before[0] if same and before is not None else weakref.ref(value)
        except TypeError:
            return self._row(about) if about.get("fields") else self._constant_row((kind, str(about)), about)
        object_number = before[4] if same and before is not None else self.number()
        number = self._row(about, object_number)
        self.known[id(value)] = (reference, 0, 0, number, object_number, None)
        if issubclass(kind, self._module_type):
            self.on_module(value, object_number)
        return number

    def _container(self, value: Any, kind: type, depth: int) -> int:
        if kind is tuple and all(type(one) is int for one in value):
            return self._constant_row((tuple, value), {"kind": "tuple", "length": len(value), "items": self._all(value, depth)})
        about: dict[str, Any] = {"length": _length(value, kind)}
        if issubclass(kind, dict):
            about["kind"] = "dict"
            pairs = list(itertools.islice(dict.items(value), MAX_ITEMS)) if depth < MAX_DEPTH else []
            about["keys"] = [_key_text(key) for key, _ in pairs]
            about["items"] = [self.of(one, depth + 1) for _, one in pairs]
        else:
            about["kind"] = next(name for base, name in _SEQUENCES.items() if issubclass(kind, base))
            about["items"] = self._all(_elements(value, kind), depth) if depth < MAX_DEPTH else []
            names = getattr(kind, "_fields", None)
            if issubclass(kind, tuple) and isinstance(names, tuple):
                about["keys"] = [str(name) for name in names[:MAX_ITEMS]]
        if kind.__module__ != "builtins":
            about["type"] = _type_name(kind)
        return self._row(about)

    def _all(self, values: Iterable[Any], depth: int) -> list[int]:
        return [self.of(one, depth + 1) for one in itertools.islice(values, MAX_ITEMS)]

    # ---- handing over

    def take(self) -> tuple[array[int], tuple[tuple[int, Mapping[str, Any]], ...], tuple[Content, ...]]:
        """Hand over what has come since the last time: value columns, descriptions, contents."""
        rows = _taken(self._rows)
        descriptions, contents = _taken(self._descriptions), _taken(self._contents)
        if self.tensors is not None:
            self.tensors.release_dead()
        return array("q", itertools.chain.from_iterable(rows)), tuple(descriptions), tuple(contents)

    def close(self) -> None:
        """Let go of everything that was known."""
        self.known.clear()
        self._signatures.clear()
        if self.tensors is not None:
            self.tensors.close()


class _NoTensor:
    """Stands for torch's classes while torch is not there: nothing is an instance of it."""


_SEQUENCES: dict[type, str] = {
    tuple: "tuple",
    list: "list",
    set: "set",
    frozenset: "frozenset",
    collections.deque: "deque",
}
_FUNCTION_KINDS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType)
_UNCHANGING = frozenset({types.FunctionType, types.ModuleType, type})


def _taken(rows: list[Any]) -> list[Any]:
    """The rows so far, taken out of the list; others may be appended meanwhile."""
    count = len(rows)
    taken = rows[:count]
    del rows[:count]
    return taken


def _constant_about(value: Any) -> dict[str, Any]:
    kind = type(value)
    if value is None:
        return {"kind": "none"}
    if kind is int:
        return {"kind": "int", "value": value} if value.bit_length() <= 256 else {"kind": "int", "bits": value.bit_length()}
    if kind is bool:
        return {"kind": "bool", "value": value}
    if kind is str:
        about: dict[str, Any] = {"kind": "str", "value": value[:MAX_TEXT].encode("utf-8", "replace").decode()}
        return about | {"length": len(value)} if len(value) > MAX_TEXT else about
    return {"kind": kind.__name__, "value": str(value)}


def _about_object(value: Any, kind: type, module_type: type) -> tuple[dict[str, Any], bool]:
    """What to say of an object, and whether that is all (its fields are not looked at)."""
    if issubclass(kind, module_type):
        return {"kind": "module", "type": _type_name(kind)}, True
    if issubclass(kind, type):
        return {"kind": "class", "name": _type_name(value)}, True
    if issubclass(kind, _FUNCTION_KINDS):
        about = {"kind": "function", "name": f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"[:MAX_TEXT]}
        code = getattr(value, "__code__", None)
        return (about | {"line": code.co_firstlineno, "file": code.co_filename} if code else about), True
    if kind is types.ModuleType:
        return {"kind": "package", "name": value.__name__}, True
    if issubclass(kind, enum.Enum):
        return {"kind": "enum", "type": _type_name(kind), "name": str(value.__dict__.get("_name_", ""))[:MAX_TEXT]}, True
    if issubclass(kind, BaseException):
        plain = [one for one in BaseException.args.__get__(value) if type(one) in (str, int, float)]
        return {"kind": "exception", "type": _type_name(kind), "message": " ".join(str(one) for one in plain)[:MAX_TEXT]}, True
    if kind is complex:
        return {"kind": "complex", "value": [value.real, value.imag]}, True
    if kind in (bytes, bytearray):
        return {"kind": kind.__name__, "length": len(value), "value": bytes(value[:32]).hex()}, True
    if kind is range:
        return {"kind": "range", "value": [value.start, value.stop, value.step]}, True
    if kind.__module__ == "numpy":
        return {"kind": "array", "type": _type_name(kind), "dtype": str(value.dtype), "shape": [int(n) for n in value.shape]}, True
    return {"kind": "object", "type": _type_name(kind)}, False


def _fields_of(value: Any) -> Mapping[str, Any]:
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


def _elements(value: Any, kind: type) -> Iterable[Any]:
    base = next(base for base in _SEQUENCES if issubclass(kind, base))
    return iter(base.__iter__(value))  # type: ignore[attr-defined, no-any-return]


def _length(value: Any, kind: type) -> int:
    base = next(base for base in (*_SEQUENCES, dict) if issubclass(kind, base))
    return int(base.__len__(value))


def _key_text(key: Any) -> str:
    if type(key) is str:
        return key[:MAX_TEXT]
    return repr(key)[:MAX_TEXT] if type(key) in (int, bool, float, type(None)) else _type_name(type(key))


def _type_name(kind: type) -> str:
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
