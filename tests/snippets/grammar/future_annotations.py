"""Annotations that stay texts: each function is one case."""
from __future__ import annotations

import dataclasses


def annotated(a, t):
    def f(x: undefined, *y: a.x) -> also.undefined:
        z: nothing.at.all = x
        return z
    return f.__annotations__, f(1)


def data(a):
    @dataclasses.dataclass
    class D:
        x: int
        y: list[int] = dataclasses.field(default_factory=lambda: [a])
        def total(self) -> D:
            return self.x, self.y
    return D(1).total(), D(1, 2) == D(1, 2), D.__annotations__


def attribute(a):
    a.attr: undefined = 1
    a[0]: undefined
    x: a.not_evaluated
    return a
