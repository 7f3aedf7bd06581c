"""Expressions of every kind; each function is one case, its parameters are operands, `t` is the kit that made them."""


def arithmetic(a, b, c):
    return a + b * -c - (+a // b) ** c % a @ b


def bits(a, b, c):
    return ~a & b | c ^ a << b >> c


def compared(a, b):
    return [a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b]


def membership(a, b):
    x = a in b
    y = a not in b
    return x, y, a is None


def chained(a, b, c, d):
    return a < b <= c != d


def chained_test(a, b, c, d):
    if a < b <= c:
        return 1
    elif a is b is not c:
        return 2
    elif a in b in c:
        return 3
    while a < b < c < d:
        return 4
    return 5 if a < b < c else 6


def boolean(a, b, c, d):
    x = a and b or c and not d
    y = not (a or b)
    return x, y, a and (b or c), not not d


def boolean_tests(a, b, c, d):
    if a and b or c:
        a.one
    if not (a and (b or not c)):
        a.two
    if not a:
        a.three
    elif not b and not c or d:
        a.four
    return (a or b) and (c or d)


def ternaries(a, b, c, d):
    x = a if b else c
    y = a if b else c if d else b
    if (a if b else c):
        return x, y
    return (x if a and b else y).attr if not c else d


def assigned_boolean(a, b, c):
    x = a or b
    y = z = a and b and c
    a.attr = b or c
    a[b or c] = a and b
    x, *y = a or b
    return x, y, z


def calls(a, b, c):
    a()
    a(b)
    a(b, c)
    a(b, key=c)
    a(*b)
    a(**b)
    a(b, *c, x=a, **b)
    a(*b, *c, **{"x": a}, **{"y": b})
    return a(b(c(a)))


def methods(a, b):
    a.method()
    a.method(b).other(b, key=a)
    a.x.y.z(b.x.y)
    (a).method(b)(a)(b)
    return a[0].method(b[1]).attr.last()


def chain_of_links(a, b):
    return a.q_proj(b).view(b.shape).transpose(1, 2).contiguous()[0].mean(-1, keepdim=True).item()


def attributes(a):
    a.x
    a.x.y
    b = a.x.y
    return b.z, a.shape, a.x.shape[0]


def subscripts(a, b, c):
    a[0]
    a[b]
    a[b, c]
    a[b:c]
    a[b:c:a]
    a[:]
    a[::2]
    a[..., None, b:]
    a[-1][b][c]
    a[b[c]][:, -1]
    return a[(b, c)], a[b:, c], a[*b, c]


def displays(a, b, c):
    x = [a, b, c]
    y = (a, b)
    z = [*a, b, *c]
    w = *a, b
    u = {"k": a, **{"l": b}, c.key.__class__: 1}
    v = {a.real.__class__, int}
    return x, y, z, w, u, v, [], (), {}, [[a], [b, [c]]]


def constants():
    a = 1
    b = -1
    c = 1 + 2 * 3
    d = "x" "y"
    e = (1, 2, (3, None))
    f = b"x"
    g = ...
    h = 1j
    i = not True
    for j in [1, 2]:
        k = j in {1, 2, 3}
    for j in (1, 2):
        k = j in [1, 2]
    return a, b, c, d, e, f, g, h, i, k, None


def sets(t):
    return len({1, 2, 3} | {t.seed}), {1: 2}, {t.seed: t.length}


def comprehensions(a, b):
    x = [i for i in a]
    y = [i + j for i in a for j in b if i if not j]
    z = {repr(i): j for i, j in zip(a, b)}
    w = {repr(i) for i in a if i}
    g = (i.x for i in a)
    u = [[j for j in b if j is not i] for i in a]
    return x, y, z, w, list(g), u


def comprehension_of_targets(a):
    return [(i, j, k) for i, (j, *k) in [(1, a), (2, a)]]


def generator_argument(a, b):
    return any(i for i in a), list(i and b for i in a if b), sum((1 for i in a), 0)


def walrus(a, b):
    if (n := a) and (m := b):
        return n, m
    x = (y := a.x) + y
    print_ = [z := a, z.x]
    while (w := a.y) and a:
        return w
    return x, y, print_, (q := a or b), q


def walrus_in_comprehension(a, t):
    found = [last := i for i in a if (kept := i)]
    t.names(2)
    return found, last, kept if "kept" in dir() else None, any((hit := i) for i in a), hit


def lambdas(a, b):
    f = lambda: a
    g = lambda x, *y, z=b, **w: (x, y, z, w)
    h = lambda x: lambda y: x + y + a
    return f(), g(a, b, z=1, q=2), h(a)(b), (lambda: None)(), (lambda *, k: k)(k=b)


def lambda_of_decisions(a, b):
    return (lambda x: x if x else b)(a), (lambda x: x and b)(a), (lambda: a < b < a)(), (lambda x: [x for x in x])(a)


def f_strings(a, b):
    x = f"{a}"
    y = f"{a!r:>{b}} {a.x} {a + b:x} {{}}"
    z = f"{(n := a)} {n} {f'{b} {a.y}'}"
    return x, y, z, f"{a}" f"{b}", f"{a=}", "no {}"


def formatted(a, b):
    x = "%s and %s" % (a, b)
    y = "%r" % a
    z = "{} {x}".format(a, x=b)
    return x, y, z, "%s" % (a.x,), ("%s" % b) + "x"


def bytes_formatted(t):
    return b"%d" % t.seed, "%d%%" % (t.seed,), "%(x)s" % {"x": t.seed}


def precedence(a, b, c):
    return -a ** -b, (a, b)[0], not a == b, a if b else (c, a), [*(a, b)], (yield_ := a)


def counted(t, a):
    t.count_of(a)
    t.count_of(a.temporary)
    x = t.count_of(a + a)
    t.count_of(x)
    t.count_of(a.method(t.count_of(a.y)))
    y = t.count_of(a.z).w
    return t.count_of(y), [t.count_of(i) for i in a], t.count_of([a][0])


def dying(t, a):
    a.one + a.two
    t.say("between")
    x = a.one.two.three
    t.say("x lives")
    x = x.four
    t.say("the first x is gone")
    x = x + x
    del x
    t.say("x is gone")
    (a.p, a.q)
    a.f(a.g(a.h))
    t.say("end")


def builtin_names(t):
    return max(len("abc"), int("3")), isinstance(t, int), list(map(str, range(3))), sorted([3, 1, 2], key=lambda x: -x)


def missing_name(t):
    t.say("about to")
    return not_there + 1  # noqa: F821


def missing_local(t):
    if t.seed > 100:
        x = 1
    return x + t.seed


def missing_attribute(t):
    return t.story.apend(1)


def wrong_operands(t):
    x = [1, "2"]
    return x[0] + x[1] * t.seed + (x[1] if t.seed else 0)


def wrong_index(t):
    x = {"a": {"b": [1]}}
    return x["a"]["b"][t.seed]["c"]


def wrong_call(t):
    x = t.seed
    return x(1)(2)


def wrong_star(t):
    f = dict
    return f(*[1, 2], **t.seed)


def wrong_unpacking(t):
    a, b = range(t.seed)
    c, *d, e = range(t.seed - 1)
    return a, b, c, d, e


def deep(a):
    return ((((((((((a + 1) + 2) + 3) + 4) + 5) + 6) + 7) + 8) + 9) + 10) + (1 - (2 - (3 - (4 - (5 - (6 - a))))))


def complicated(a, b, c):
    x = [a(i, *b, k=[j for j in c if (q := j)]) for i in b if not (i and a.x or c) if i < a < b]
    return {repr(k): (v if k else lambda: v) for k, v in zip(a, b)} if x else (a.x[b.y : -c.z].w, *x, f"{a}")


def decided_by_ternary(a, b, c, d):
    while a if not b else c == d:
        if (a if b else c) and (d if a else (b if c else 1)):
            return a
        break
    assert b if c else not d, a if c else b
    x = a if (b if c else d) else c
    return x, not (a if b else c), [i for i in a if (i if b else c)]


def negated(a, b, c):
    x = not a == b
    y = (not a < b < c, not (a and b), not a is b, not a in b, not not a != b)
    if not (not a >= b):
        x = not (
            a.x
            ==
            b.y
        )
    return not a <= b, x, y, [not i == a for i in b]


def conditions_in_comprehensions(a, b, t):
    x = [t.maybe("x") and j for i in a if i == b for j in i.x(b) if i < j if j]
    try:
        return {[]: i for i in a if i != b if i or i > b}
    except TypeError:
        return {(i, []) for i in a if (i == b if i else b < i < a)}, x
