# ruff: noqa
# fmt: off
"""Statements that ran (@ran), did not (@not), or of which a recording cannot tell (@unknown). Run as it stands, without torch."""

import contextlib
import sys


def straight(n):
    pass  # @ran
    x = n + 1  # @ran
    global counter  # @ran
    counter = x  # @ran
    return x  # @ran
    x = 2  # @not
    pass  # @not


def branches(flag):
    if flag:  # @ran
        pass  # @ran
    else:  # @not
        pass  # @not
    if not flag:  # @ran
        import math  # @not

        x = math.pi  # @not
    elif flag is None:  # @ran
        x = 1  # @not
    else:  # @ran
        x = 2  # @ran
    if flag and x == 1:  # @ran
        pass  # @not
    if flag or x == 1:  # @ran
        pass  # @ran
    return x  # @ran


def leaves_early(items):
    for item in items:  # @ran
        if item == 2:  # @ran
            return item  # @ran
        pass  # @ran
    raise ValueError("none is 2")  # @not


def falls_through(items):
    for item in items:  # @ran
        if item == 9:  # @ran
            return item  # @not
    pass  # @ran
    import os  # @ran


def loops():
    total = 0  # @ran
    for i in range(4):  # @ran
        if i == 1:  # @ran
            continue  # @ran
            pass  # @not
        if i == 3:  # @ran
            break  # @ran
        total += i  # @ran
    else:  # @not
        total = -1  # @not
    while True:  # @ran
        total -= 1  # @ran
        if total < 0:  # @ran
            break  # @ran
    for i in []:  # @ran
        pass  # @not
    else:  # @ran
        pass  # @ran
    while total > 100:  # @ran
        pass  # @not
    return total  # @ran


class Thing:  # @ran
    n = 0  # @ran


def silent(thing):
    thing.n += 1  # @ran
    thing.n += 2  # @ran
    del thing.n  # @ran
    import json  # @ran
    thing.m = 3  # @ran
    pass  # @ran


def silent_alone(thing):
    thing.n += 1  # @ran
    thing.n += 1  # @ran


def silent_in_branches(thing):
    if thing:  # @ran
        thing.n += 1  # @ran
        thing.n += 1  # @ran
    else:  # @not
        thing.n += 1  # @not
        thing.n += 1  # @not
    for i in range(2):  # @ran
        thing.n += 1  # @ran
        thing.n += 1  # @ran
    while True:  # @ran
        thing.n += 1  # @ran
        if thing.n > 20:  # @ran
            break  # @ran
        thing.n += 1  # @ran
        thing.n += 1  # @ran
    return 1  # @ran


def raises_in_the_middle():
    x = 1  # @ran
    y = [][x]  # @ran
    z = 2  # @not
    pass  # @not


def raises_in_a_called_one():
    raises_in_the_middle()  # @ran
    pass  # @not


def handles():
    try:  # @ran
        a = 1  # @ran
        b = int("no")  # @ran
        c = 2  # @not
    except KeyError:  # @ran
        d = 1  # @not
    except ValueError as error:  # @ran
        d = str(error)  # @ran
    else:  # @not
        d = 3  # @not
    finally:  # @ran
        e = 4  # @ran
    try:  # @ran
        pass  # @ran
    except KeyError:  # @not
        pass  # @not
    else:  # @ran
        pass  # @ran
    return d  # @ran


def handles_in_a_loop(items):
    for item in items:  # @ran
        try:  # @ran
            number = int(item)  # @ran
            pass  # @ran
        except ValueError:  # @ran
            pass  # @ran
            continue  # @ran
        pass  # @ran
    return item  # @ran


def always_fails(items):
    for item in items:  # @ran
        try:  # @ran
            number = int(item)  # @ran
            pass  # @not
        except ValueError:  # @ran
            continue  # @ran
        pass  # @not
    return item  # @ran


def returns_in_finally():
    try:  # @ran
        return 1  # @ran
    finally:  # @ran
        pass  # @ran
        x = 2  # @ran
    return x  # @not


def cannot_be_told(thing):
    try:  # @ran
        thing.missing += 1  # @ran
        thing.other += 1  # @unknown
    except AttributeError:  # @ran
        pass  # @ran
    return 1  # @ran


def swallowed():
    with contextlib.suppress(ValueError):  # @ran
        x = 1  # @ran
        int("no")  # @ran
        x = 2  # @not
        pass  # @not
    return x  # @ran


def one_line(flag):
    if flag: return 1  # @partly
    x = 1; y = 2  # @ran
    return x  # @ran


def several_lines(flag):
    x = max(  # @ran
        1,
        # a comment within
        2,
    )
    if (  # @ran
        flag
        and x
    ):
        x = """
# no comment
"""  # a text
        return x  # @not
    return None  # @ran


def matched(value):
    match value:  # @ran
        case 1:  # @ran
            pass  # @not
        case [a, b] if a > b:  # @ran
            pass  # @not
        case [a, b]:  # @ran
            pass  # @ran
        case _:  # @not
            pass  # @not


def nested(n):
    def inner(k):  # @ran
        pass  # @ran
        return k + n  # @ran

    def other(k):  # @ran
        return k  # @not

    class Local:  # @ran
        size = 1  # @ran

    return inner(1)  # @ran


def generator(n):
    yield n  # @ran
    pass  # @ran
    yield n + 1  # @ran
    pass  # @unknown
    x = 1  # @unknown
    yield x  # @not


def not_called():
    pass  # @not
    return 1  # @not


def lazily(items):
    found = (item * 2 for item in items if item > 1)  # @ran
    pass  # @ran
    return list(found)  # @ran


def lazily_never(items):
    found = (item * 2 for item in items)  # @ran
    if found is None:  # @ran
        return 1  # @not
    return 2  # @ran


def unpacked():
    a, b = 1, 2  # @ran
    pass  # @ran
    a, (b, c) = 1, (2, 3)  # @ran
    return a  # @ran


def asserted(x):
    assert x > 0, "positive"  # @ran
    pass  # @ran
    return x  # @ran


def many_calls(n):
    if n == 0:  # @ran
        a = 1  # @ran
    elif n == 1:  # @ran
        a = 2  # @ran
    else:  # @not
        a = 3  # @not
    return a  # @ran


def documented():
    """A text.

    # not a comment
    """
    ...
    return 1  # @ran


counter = 0  # @ran
if __name__ == "__main__":  # @ran
    straight(1)  # @ran
    branches(True)
    leaves_early([1, 2, 3])
    falls_through([1, 2])
    loops()
    silent(Thing())
    silent_alone(Thing())
    silent_in_branches(Thing())
    with contextlib.suppress(IndexError):
        raises_in_the_middle()
    with contextlib.suppress(IndexError):
        raises_in_a_called_one()  # @ran
        pass  # @not
    handles()
    handles_in_a_loop(["1", "no", "2"])
    always_fails(["a", "b"])
    returns_in_finally()
    cannot_be_told(object())
    swallowed()
    one_line(False)
    one_line(False)
    several_lines(0)
    matched([1, 2])
    nested(1)
    numbers = generator(3)
    next(numbers)
    next(numbers)
    numbers.close()
    lazily([1, 2])
    lazily_never([1, 2])
    unpacked()
    asserted(1)
    many_calls(0)
    many_calls(1)
    documented()  # @ran
    sys.exit(0)  # @ran
    pass  # @not
else:  # @not
    pass  # @not
