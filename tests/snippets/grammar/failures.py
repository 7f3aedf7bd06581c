"""try, raise, with: each function is one case."""

import contextlib


def simple(a, t):
    try:
        a.x
    except ValueError:
        t.say("value")
    except (KeyError, Exception) as error:
        t.say("any", type(error).__name__, error)
    else:
        t.say("else")
        a.e
    finally:
        t.say("finally")
        a.f
    return a


def bare(a, t):
    try:
        a.x
    except:
        t.say("bare")
        raise


def one_line(a, t):
    try: a.x
    except Exception: t.say("x"); a.y
    else: a.z
    finally: a.w


def evaluated_types(a, t):
    try:
        t.maybe("body")
    except a.error.__class__:
        t.say("class")
    except (KeyError, t.fail("type")):
        pass


def name_is_gone(a, t):
    try:
        t.fail()
    except Exception as error:
        kept = error
        t.names(2)
    t.names(2)
    kept = None
    return error


def nested(a, t):
    try:
        try:
            a.x
            t.maybe("one")
        except Exception as first:
            a.y
            t.maybe("two")
            raise ValueError("from handler") from first
        finally:
            t.maybe("three")
    except ValueError as error:
        return repr(error.__cause__), repr(error.__context__)
    except Exception as error:
        error.add_note("noted")
        raise


def finally_returns(a, t):
    try:
        a.x
        t.maybe("x")
        return 1
    finally:
        a.y
        return 2


def finally_with_value(a, t):
    try:
        return a.x
    finally:
        a.y
        t.say("finally")


def finally_in_loop(a, t):
    for i in a:
        try:
            t.maybe("in loop")
            if i:
                continue
        except Exception:
            if a:
                break
            continue
        finally:
            a.f
    else:
        t.say("else")
    return "end"


def finally_breaks(a, t):
    while True:
        try:
            t.maybe("one")
        finally:
            break
    for i in a:
        try:
            t.maybe("two")
        finally:
            continue
    return 1


def groups(a, t):
    try:
        if a:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2), TypeError(3)])
        a.x
    except* ValueError as group:
        t.say(group.exceptions)
    except* (KeyError, OSError):
        t.say("key")
        a.y
    except* Exception as rest:
        t.say(rest.exceptions)
        if a:
            raise
    else:
        t.say("else")
    finally:
        t.say("finally")


def with_one(a, t):
    with a:
        a.x
    with a as b:
        b.x
        t.maybe("body")
    return b


def with_several(a, b, t):
    with a as x, b as y, a.c:
        x.z + y.z
        t.maybe("body")
    with (a as x, b.m(x) as (p, q)):
        t.say(p, q)
    with (
        a,
        b as b.attr,
        a as a[0],
    ):
        t.fail()
    return x


def with_return(a, t):
    with a:
        if a:
            return a.x
        t.say("after")
    for i in a:
        with i as j:
            if j:
                continue
            if i:
                break
            return j


def with_one_line(a, t):
    with a as b: b.x; t.maybe("x")
    with a, a: pass
    with a: return 1


def with_boolean(a, b):
    with a or b as c:
        c.x
    with (a if b else a.x) as d, b and a:
        d.x


def suppressing(t, a):
    with contextlib.suppress(KeyError, Exception):
        a.x
        t.fail()
    with contextlib.suppress(ValueError) as nothing:
        t.maybe("y")
    return nothing


def with_in_try(a, t):
    try:
        with a as x:
            t.maybe("in")
            raise LookupError(x.text)
    except LookupError as error:
        t.say(repr(error.__context__))
    finally:
        a.f


def reraised(t):
    try:
        t.fail("first")
    except Exception as error:
        try:
            t.fail("second")
        except Exception:
            t.say(repr(error.__context__))
            raise error


def raised_later(t):
    saved = None
    try:
        t.fail("first")
    except Exception as error:
        saved = error
    raise RuntimeError("later") from saved


def noted(t):
    try:
        t.fail("first")
    except Exception as error:
        error.add_note("note one")
        error.add_note("note two")
        raise


def context_of_cleanup(a, t):
    try:
        a.x
        t.fail("first")
    finally:
        try:
            t.fail("second")
        except Exception as error:
            t.say(repr(error.__context__))


def system_exit(t):
    try:
        raise SystemExit(3)
    except Exception:
        t.say("no")


def keyboard(t):
    try:
        raise KeyboardInterrupt
    except BaseException as error:
        t.say(repr(error))
        raise


def deep_raise(a, t):
    def inner(n):
        if n:
            return inner(n - 1)
        return t.fail("deep") + a
    return inner(3)


def caught_from_comprehension(a, t):
    try:
        return [t.maybe(f"m{i}") for i in range(3)]
    except Exception as error:
        t.say(error)
        return [i.x for i in a if t.maybe("n")]


def long_handler(a, t):
    try:
        t.fail()
    except (
        ValueError,
        Exception,
    ) as error:
        t.say(error)
    except KeyError:
        pass


def handler_with_loop(a, t):
    try:
        t.fail()
    except Exception:
        for i in a:
            if i:
                break
        while a:
            break
    try:
        t.fail()
    except Exception:
        while a:
            return 1
        pass


def handler_is_pass(a, t):
    try:
        a.x
    except Exception:
        pass
    try:
        a.y
    except Exception: pass
    try:
        a.z
    except Exception as error:
        pass
    try:
        t.fail()
    except Exception:
        return
