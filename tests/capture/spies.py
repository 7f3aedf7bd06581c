"""Operands that tell of everything done to them, and that fail on demand: two runs with one story did the same things.

A story is a list of lines: each operation in order, each truth asked for, each iteration, each death of an operand.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable
from typing import Any

BINARY = ["add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"]
UNARY = ["neg", "pos", "invert", "abs"]
COMPARED = ["lt", "le", "eq", "ne", "gt", "ge"]


class Boom(Exception):
    """What an operation raises when the fuse is at its number."""


class Kit:
    """Makes the operands of one run. Operation number `fuse` raises; `seed` decides every truth that is asked for."""

    def __init__(self, seed: int, fuse: int | None = None, length: int = 2) -> None:
        self.story: list[str] = []
        self.count = 0
        self.fuse = fuse
        self.length = length
        self.seed = seed
        self._bits = random.Random(seed)

    def __call__(self, name: str) -> Spy:
        return Spy(self, name)

    def tick(self, what: str) -> None:
        """An operation begins."""
        self.story.append(what)
        self.count += 1
        if self.count - 1 == self.fuse:
            raise Boom(what)
        if self.count > 3000:
            raise RuntimeError("the case does not end")

    def say(self, *things: Any) -> None:
        """A line of the story that is no operation."""
        self.story.append(" ".join(map(str, things)))

    def truth(self) -> bool:
        return self._bits.random() < 0.5

    def fail(self, what: str = "fail") -> Any:
        """Raise, always."""
        self.story.append(what)
        raise Boom(what)

    def maybe(self, what: str) -> str:
        """Raise, or not, as the seed has it."""
        self.story.append(what)
        if self.truth():
            raise Boom(what)
        return what

    def count_of(self, thing: Any) -> Any:
        """Tell how many hold `thing`; gives it back."""
        self.story.append(f"{thing!r} is held {sys.getrefcount(thing)}")
        return thing

    def names(self, frame_depth: int = 1) -> None:
        """Tell the local names of the caller."""
        frame = sys._getframe(frame_depth)
        self.story.append(f"locals {sorted((k, repr(v)) for k, v in frame.f_locals.items() if k != 't')}")


class Spy:
    """An operand. What it gives is named by how it came about."""

    def __init__(self, kit: Kit, name: str) -> None:
        object.__setattr__(self, "_kit", kit)
        object.__setattr__(self, "_name", name)

    def __repr__(self) -> str:
        return self._name

    def __del__(self) -> None:
        self._kit.story.append(f"{self._name} dies")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._kit.tick(f"{self._name}.{name}")
        return Spy(self._kit, f"{self._name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self._kit.tick(f"{self._name}.{name} = {value!r}")

    def __delattr__(self, name: str) -> None:
        self._kit.tick(f"del {self._name}.{name}")

    def __getitem__(self, key: Any) -> Any:
        self._kit.tick(f"{self._name}[{key!r}]")
        return Spy(self._kit, f"{self._name}[{key!r}]")

    def __setitem__(self, key: Any, value: Any) -> None:
        self._kit.tick(f"{self._name}[{key!r}] = {value!r}")

    def __delitem__(self, key: Any) -> None:
        self._kit.tick(f"del {self._name}[{key!r}]")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        text = ", ".join([*map(repr, arguments), *(f"{key}={value!r}" for key, value in named.items())])
        self._kit.tick(f"{self._name}({text})")
        return Spy(self._kit, f"{self._name}({text})")

    def __bool__(self) -> bool:
        answer = self._kit.truth()
        self._kit.tick(f"bool({self._name}) is {answer}")
        return answer

    def __hash__(self) -> int:
        self._kit.tick(f"hash({self._name})")
        return hash(self._name)

    def __contains__(self, thing: Any) -> bool:
        answer = self._kit.truth()
        self._kit.tick(f"{thing!r} in {self._name} is {answer}")
        return answer

    def __index__(self) -> int:
        self._kit.tick(f"index({self._name})")
        return 1

    def __format__(self, spec: str) -> str:
        self._kit.tick(f"format({self._name}, {spec!r})")
        return f"<{self._name}>"

    def __str__(self) -> str:
        self._kit.tick(f"str({self._name})")
        return self._name

    def __iter__(self) -> Any:
        self._kit.tick(f"iter({self._name})")
        return Steps(self._kit, self._name, self._kit.length)

    def keys(self) -> Any:
        self._kit.tick(f"{self._name}.keys()")
        return ["k0", "k1"]

    def __enter__(self) -> Any:
        self._kit.tick(f"enter {self._name}")
        return Spy(self._kit, f"{self._name}.entered")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        answer = kind is not None and self._kit.truth()
        self._kit.tick(f"exit {self._name} {kind and kind.__name__} {answer}")
        return answer

    async def __aenter__(self) -> Any:
        self._kit.tick(f"aenter {self._name}")
        return await Spy(self._kit, f"{self._name}.entered")

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> bool:
        answer = kind is not None and self._kit.truth()
        self._kit.tick(f"aexit {self._name} {kind and kind.__name__} {answer}")
        return answer

    def __await__(self) -> Any:
        self._kit.tick(f"await {self._name}")
        sent = yield f"waiting for {self._name}"
        self._kit.tick(f"{self._name} was sent {sent!r}")
        return Spy(self._kit, f"(await {self._name})")

    def __aiter__(self) -> Any:
        self._kit.tick(f"aiter({self._name})")
        return AsyncSteps(self._kit, self._name, self._kit.length)


class Steps:
    """The iterator of a Spy."""

    def __init__(self, kit: Kit, name: str, length: int) -> None:
        self._kit, self._name, self._left = kit, name, length
        self._numbers = itertools.count()

    def __del__(self) -> None:
        self._kit.story.append(f"iterator of {self._name} dies")

    def __repr__(self) -> str:
        return f"iter({self._name})"

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        number = next(self._numbers)
        self._kit.tick(f"next({self._name}) {number}")
        if number >= self._left:
            raise StopIteration
        return Spy(self._kit, f"{self._name}:{number}")


class AsyncSteps(Steps):
    """The asynchronous iterator of a Spy."""

    async def __anext__(self) -> Any:
        number = next(self._numbers)
        self._kit.tick(f"anext({self._name}) {number}")
        if number >= self._left:
            raise StopAsyncIteration
        return await Spy(self._kit, f"{self._name}:{number}")


def _binary(name: str) -> Callable[[Any, Any], Any]:
    def operation(self: Any, other: Any) -> Any:
        text = f"({self._name} {name} {other!r})"
        self._kit.tick(text)
        return Spy(self._kit, text)

    return operation


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    def operation(self: Any, other: Any) -> Any:
        text = f"({other!r} {name} {self._name})"
        self._kit.tick(text)
        return Spy(self._kit, text)

    return operation


def _unary(name: str) -> Callable[[Any], Any]:
    def operation(self: Any) -> Any:
        self._kit.tick(f"{name} {self._name}")
        return Spy(self._kit, f"({name} {self._name})")

    return operation


for _name in BINARY:
    setattr(Spy, f"__{_name}__", _binary(_name))
    setattr(Spy, f"__r{_name}__", _reflected(_name))
    setattr(Spy, f"__i{_name}__", _binary(_name + "="))
for _name in COMPARED:
    setattr(Spy, f"__{_name}__", _binary(_name))
for _name in UNARY:
    setattr(Spy, f"__{_name}__", _unary(_name))
