"""Functions within functions, closures, classes, super: each function at the top is one case."""

import functools


def default_arguments(a, b):
    def f(x, y=a.y, /, z=(b, a.z), *rest, k, l=a or b, **more):
        return x, y, z, rest, k, l, more

    return f(1, k=2), f(1, 2, 3, 4, 5, k=6, l=7, m=8), f.__defaults__, f.__kwdefaults__


def wrong_arguments(t):
    def f(x, *, k): return x, k

    for call in (lambda: f(), lambda: f(1), lambda: f(1, 2), lambda: f(1, k=2, j=3), lambda: f(1, k=2)):
        try:
            t.say(call())
        except TypeError as error:
            t.say(error)


def closures(a, b):
    n = 0

    def count():
        nonlocal n
        n += 1
        n = n or 1
        return n, a

    def other():
        return n, b.x

    count()
    n = n + 5
    return count(), other(), count.__closure__ is not None, n


def late_binding(a):
    fs = [lambda: i for i in range(3)]
    gs = [lambda i=i: i for i in range(3)]
    for j in range(2):
        def h():
            return j, a
    return [f() for f in fs], [g() for g in gs], h()


def deep_closures(a):
    x = a
    def one():
        y = x.y
        def two():
            nonlocal y
            z = y.z, x
            def three():
                return x, y, z
            y = three()
            return three
        return two()
    return one()()


def unbound_closure(t):
    def f():
        return later
    if t.seed % 2:
        later = 1
    return f()


def global_names(t):
    global made_by_global_names
    made_by_global_names = t.seed
    made_by_global_names += 1
    def f():
        return made_by_global_names
    del made_by_global_names
    return f()


def recursion(a):
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)
    return fact(10)


def decorators(a, b, t):
    def deco(f):
        t.say("decorating", f.__name__)
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs), a
        return wrapper

    @deco
    @(lambda f: f)
    def one(x, *, y=b): return x, y

    @deco
    @functools.lru_cache(maxsize=None)
    def two(): return a.x

    return one(1), two(), two(), one.__name__, one.__wrapped__.__qualname__


def annotations(a, t):
    def f(x: a.x, *y: int, z: "late" = 1, **w: a.w) -> t.say("returns"):
        v: a.not_evaluated = 2
        return v
    return sorted(f.__annotations__), f(1)


def class_body(a, b, t):
    outer = a

    class A(metaclass=type):
        """Doc."""
        x = outer.x
        y: int = 3
        z = [x for _ in range(2)] if False else x
        if b:
            def m(self): return self.x, outer
        else:
            def m(self): return 2
        for n in range(2):
            def k(self, n=n): return n
        w = lambda self: (self.y, outer)
        class Inner:
            def m(self): return __class__.__qualname__, b

    class B(A):
        def m(self):
            return "B", super().m(), __class__ is B

        @classmethod
        def c(cls, *args): return cls.__name__, args
        @staticmethod
        def s(x): return x
        @property
        def p(self): return self._p
        @p.setter
        def p(self, value): self._p = value or 1

    o = B()
    o.p = a
    return o.m(), o.k(), o.w(), B.c(1), o.s(2), o.p, B.Inner().m(), A.__doc__, B.__qualname__


class Base:
    def __init__(self, *args): self.args = args
    def m(self, x): return "base", x
    @classmethod
    def c(cls, x): return cls.__name__, x
    @property
    def p(self): return "p"
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.made = True
    def __getitem__(self, key): return key
    __private = 1
    def read(self): return self.__private, self.__hidden(2)
    def __hidden(self, __x): return __x


class Sub(Base):
    __private = 2

    def __init__(self, *args):
        super().__init__(*args)
        super(Sub, self).__init__(*args, 1)
        super(__class__, self).m(3)
        self.__own = args or 1
        self.__own += (0,)

    def m(self, x):
        y = super().m(x)
        z = super(Sub, self).m
        w = super().p, super().c(1)
        return [y, z(x), w, super().__getitem__(slice(1))]

    @classmethod
    def c(cls, x):
        return super().c(x), super(Sub, cls).c(x)

    def inner(self):
        def f(self): return super().m(1)
        return f(self), (lambda self: super().m(2))(self), [super(Sub, self).m(3) for _ in range(1)]

    def lost(self):
        del self
        return super().m(1)

    def rebound(self):
        self, me = Base(), self
        return me, super().m(1)

    def own(self):
        for self.__i in range(3):
            pass
        return self.__own, self.__i, self._Sub__own, __class__

    def __eq__(self, other): return self is other
    def __repr__(self): return "Sub()"
    def __len__(self): return 3


def supers(t):
    o = Sub(1, 2)
    return o.args, o.m(1), o.c(2), o.inner(), o.read(), o.own(), o.made, o == o, len(o)


def super_lost(t):
    return Sub().lost()


def super_rebound(t):
    return Sub().rebound()


def super_without_class(t):
    def f(self): return super().m()
    return f(1)


def super_without_arguments(t):
    class A:
        def f(): return super()
    return A.f()


def super_in_cell(t):
    class A(Base):
        def m(self, x):
            f = lambda: self
            return super().m(x), f() is self
    return A().m(1)


def metaclasses(a, t):
    class Meta(type):
        def __new__(mcs, name, bases, namespace, **kwargs):
            t.say(name, sorted(k for k in namespace if not k.startswith("__")), kwargs)
            return super().__new__(mcs, name, bases, namespace)
        def __call__(cls, *args):
            return super().__call__(*args), a
        def __prepare__(name, bases, **kwargs): return {"prepared": 1}
    class A(metaclass=Meta, key=a):
        x = prepared
        def __init__(self, x=None): self.x = x or a
        def __set_name__(self, owner, name): t.say(owner.__name__, name)
        def __repr__(self): return "A"
    class B(A): y = A(1)[0]
    return B(2)[1], B.x


def descriptors(a, t):
    class D:
        def __get__(self, o, kind=None): return (t.say("get"), a)[1]
        def __set__(self, o, v): t.say("set", v)
        def __delete__(self, o): t.say("delete")
    class A:
        d = D()
        def m(self):
            self.d = self.d
            self.d += 1
            del self.d
            return self.d
        def __getattr__(self, name):
            t.say("getattr", name)
            if name == "no": raise AttributeError(name)
            return a
        __slots__ = ()
    return A().m(), A().other, hasattr(A(), "no")


def operators(a, t):
    class N:
        def __init__(self, n): self.n = n
        def __add__(self, o): return N(self.n + getattr(o, "n", o))
        def __iadd__(self, o):
            self.n += o
            return self
        def __eq__(self, o): return self.n == o.n
        __hash__ = None
        def __lt__(self, o): return NotImplemented if o is None else self.n < o.n
        def __bool__(self):
            t.say("bool", self.n)
            return self.n > 1
        def __repr__(self): return f"N({self.n})"
        def __call__(self, *x): return self.n, x
    x = N(1)
    x += 2
    y = x
    y += 1
    return x, x + 1, x is y, x == N(4), x < N(5), 1 if x else 2, x(1), sorted([N(3), N(1)]), not N(0), N(0) or N(2)


def partials(a):
    def f(x, y, z): return x, y, z
    return functools.partial(f, 1, z=a)(2), functools.reduce(lambda x, y: x + y, [1, 2, 3], 0)


def cached(t):
    @functools.lru_cache
    def f(n):
        t.say("computed", n)
        return n if n < 2 else f(n - 1) + f(n - 2)
    return f(8), f.cache_info()


def attributes_of_functions(a):
    def f(x, /, y: int, *z, k: "str" = "v", **w) -> None:
        """Doc of f."""
        local = x, (lambda: y)
        return local
    f.attr = a
    c = f.__code__
    return (
        f.__doc__, f.__name__, f.__qualname__, f.__module__, f.attr, f.__defaults__, f.__kwdefaults__, c.co_varnames,
        c.co_freevars, c.co_cellvars, c.co_argcount, c.co_posonlyargcount, c.co_kwonlyargcount, c.co_flags, c.co_nlocals,
        c.co_firstlineno, c.co_name,
    )


def deleted_argument(a, b, t):
    def f(x, y):
        del x
        t.names(2)
        def g(): return y
        del y
        return g()
    return f(a, b)


def locals_seen(a, t):
    x = 1
    def f():
        return x
    before = sorted(locals())
    y = a
    values = [sorted(locals()) for _ in range(1)]
    return before, values, sorted(locals()), sorted(vars()), eval("x"), f()


def executed(t):
    x = 2
    exec("x = 3; t.say('inner', x)")
    return x, eval("[x for _ in range(2)]"), eval("lambda: 5")()


def many_arguments(t):
    def f(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, *rest, **named): return a0, a9, rest, named
    return f(*range(12), **{f"k{i}": i for i in range(3)})


def immediately(a):
    return (lambda x, y=a: [x, y])(*[a]), (lambda f: f(f, 3))(lambda f, n: n if not n else f(f, n - 1))


def caller_is_seen(t):
    import sys
    def where(): return sys._getframe(1).f_code.co_name, sys._getframe(1).f_lineno
    return where(), [where() for _ in range(1)], (lambda: where())()


def deep_recursion(t):
    def down(n):
        return down(n - 1) + 1 if n else 0
    return down(150)


def nonlocal_from_inner_class(a):
    n = 1
    class A:
        nonlocal n
        n = a or 2
        def m(self):
            nonlocal n
            n = [n]
            return n
    return A().m(), n
