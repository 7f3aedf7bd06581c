"""Takes live values; gives frozen ones: a number for each state of each object, with bounded descriptions.

Knows no site, no frame and no file, and works without torch. It holds no tensor and no object: it knows them again by weak
references. It calls no method of a value that the program under study defined.
"""

from __future__ import annotations

import itertools
import json
import weakref
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stillframe.capture.objects import (
    MAX_FIELDS,
    MAX_ITEMS,
    MAX_TEXT,
    SEQUENCES,
    about_constant,
    about_fixed,
    elements_of,
    fields_of,
    is_fixed,
    key_text,
    length_of,
    signature_of,
    type_name,
)
from stillframe.capture.policy import ValuePolicy
from stillframe.records import CONTENT_FORMS

if TYPE_CHECKING:
    from stillframe.capture.tensors import TensorShelf

MAX_DEPTH = 4


class Known(weakref.ref[Any]):
    """A weak reference to an object, with what was last seen of it.

    `key` is its id, `version` and `address` torch's count of writes and data pointer (negative: no state is known), `value` the
    value id, `number` the object's, `state` a tensor's whole state, or what tells
    that another object's attributes were set anew.
    """

    __slots__ = ("address", "key", "number", "state", "value", "version")
    address: int
    key: int
    number: int
    state: tuple[int, ...] | None
    value: int
    version: int
    if TYPE_CHECKING:

        def __call__(self) -> Any: ...


class ValueKeeper:
    """Numbers values. `known` maps the id of a live object to what was last seen of it; `immediates` hold plain constants."""

    def __init__(self, policy: ValuePolicy) -> None:
        self.number = itertools.count(1).__next__
        self.known: dict[int, Known] = {}
        self._gone: list[weakref.ref[Any]] = []  # references whose object is no more, to be dropped soon
        self._on_gone = self._gone.append
        self._beginnings: dict[tuple[type, tuple[str, ...]], str] = {}
        self._handlers: dict[type, Callable[[Any, int], int]] = {}
        self.immediates: dict[type, dict[Any, int]] = {int: {}, bool: {}, type(None): {}, str: {}, float: {}}
        self.tensors: TensorShelf | None = None
        self._interned: dict[Any, int] = {}
        self._tuples: dict[tuple[int, ...], int] = {}
        self._rows: list[int] = []  # seven numbers a value
        self._descriptions: list[tuple[int, Mapping[str, Any] | str]] = []
        self._content_rows: list[int] = []  # id, storage, form
        self._content_data: list[bytes] = []
        self._tensor_type: type = _NoTensor
        self._module_type: type = _NoTensor
        self._size_type: type = _NoTensor
        self._plain_tensors: tuple[type, ...] = ()
        self._policy = policy

    def use_torch(self) -> None:
        """Begin to know tensors; called once torch is there. Until then nothing can be one."""
        import torch

        from stillframe.capture.tensors import TensorShelf

        if self.tensors is not None:
            return
        self.tensors = TensorShelf(self._policy, self.number, self._describe, self._keep, self.of)
        self._handlers.clear()
        self._tensor_type, self._module_type = torch.Tensor, torch.nn.Module
        self._plain_tensors = (torch.Tensor, torch.nn.Parameter)
        self.immediates |= {torch.dtype: {}, torch.device: {}}
        self._size_type = torch.Size

    # ---- numbering

    def of(self, value: Any, depth: int = 0) -> int:
        """The id of a value: the one it has already if it is known and unchanged, else a new one."""
        kind = type(value)
        return (self._handlers.get(kind) or self._handler_for(kind))(value, depth)

    def name_of(self, value: Any) -> int:
        """The id of a value of which it is enough to know which object it is."""
        return self.of(value, MAX_DEPTH)

    def _handler_for(self, kind: type) -> Callable[[Any, int], int]:
        """How values of a type are numbered; decided once a type."""
        exact = {tuple: self._of_tuple, list: self._of_list, dict: self._of_dict, slice: self._of_slice}
        if kind in self.immediates:
            handler = self._of_constant
        elif issubclass(kind, self._tensor_type):
            handler = self._of_tensor
        elif kind is self._size_type:
            handler = self._of_size
        elif kind in exact:
            handler = exact[kind]
        elif issubclass(kind, (dict, *SEQUENCES)):
            handler = self._of_container
        else:
            handler = self._of_fixed if is_fixed(kind, self._module_type) else self._of_stateful
        self._handlers[kind] = handler
        return handler

    def _of_constant(self, value: Any, depth: int) -> int:
        plain = self.immediates[type(value)]
        number = plain.get(value)
        return number if number is not None else self.constant(value, plain)

    def constant(self, value: Any, plain: dict[Any, int]) -> int:
        """Number a constant met for the first time. `plain` is the table of its type."""
        about = about_constant(value)
        if type(value) is float and (value == 0.0 or value != value):
            return self._interned_row((float, repr(value)), about)  # 0.0 and -0.0 are equal, and no NaN is equal to itself
        number = self._row(about)
        if len(plain) < 20_000 and not (type(value) is str and len(value) > MAX_TEXT):
            plain[value] = number
        return number

    def _of_size(self, value: Any, depth: int) -> int:
        key: tuple[Any, ...] = (self._size_type, *value)
        try:
            number = self._interned.get(key)
        except TypeError:  # a symbolic size has no hash
            return self._row({"kind": "tuple", "type": "torch.Size", "text": [str(one) for one in value]})
        if number is None:
            about = {"kind": "tuple", "type": "torch.Size", "length": len(value), "items": self._all(value, 0)}
            number = self._interned_row(key, about)
        return number

    def _of_tensor(self, value: Any, depth: int) -> int:
        return self.tensor(value)

    def tensor(self, value: Any, site: int = 0, check: bool = False) -> int:
        """Number the present state of a tensor. `check`: look at its bytes even if its version count stands still."""
        shelf = self.tensors
        assert shelf is not None
        if shelf.modes():  # somebody's function mode is active: it must not see what we ask
            with shelf.out_of_sight():
                return self._tensor(value, shelf, site, check)
        return self._tensor(value, shelf, site, check)

    def _tensor(self, value: Any, shelf: TensorShelf, site: int, check: bool) -> int:
        met = self.known.get(id(value))
        if met is not None and met() is value:
            if not check and met.address > 0 and met.version == value._version and met.address == value.data_ptr():
                return met.value
            seen = shelf.seen(value, site, check)
            if met.state == seen:
                return met.value
        else:
            seen = shelf.seen(value, site, check)
            met = self._meet(value)
        base = 0
        if seen[3] >= 0 and type(value) in self._plain_tensors:
            met.address = value.data_ptr()
            whole = value._base
            if whole is not None:
                base = self.object_number(whole)
        number = self.number()
        self._rows.extend((number, seen[0], met.number, seen[1], seen[2], seen[3], base))
        met.version, met.value, met.state = seen[3], number, seen
        return number

    def _meet(self, thing: Any) -> Known:
        """Begin to know an object. Raises TypeError if it cannot be referred to weakly."""
        if len(self._gone) > 64:
            self._forget_gone()
        met = Known(thing, self._on_gone)
        met.key = key = id(thing)
        met.version = met.address = -1
        met.value, met.number, met.state = 0, self.number(), None
        self.known[key] = met
        return met

    def _forget_gone(self) -> None:
        gone, known = self._gone, self.known
        for reference in gone[:64]:
            key = reference.key  # type: ignore[attr-defined]
            if known.get(key) is reference:
                del known[key]
        del gone[:64]

    def object_number(self, thing: Any) -> int:
        """The identity of a weakly referable object, known or not."""
        met = self.known.get(id(thing))
        return met.number if met is not None and met() is thing else self._meet(thing).number

    def _keep(self, number: int, storage: int, form: str, data: bytes) -> None:
        self._content_rows.extend((number, storage, CONTENT_FORMS.index(form)))
        self._content_data.append(data)

    def _row(self, about: Mapping[str, Any] | str, object_number: int = 0) -> int:
        number = self.number()
        self._rows.extend((number, self._describe(about), object_number, 0, 0, 0, 0))
        return number

    def _describe(self, about: Mapping[str, Any] | str) -> int:
        number = self.number()
        self._descriptions.append((number, about))
        return number

    def _interned_row(self, key: Any, about: Mapping[str, Any] | str) -> int:
        """The value of a description that others may share: one of no object."""
        number = self._interned.get(key)
        if number is None:
            number = self._row(about)
            if len(self._interned) > 50_000:
                self._interned.clear()
            self._interned[key] = number
        return number

    # ---- everything that is no tensor and no constant

    def _of_fixed(self, value: Any, depth: int) -> int:
        """An object that is described once: a module, a function, a class, an enum member …"""
        met = self.known.get(id(value))
        if met is not None and met() is value and met.value:
            return met.value
        kind = type(value)
        about = about_fixed(value, kind, self._module_type)
        key = (kind, str(about))
        try:
            if met is None or met() is not value:
                met = self._meet(value)
        except TypeError:  # no weak reference can be had: known by its description alone
            return self._interned_row(key, about)
        description = self._interned.get(key)
        if description is None:
            description = self._interned[key] = self._describe(about)
        met.value = self.number()
        self._rows.extend((met.value, description, met.number, 0, 0, 0, 0))
        return met.value

    def _of_stateful(self, value: Any, depth: int) -> int:
        """An object whose attributes are part of the story: a cache, an output … Within another value it is only named."""
        met = self.known.get(id(value))
        if met is not None and met() is value:
            if met.value and (depth or met.state is None or met.state == signature_of(fields_of(value))):
                return met.value
        else:
            met = None
        about: dict[str, Any] = {"kind": "object", "type": type_name(type(value))}
        fields = fields_of(value)
        try:
            met = met or self._meet(value)
        except TypeError:
            if not fields:
                return self._interned_row((type(value), "object"), about)
        if len(fields) <= MAX_FIELDS and depth < MAX_DEPTH:
            if met is not None:
                met.state = signature_of(fields)
            about["fields"] = {str(name)[:MAX_TEXT]: self.of(one, depth + 1) for name, one in fields.items()}
        number = self._row(about, met.number if met is not None else 0)
        if met is not None:
            met.value = number
        return number

    def _of_slice(self, value: Any, depth: int) -> int:
        items = [self.of(part, depth + 1) for part in (value.start, value.stop, value.step)]
        return self._interned_row(text := f'{{"kind":"slice","items":{items}}}', text)

    def _of_tuple(self, value: Any, depth: int) -> int:
        if depth >= MAX_DEPTH or len(value) > MAX_ITEMS:
            items = self._all(value, depth) if depth < MAX_DEPTH else []
        else:
            items = self._numbers_of(value, depth + 1)
        key = (len(value), *items)
        number = self._tuples.get(key)
        if number is None:
            # text is cheaper to keep than a dict
            number = self._row(f'{{"kind":"tuple","length":{len(value)},"items":{items}}}')
            if len(self._tuples) > 50_000:
                self._tuples.clear()
            self._tuples[key] = number
        return number

    def _of_list(self, value: Any, depth: int) -> int:
        if depth >= MAX_DEPTH or len(value) > MAX_ITEMS:
            return self._of_container(value, depth)
        items = self._numbers_of(value[:], depth + 1)
        return self._container(list, len(items), (), items)

    def _of_dict(self, value: Any, depth: int) -> int:
        if depth >= MAX_DEPTH or len(value) > MAX_ITEMS:
            return self._of_container(value, depth)
        now = value.copy()  # as it is at one moment, whatever other threads do
        keys = tuple([key if type(key) is str else key_text(key) for key in now])
        return self._container(dict, len(now), keys, self._numbers_of(now.values(), depth + 1))

    def _numbers_of(self, values: Iterable[Any], depth: int) -> list[int]:
        """The ids of values, constants looked up where they are: most are."""
        immediates, handlers, of = self.immediates.get, self._handlers.get, self.of
        numbers = []
        for one in values:
            kind = type(one)
            plain = immediates(kind)
            number = plain.get(one) if plain is not None else None
            numbers.append((handlers(kind) or of)(one, depth) if number is None else number)
        return numbers

    def _container(self, kind: type, length: int, keys: tuple[str, ...], items: list[int]) -> int:
        """The id of a container with these items, the same for all that are equal in them."""
        whole = (kind, length, keys, *items)
        number = self._interned.get(whole)
        if number is None:
            number = self._interned_row(whole, f'{self._container_text(kind, keys)},"length":{length},"items":{items}}}')
        return number

    def _of_container(self, value: Any, depth: int) -> int:
        kind = type(value)
        length = length_of(value, kind)
        if depth >= MAX_DEPTH:
            key = (kind, length)
            number = self._interned.get(key)
            return (
                number
                if number is not None
                else self._interned_row(key, f'{self._container_text(kind, ())},"length":{length},"items":[]}}')
            )
        if issubclass(kind, dict):
            pairs = list(dict.items(value) if length <= MAX_ITEMS else itertools.islice(dict.items(value), MAX_ITEMS))
            keys = tuple([key if type(key) is str else key_text(key) for key, _ in pairs])
            items = [self.of(one, depth + 1) for _, one in pairs]
        else:
            items = self._all(elements_of(value, kind), depth)
            names = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
            keys = tuple([str(one) for one in names[:MAX_ITEMS]]) if isinstance(names, tuple) else ()
        return self._container(kind, length, keys, items)

    def _container_text(self, kind: type, keys: tuple[str, ...]) -> str:
        """The beginning of a container's description as JSON text, the same for all of a type with these keys."""
        text = self._beginnings.get((kind, keys))
        if text is None:
            name = "dict" if issubclass(kind, dict) else next(n for base, n in SEQUENCES.items() if issubclass(kind, base))
            about: dict[str, Any] = {"kind": name}
            if keys:
                about["keys"] = [key[:MAX_TEXT] for key in keys]
            if kind.__module__ != "builtins":
                about["type"] = type_name(kind)
            text = json.dumps(about)[:-1]
            if len(self._beginnings) < 5_000:
                self._beginnings[kind, keys] = text
        return text

    def _all(self, values: Iterable[Any], depth: int) -> list[int]:
        return [self.of(one, depth + 1) for one in itertools.islice(values, MAX_ITEMS)]

    # ---- handing over

    def take(self) -> tuple[array[int], tuple[tuple[int, Mapping[str, Any] | str], ...], array[int], tuple[bytes, ...]]:
        """Hand over what has come since the last time: value rows, descriptions, content rows and their bytes."""
        rows, descriptions = _taken(self._rows), _taken(self._descriptions)
        content_data = _taken(self._content_data)
        content_rows = self._content_rows[: 3 * len(content_data)]
        del self._content_rows[: 3 * len(content_data)]
        if self.tensors is not None:
            self.tensors.release_dead()
        return array("q", rows), tuple(descriptions), array("q", content_rows), tuple(content_data)

    def close(self) -> None:
        """Let go of everything that was known."""
        self.known.clear()
        if self.tensors is not None:
            self.tensors.close()


class _NoTensor:
    """Stands for torch's classes while torch is not there: nothing is an instance of it."""


def _taken(rows: list[Any]) -> list[Any]:
    """The rows so far, taken out of the list; others may be appended meanwhile."""
    count = len(rows)
    taken = rows[:count]
    del rows[:count]
    return taken
