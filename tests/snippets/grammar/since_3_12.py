"""Syntax that came with Python 3.12: each function is one case."""


def generic(a):
    def f[T, *Ts, **P](x: T, *y: *Ts) -> T:
        return x, y
    return f(a, 1), [str(p) for p in f.__type_params__]


def generic_class(a, b):
    class C[T: int]:
        x: T = a
        def m[U](self, u: U, v=b) -> T:
            return super().__repr__() != 1, self.x, u, v, __class__.__name__
        def plain(self): return T, [T for _ in range(1)]
    return C().m(1), [str(p) for p in C().plain()[1]], C.__type_params__[0].__bound__


def aliases(a):
    type X = list[int]
    type Y[T] = dict[T, a.x]
    return str(X), X.__value__, str(Y), Y.__value__


class Top[T]:
    def method(self, x: T, y=1) -> T:
        z = [x for _ in range(2)]
        return z, y

    def generic[U](self, u: U):
        return (lambda: (u, T, U))()[0]


def top_level[T: str](a, b: T = 1):
    return a.x(b) and [T for _ in range(1)][0].__name__


def of_class(a):
    return Top().method(a), Top().generic(a)


def strings(a, b):
    return f"{a["x"]} {f"{b!r}"} {
        a.y
        + b  # a remark
    } {'\n'.join(["1"])}"


def nested_strings(a):
    return f"{f"{f"{a.x}"}"}", f'{a:{"x"}>{10}}', f"{[i for i in a]}", f"{(lambda: a)()!r}", f"{(x := a.y)}{x}"


def inlined(a, b):
    x = 1
    y = [x for x in a]
    z = [[x, w] for x in b for w in [x]]
    return x, y, z, {repr(x): x for x in a}, sorted(locals())
