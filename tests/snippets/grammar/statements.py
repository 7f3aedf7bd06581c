"""Statements of every kind; each function is one case."""


def assignments(a, b):
    x = y = a
    x, y = y, x
    (x, [y, *z]), w = (a, b), a.x
    [p, q] = b
    a.attr = x
    a.x.y = b
    a[0] = y
    a[x][y] = a[b] = z
    a.x[0], b.y = 1, 2
    x: int = a
    y: "int"
    a.attr: int = 1
    (y): int = b
    a[0]: int = 2
    return x, y, z, w, p, q


def stored_where(a, t):
    d = {}
    d["x"] = a
    d["y"] = d["x"].y
    l = [0, 1, 2]
    l[0] = a
    l[1:] = [a, a]
    l[0], l[1] = l[1], l[0]
    (l if a else d)[1] = 3
    t.say(d, l)


def augmented(a, b, t):
    x = a
    x += b
    x -= 1
    x @= b
    a.attr += b
    a.x.y *= 2
    a[0] -= b
    a[b] //= a
    a[b:a] |= 1
    a.f()[0].y **= b
    n = 0
    n += 1 if a else 2
    n += n
    l = [1]
    l += [2, n]
    s = ""
    s += "x"
    s = s + "y"
    t.say(l, s)
    return x, n


def deletions(a, b, t):
    x, y, z = a, b, a.z
    del x
    del y, z
    del a.attr, a.x.y
    del a[0], b[a][1:2]
    del (a[1], [a[2], b.y])
    t.say("end")
    return x


def if_chain(a, b, c):
    if a:
        r = 1
    elif b:
        r = 2
    elif c:
        pass
    else:
        r = 4
    if a: r = 5
    if a:
        if b:
            if c:
                return "deep"
    if True:
        r = 6
    if False:
        r = 7
    if 0:
        r = 8
    elif a:
        r = 9
    if not 1:
        r = 10
    return r


def for_loops(a, b, t):
    for i in a:
        i.x
    for i in a:
        pass
    for i, j in zip(a, b):
        if i:
            continue
        if j:
            break
        i.last
    else:
        t.say("no break")
    for a.attr in b:
        t.say("attr")
    for a[0] in b:
        t.say("item")
    for i, (a[0], *b.x) in [(1, a)]:
        t.say(i)
    for i in a:
        for j in b:
            if j:
                break
        else:
            continue
        break
    return i


def one_line_loops(a, t):
    for i in a: i.x
    for i in a: i.x; i.y
    while a: a.x; break
    if a: a.y; a.z
    else: a.w
    x = 1; y = 2; return x, y, i


def while_loops(a, b, t):
    n = 0
    while n < 3:
        n += 1
        if a:
            continue
        n += 1
    else:
        t.say("else")
    while True:
        n += 1
        if n > 6:
            break
    while 1:
        if a or n > 9:
            return n
        n += 1
    return 0


def while_condition(a, t):
    n = 3
    while n and a:
        n -= 1
    while (n := n + 1) < 8 and not a: t.say(n)
    while n:
        n -= 1
        try:
            if a:
                continue
            if a:
                break
        finally:
            t.say("finally", n)
    else:
        return "else"
    return "end"


def empty():
    pass


def ellipsis():
    ...


def docstring():
    """Only a docstring."""


def docstring_and_more(a):
    """A docstring."""
    return a


def long_docstring(a):
    """A docstring

    of several lines.
    """

    a.x


def constant_statements(a):
    1
    "text"
    a.x
    None
    ...
    a
    "more"


def first_is_global(a):
    global a_global
    a_global = a.x
    a_global = a or a_global
    a_global += 1
    return a_global


def first_is_annotation(a):
    x: int
    y: "undefined" = a
    return y


def first_is_pass(a):
    pass
    return a


def first_is_import():
    import math
    from os import path, sep as separator
    import os.path as p, os.path
    return math.floor(1.5), path is p, separator, os.path is p


def first_is_try(a):
    try:
        a.x
    except ValueError:
        pass


def first_is_while(a):
    while a:
        return 1


def first_is_for(a):
    for i in a:
        i.x


def first_is_with(a):
    with a as b:
        b.x


def first_is_def(a):
    def f():
        return a
    return f()


def first_is_decorated(a):
    @staticmethod
    def f():
        return a
    return f()


def first_is_class(a):
    class A:
        x = a
    return A.x


def first_is_decorated_class(a):
    @a.decorate
    class A:
        x = a
    return A


def first_is_if(a):
    if a:
        return 1


def first_is_delete(a):
    del a


def first_is_raise(a):
    raise ValueError(a)


def first_is_return(a):
    return


def first_is_assert(a):
    assert a


def first_is_match(a):
    match a:
        case _:
            pass


def first_is_true(a):
    while True:
        if a:
            break


def first_is_if_true(a):
    if True:
        a.x


def first_is_constant_assignment():
    x = 1
    return x


def on_one_line(a): return a.x


def on_one_line_more(a): a.x; a.y; return a.z


def returns(a):
    if a:
        return
    if a:
        return None
    if a:
        return a, a.x
    for i in a:
        return i
    return a if a else None


def asserts(a, b):
    assert a
    assert a < b < a, a.message
    assert not a and b, f"{a}"
    assert (a, b)[0]
    assert a is not b


def imports(t):
    import json as j, sys
    from collections import (
        OrderedDict as O,
        deque,
    )
    if t.seed % 2:
        from math import pi
    else:
        from math import e as pi
    try:
        import not_there_at_all
    except ImportError as error:
        t.say(error)
    return j.dumps([1]), sys.maxsize > 0, len(O()), deque([1]), pi > 3


def raises(a, b):
    if a:
        raise ValueError(a.x)
    if b:
        raise ValueError("x") from KeyError(b.y)
    if a:
        raise KeyError from None
    raise a.error


def dead_code(a):
    return a
    a.x
    for i in a:
        def f():
            return i


def dead_branch(a):
    if False:
        def f(): return (lambda: 0)
    if a and False:
        a.y
    if a or True:
        a.z
    while 0:
        a.w
    if __debug__:
        a.d
    assert True
    return f if 0 else (a if 1 else lambda: 0)


def long_if(a, b):
    if a: a.x
    elif b: b.x
    elif a.y: b.y
    elif a.z: b.z
    else: a.w
    if a:
        a.one
    else:
        if b:
            a.two
        else:
            a.three


def type_aliases(t):
    x: list[int] = []
    y: dict[str, "int"] = {}
    x.append(1)
    return x, y


def unbound_after(t):
    for i in []:
        pass
    return i


def loop_rebinding(a, t):
    for i in range(3):
        t.say(i)
        i = a
        t.names(2)
    return i


def nested_loops_with_finally(a, t):
    for i in range(3):
        try:
            for j in range(2):
                try:
                    if a:
                        continue
                    if a:
                        break
                    if a:
                        return i, j
                finally:
                    t.say("inner", i, j)
        finally:
            t.say("outer", i)
            if a:
                continue
            if a:
                break
    return "end"


def exchanges(a, b, t):
    x, y = a.x, b.y
    x, y = y, x
    x, y = x.p, y.q
    [x, y, z] = y.r, a or b, (x.s, 1)
    (x, w), y = (z, y.u), b if a else x
    a.m, b[x.k] = b.m, a[y.k]
    a[0], t.attr = 1, 2
    x, *y = a.n, b.n
    x, y = *a, b.o
    x, = a.v,
    x, y, z, w = w, z, y, a.w
    v = x, y = y, x
    return v, x, y, z, w


def stored_comprehensions(a, b):
    x = a.x
    x = [i.x for i in a if i]
    x = {i: j for i in a for j in b if j}
    x = y = {(i, j) for i in a for j in b if j}
    [i.z for i in b if i if i.u]
    {j for i in a for j in b if i}
    z: list = [i.w for i in a]
    z += [k for k in b]
    z, w = [i for i in a if i], [j for j in b]
    return [x for x in a if x], x, y, z, w


def stored_outside(a, b):
    global stored
    kept = 1
    def f():
        nonlocal kept
        kept = [i.x for i in a if i]
        return kept
    stored = [i for i in a if i]
    later = [i for i in b if i]
    return f(), stored, kept, lambda: later


def exchanged_comprehensions(a, b):
    x, y = b.x, [i.x for i in a if i]
    x, y = [i for i in a if i], b
    x, y, z = x, [j for j in b if j], {i for i in a for j in b if j}
    x, y.k = a, [i for i in b if i]
    x.k, y = a, [i for i in b if i]
    x, (y, *z) = a, [i for i in b if i is not a]
    return x, y, z
