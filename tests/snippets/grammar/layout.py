"""The same expressions, spread over lines in every way: each function is one case."""


def call_chain(a, b, t):
    x = (
        a.q_proj(b)
        .view(
            b.shape,
            2,
        )
        .transpose(1, 2)
    )
    y = a.method(
        b
    ).other(
        t.maybe("x"),
        key=b
    )
    return (
        x
        .y
        .z
    )


def operators(a, b, c):
    x = (
        a
        + b
        * c
    )
    y = (a +
         b -
         c.x)
    z = a + \
        b
    w = -(
        a
    )
    return (x
            @ y) ** (
        z + w
    )


def comparisons(a, b, c):
    if (
        a
        < b
        < c
    ):
        return 1
    if (a <
            b):
        return 2
    x = (a
         is
         b)
    return (
        a == b
    ) != (
        c
    )


def booleans(a, b, c):
    if (
        a
        and b
        or not c
    ):
        return 1
    x = (
        a
        or b.x
        or (
            c
            and a
        )
    )
    while (
        a
        and
        b
    ):
        return x
    return (
        a and
        b
    )


def ternaries(a, b, c):
    x = (
        a
        if b
        else c
    )
    y = a.x if (
        b
    ) else (
        c.y
    )
    return (
        x if a
        else y if b
        else c
    )


def displays(a, b):
    x = [
        a,
        b.x,
        *a,
    ]
    y = {
        "a": a,
        **{
            "b": b,
        },
        "c":
            a.c,
    }
    z = (
        a,
        b,
    )
    w = {
        1,
        2,
    }
    return (
        x, y,
        z, w,
        [
        ],
    )


def comprehensions(a, b):
    x = [
        i.x
        for i
        in a
        if i
        if not b
    ]
    y = {
        repr(i):
            i.y
        for i in a
    }
    z = list(
        i
        for i in a
        for j in
        b
    )
    w = {
        repr(
            i
        )
        for i in a}
    return [
        [
            j
            for j in b
        ]
        for i in a
    ], x, y, z, w


def assignments(a, b):
    x = \
        a
    (
        x,
        y,
    ) = (
        a,
        b,
    )
    a[
        b
    ] = (
        x
    )
    a.f(
        b
    )[
        0
    ] = y
    a \
        .attr = 1
    a[b,
      0] += (
        b
    )
    x += (
        y
    )
    x = y = (
        a or
        b
    )
    z: int = (
        a
    )
    del (
        a.x,
        a[
            0
        ],
    )
    return x, y, z


def subscripts(a, b):
    return a[
        b
    ][
        b:
        a
    ][
        :, -1,
        None
    ].x


def calls(a, b):
    a(
    )
    a(
        b,
        *b,
        k=a,
        **{
            "l": b
        }
    )
    return a(a(
        b), a(
            b
        )
    )(
        b
    )


def lambdas(a, b):
    f = lambda x: (
        x
        + a
    )
    g = (
        lambda
        x,
        y=b:
        x.y(
            y
        )
    )
    h = (lambda:
         a
         or b)
    return f(
        a
    ), g(b), h()


def walrus(a, b):
    if (
        n := a.x(
            b
        )
    ):
        return n
    return [
        m
        := a,
        (k :=
         b or
         a),
    ]


def strings(a, b):
    x = (
        "a"
        f"{a}"
        f"{b.x}"
    )
    y = f"""
    {a}
    {
    b
    }
    """
    z = (
        "%s"
        "%s"
        % (
            a,
            b,
        )
    )
    w = "{}".format(
        a
    )
    return y, z, w, x


def statements(a, b, t):
    for i, \
            j in zip(
        a,
        b
    ):
        i.x
    for (
        i
    ) in a: pass
    with a.open(
        b
    ) as x, \
            b as y:
        x.y
    with (
        a
        as z,
        b,
    ):
        y.z
    assert (
        a
    ), (
        b.message
    )
    if (
        a.x
    ):
        raise ValueError(
            a,
            b
        ) from (
            KeyError(
                1
            )
        )
    return (
        z
    )


def returns(a, b):
    if a:
        return (
            None
        )
    if b:
        return (
            1
        )
    return (
        a.x
    )(
        b
    )


def constants(t):
    x = (
        1
    )
    y = (
        1
        + 2
    )
    z = [
        1,
        2,
    ]
    w = (
        "a"
        "b"
    )
    v = -(
        1
    )
    for i in (
        1,
        2,
    ):
        t.say(i)
    return (
        x, y, z, w, v, (
            1,
            2,
        ), t.seed in (
            1,
            2,
        ),
    )


def first_expression_of_lines(a, b):
    a(
        b
    )


def first_call_of_lines(a, b):
    (
        a
        .x(b)
        .y(
            b
        )
    )


def first_assignment_of_lines(a, b):
    (
        x
    ) = [
        a,
        b
    ]
    return x


def first_if_of_lines(a, b):
    if (
        a
        and b
    ):
        return 1
    elif (
        b
    ):
        return 2


def first_for_of_lines(a, b):
    for i in (
        a,
        b,
    ):
        i.x


def first_while_of_lines(a, b):
    while (
        not a
        and b
    ):
        return 1


def first_return_of_lines(a, b):
    return {
        "a": a,
        "b": [
            b
        ],
    }


def first_with_of_lines(a, b):
    with (
        a.x(
            b
        ) as x,
        b,
    ):
        x.y


def first_augmented_of_lines(a, b):
    a[
        b
    ] += (
        b.x
    )


def first_delete_of_lines(a):
    del (
        a.x,
        a.y
    )


def first_yield_of_lines(a):
    yield (
        a
    )
    x = (
        yield
        a.x
    )
    x = yield from (
        a
    )
    return (
        x
    )


async def first_await_of_lines(a):
    x = await (
        a
    )
    y = (
        await
        a.f(
            x
        )
    )
    async for i in (
        a
    ):
        i.x
    async with (
        a as z
    ):
        z.x
    return y


def signature_of_lines(
    a,
    b,
    *,
    c=1,
):
    return (
        a,
        b, c
    )


def nested_of_lines(a, b):
    @a.decorate(
        b
    )
    def f(
        x=a,
        *y: b,
    ) -> (
        a
    ):
        return x
    @(
        lambda g: g
    )
    class C(
        object,
    ):
        x = (
            a
        )
        def m(
            self,
        ): return (
            self
        )
    return f, C().m() is not None


def one_line_mixed(a, b): x = a.x(
    b
); y = x; return (x,
                  y)


def match_of_lines(a, b):
    match (
        a,
        b,
    ):
        case (
            x,
            y,
        ) if (
            x
            and y
        ):
            return x
        case [
            x,
            *_,
        ]:
            return (
                x
            )


def continued(a, b):
    x = a.x \
        (b) \
        .y
    if a \
            and b:
        x.z
    return x, \
        a


def nested_calls(a, b):
    return a.one(
        a.two(
            a.three(
                b,
                b.x,
            ).four
        )[
            0
        ],
        [
            a.five(b) for _ in range(1)
        ],
        k=a.six(
            b
        ) + (
            a.seven
            if b
            else a.eight
        ),
    )


def tests_of_lines(a, b):
    if a.x(
        b
    ):
        return 1
    if not a.x(
        b
    ):
        return 2
    if a.x[
        b
    ] == b.y(
        a
    ):
        return 3
    if a in (
        b,
        1
    ):
        return 4
    x = 1 if a.x(
        b
    ) else 2
    while a.x(
        b
    ).y:
        return 5
    assert a.z(
        b
    )
    return [i for i in a if i.x(
        b
    )], x


def used_of_lines(a, b):
    for i in a.x(
        b
    ).y:
        i.z
    for (
        j
    ) in (
        a
        + b
    ): pass
    with (
        a.x
        + b.y
    ) as c, a.x(
        b
    ).z[
        0
    ] as d, (
        a if b
        else b
    ):
        c.v
    x = [
        k
        for i in a.p(
            b
        )
        for k in (
            i
            or b
        ).q(
            a
        )
    ]
    a, b = (
        b.x(
            a
        ),
        a.y
    )
    x = [
        k.z
        for k in b
        if (
            k if a
            else b
        )
    ]
    return x, c, d


async def used_asynchronously_of_lines(a, b):
    async for i in a.x(
        b
    ):
        i.z
    async with a.x(
        b
    ).y as c, (
        a or
        b
    ):
        c.v
    return [
        i
        async for i in b.x(
            a
        )
    ]


def unhashable_of_lines(a, b):
    try:
        return {
            [
                i
            ]:
                i.x(
                    b
                )
            for i in a
        }
    except TypeError:
        pass
    try:
        return {
            a.x(
                []
            ).y: (
                i
                or b
            )
            for i in a if i
        }, {
            a.z.y:
                i.y
                .z
            for i in a
        }
    finally:
        return not (
            a
            in b
        ), {
            [
                i.x
            ]
            for i in a
        }
