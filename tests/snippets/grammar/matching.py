"""match statements: each function is one case."""


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def literals(t):
    match t.seed:
        case 0:
            r = "zero"
        case 1 | 2:
            r = "small"
        case -1 | 1.5 | "x" | None | True:
            r = "odd"
        case n if n > 5:
            r = "big", n
        case _:
            r = "other"
    return r


def shapes(t):
    things = [1, [1, 2], [1, 2, 3, 4], (), {"a": 1, "b": 2}, {}, Point(1, 2), Point(0, 0), "text", None, 2.5, [[1, [2]]]]
    for thing in things:
        match thing:
            case []:
                t.say("empty")
            case [x]:
                t.say("one", x)
            case [x, y] if x < y and (z := x + y):
                t.say("two", z)
            case [first, *middle, last]:
                t.say(first, middle, last)
            case {"a": a, **rest}:
                t.say(a, rest)
            case {}:
                t.say("mapping")
            case Point(x=0, y=0) as origin:
                t.say("origin", type(origin).__name__)
            case Point(x, y):
                t.say("point", x, y)
            case str() | None as s:
                t.say("s", s)
            case int(n) | float(n):
                t.say("number", n)


def operands(a, b):
    match a:
        case [x, y]:
            return x, y
        case {"k": v}:
            return v
        case b.name:
            return "named"
        case b.x.y | 3:
            return "dotted"
    match a, b:
        case (x, y) if x:
            return y
        case p, q:
            return p + q


def guards(a, b):
    match a:
        case x if x.one:
            return 1
        case x if x.two and not b:
            return 2
        case x if (
            x.three
        ):
            return 3
        case x if a < b < x:
            return 4


def one_line(a):
    match a:
        case 1: return 1
        case _: a.x; return 2


def in_loops(a, t):
    for i in a:
        match i.kind:
            case x if x:
                continue
            case y if y:
                break
            case _:
                pass
    else:
        return "else"
    return "end"


def no_match(t):
    match t.seed + 100:
        case 1:
            x = 1
        case 2:
            x = 2
    return x


def long_patterns(t):
    match {"a": [1, {"b": (2, 3)}], "c": Point(4, 5)}:
        case {
            "a": [
                one,
                {"b": (two, three)},
            ],
            "c": Point(
                x=four,
                y=five,
            ),
        }:
            return one, two, three, four, five


def subject_walrus(a):
    match (n := a.x):
        case _ if n:
            return n
        case other:
            return other, n


def subject_star(a, b):
    match *a, b:
        case [x, *_, y]:
            return x, y


def wrong_class(t):
    match t.seed:
        case Point(1, 2, 3):
            return 1
        case t.seed():
            return 2
