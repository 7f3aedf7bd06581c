"""Names and texts beyond ASCII, tabs and form feeds: each function is one case."""


def größe(a, ñandú, 変数):
    été = a.größe(ñandú) + 変数.x("日本語"); zwei = été
    日本 = [été.y for été in ñandú] if 変数 else "😀" + str(a)
    return {"ключ": 日本, "😀": a.z}["ключ"], zwei


def normalised(ﬁ, t):
    ﬁeld = ﬁ.x
    fi.y
    return field, ﬁeld.ﬁ


def with_tabs(a):
	x = a.x;	y = a.y(x,	a)
	if x:	return y
	return (x,
		y)


def after_emoji(a, t):
    return "😀😀", a.x, t.maybe("é"), a["ü"].y


def mixed(a, b): "ß"; x = a.ü; return (x, "é", b.f("ö", x), f"{x}ä{b}")


def form_feed(a):
    x = a.x

    return x.y(
        a
    )[
        "ü"
    ]


def separators(a):
    x = " "; y = a.x
    a.y[x] = y; a.z = "\x1c"
    return y.z
