"""Generators, coroutines and what is asynchronous: each function is one case, driven by a plan."""

import asyncio
import contextlib


def simple(a):
    yield
    yield a
    x = yield a.x
    y = (yield x) or (yield)
    return x, y


def sending(a, t):
    got = []
    while len(got) < 4:
        try:
            got.append((yield len(got)))
        except Exception as error:
            t.say(type(error).__name__)
            got.append(error.args)
    yield got


def cleaning(a, t):
    try:
        yield 1
        yield 2
    except GeneratorExit:
        t.say("closed")
        raise
    except Exception as error:
        t.say("thrown", error)
        yield 3
    finally:
        t.say("finally")
        a.f


def delegating(a, t):
    def inner(n):
        try:
            x = yield n
            yield x
        except Exception as error:
            t.say("inner", error)
            yield "recovered"
        return n + 1
    r = yield from inner(1)
    r = yield from inner(r)
    yield from a
    yield from [r, r]
    return (yield from ())


def yielding_in_expressions(a):
    x = [(yield 1), (yield 2)]
    y = a((yield x), k=(yield))
    if (yield y):
        z = f"{(yield 3)}"
    else:
        z = (yield 4) + 1 if (yield 5) else lambda: (yield 6)
    a[(yield)] = yield 7
    return x, y, z


def ignoring_exit(t):
    try:
        yield 1
    except GeneratorExit:
        yield 2


def stop_iteration_inside(t):
    yield 1
    raise StopIteration(2)


def with_inside(a, t):
    with a as b:
        yield b
        t.maybe("x")
        yield b.x


def for_else(a):
    for i in a:
        yield i
    else:
        yield "else"


def long_lived(a, t):
    x = a.x
    yield x
    del x
    t.say("deleted")
    yield a + a
    t.say("gone")


def lambda_generator(a):
    g = (lambda: (yield a))()
    yield from g
    yield list(i for i in a)


def generator_expression_left(a, t):
    g = (i.x for i in a if i)
    yield next(g, None)
    del g
    t.say("dropped")
    yield


def recursive(a):
    def walk(n):
        if n:
            yield from walk(n - 1)
        yield n
    yield from walk(3)


def running_itself(t):
    def g():
        try:
            next(me)
        except ValueError as error:
            yield str(error)
    me = g()
    yield next(me)


def context_manager(a, t):
    @contextlib.contextmanager
    def c(x):
        t.say("enter")
        try:
            yield x.y
        except Exception as error:
            t.say("caught", error)
        finally:
            t.say("exit")
    with c(a) as b:
        t.maybe("inside")
        yield b


async def coroutine(a, b):
    x = await a
    y = await a.f(x) + await b
    return x, y, [await a, await b]


async def awaiting_in_tests(a, b):
    if await a:
        return 1
    while await b:
        return 2
    return await a if await b else await a.x


async def calling(a, t):
    async def inner(n):
        try:
            return await n
        except Exception as error:
            t.say("inner", error)
            raise
    r = await inner(a)
    try:
        r = await inner(a.x)
    finally:
        t.say("finally")
    return r


async def async_for(a, t):
    async for i in a:
        i.x
        if i:
            continue
        t.say("not")
    else:
        t.say("else")
    async for i, j in a:
        break
    return [i async for i in a if i], {repr(i): 1 async for i in a}


async def async_comprehensions(a, b):
    x = [await i async for i in a if await i]
    y = [i + j for i in [1] async for j in b]
    g = (i async for i in a)
    return x, y, [i async for i in g]


async def async_with(a, b, t):
    async with a as x, b as y:
        t.maybe("x")
        x.z + y.z
    async with a:
        return t.maybe("y")


async def async_generator(a, t):
    try:
        x = yield 1
        t.say(x)
        async for i in a:
            yield i
        y = await a
        yield y
    except Exception as error:
        t.say(type(error).__name__)
        yield "recovered"
    finally:
        t.say("finally")


async def async_generator_consumed(a, t):
    async def g():
        for i in range(3):
            x = yield i
            t.say("sent", x)
    return [x async for x in g()]


async def wrong_await(t):
    await t.seed


async def wrong_async_for(t):
    async for i in t.seed:
        pass


async def wrong_async_with(t):
    async with t.seed:
        pass


def under_asyncio(a, t):
    async def worker(n):
        await asyncio.sleep(0)
        t.say("worker", n)
        if n == 2:
            raise ValueError(n)
        return n
    async def main():
        results = await asyncio.gather(*(worker(i) for i in range(4)), return_exceptions=True)
        async with asyncio.timeout(5):
            await asyncio.sleep(0)
        try:
            async with asyncio.TaskGroup() as group:
                one = group.create_task(worker(0))
                group.create_task(worker(2))
        except* ValueError as errors:
            t.say(errors.exceptions)
        return results, one.result()
    return asyncio.run(main())


async def awaited_lambda(a):
    f = lambda x: x.y
    return await f(a), await (lambda: a)(), (lambda: [i for i in range(2)])()
