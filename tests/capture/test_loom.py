"""Woven code goes into every function that has the source's code, wherever it hides, and comes out again as it was."""

from __future__ import annotations

import asyncio
import functools
import gc
import subprocess
import sys
import textwrap
import types

import pytest

from capture.side_by_side import Seen, codes_in, module_from, woven
from stillframe.capture.places import PlannedSite
from stillframe.capture.roster import Roster
from stillframe.capture.scope import Scope, ScopeRules
from stillframe.capture.sites import Unit, units_of
from stillframe.capture.weave import Loom, functions_alive, inject, key_of, weave_source

SOURCE = """\
import functools


def plain(a):
    return a + 1


def decorate(function):
    def wrapper(a):
        return function(a) * 10
    return wrapper


def decorate_and_tell(function):
    @functools.wraps(function)
    def told(*arguments):
        return function(*arguments)
    return told


@decorate
def hidden(a):
    return a + 2


@decorate_and_tell
@decorate
def hidden_twice(a):
    return a + 3


@functools.lru_cache
def cached(a):
    return a + 4


partial = functools.partial(lambda a, b: a - b, b=5)
table = {"one": lambda a: a + 6, "two": [lambda a: a + 7]}


class Base:
    factor = 8
    apply = lambda self, a: a + 9

    def method(self, a):
        return a * self.factor

    @classmethod
    def of_class(cls, a):
        return a + 10

    @staticmethod
    def static(a):
        return a + 11

    @property
    def prop(self):
        return self.factor + 12

    def __call__(self, a):
        return super().__hash__() and a + 13

    def makes(self, a):
        def inner(b):
            return a + b
        return inner


class Derived(Base):
    def method(self, a):
        return super().method(a) + 14


def generates(a):
    for i in range(a):
        yield i + 15


async def waits(a):
    return a + 16


def fails(a):
    if a:
        raise ValueError(a)
    return fails(1)


def recurses(a):
    return a if a <= 0 else recurses(a - 1)


made_before = Base().makes(17)
bound = Derived().method
"""
PATH = "/nowhere/loomed.py"
CALLS = {
    "plain": lambda m: m.plain(1),
    "hidden": lambda m: m.hidden(1),
    "hidden_twice": lambda m: m.hidden_twice(1),
    "cached": lambda m: m.cached.__wrapped__(1),
    "partial": lambda m: m.partial(1),
    "table": lambda m: m.table["one"](1) + m.table["two"][0](1),
    "apply": lambda m: m.Base().apply(1),
    "method": lambda m: m.Base().method(1),
    "bound": lambda m: m.bound(1),
    "of_class": lambda m: m.Derived.of_class(1),
    "static": lambda m: m.Base.static(1),
    "prop": lambda m: m.Base().prop,
    "call": lambda m: m.Base()(1),
    "made_before": lambda m: m.made_before(1),
    "makes": lambda m: m.Base().makes(1)(2),
    "generates": lambda m: list(m.generates(2)),
    "waits": lambda m: asyncio.run(m.waits(1)),
    "recurses": lambda m: m.recurses(3),
}


@pytest.fixture
def module():
    sys.modules.pop("loomed", None)
    gc.collect()
    yield module_from(SOURCE, PATH, "loomed")
    del sys.modules["loomed"]


def own_functions(module):
    return [function for function in functions_alive() if function.__globals__ is module.__dict__]


@pytest.mark.parametrize("name", CALLS)
def test_a_function_is_found_wherever_it_hides(module, name):
    call, seen = CALLS[name], Seen()
    expected = call(module)
    with woven(SOURCE, PATH, seen.observers):
        assert call(module) == expected
    told = len(seen.sites)
    assert told > 0
    assert call(module) == expected and len(seen.sites) == told, "somebody still observes"


def test_every_function_gets_the_very_code_back(module):
    before = {id(function): function.__code__ for function in own_functions(module)}
    with woven(SOURCE, PATH):
        during = {id(function): function.__code__ for function in own_functions(module)}
        assert set(during) == set(before) and all(during[one] is not before[one] for one in before)
    assert {id(function): function.__code__ for function in own_functions(module)} == before
    assert all(function.__code__ is before[id(function)] for function in own_functions(module))


def test_functions_made_during_the_run_are_restored_too(module):
    with woven(SOURCE, PATH):
        made = module.Base().makes(1)
        during = made.__code__
    plain = next(code for code in codes_in(module.Base.makes.__code__) if code.co_name == "inner")
    assert during is not plain and made.__code__ is plain and made(2) == 3


def test_all_is_restored_after_an_exception_and_twice_does_no_harm(module):
    before = module.fails.__code__
    with pytest.raises(ValueError), woven(SOURCE, PATH) as loom:
        assert module.fails.__code__ is not before
        module.fails(0)
    assert module.fails.__code__ is before
    loom.restore()
    loom.restore_swapped()
    assert module.fails.__code__ is before and module.plain(1) == 2


def test_what_another_swapped_in_meanwhile_is_left_alone(module):
    with woven(SOURCE, PATH):
        module.plain.__code__ = (lambda a: "another's").__code__
    assert module.plain(1) == "another's"


def test_two_looms_one_inside_the_other_leave_all_as_it_was(module):
    before = module.plain.__code__
    with woven(SOURCE, PATH):
        outer = module.plain.__code__
        with woven(SOURCE, PATH):
            assert module.plain(1) == 2
        assert module.plain.__code__ is outer
    assert module.plain.__code__ is before


def test_a_function_that_gc_freeze_hides_is_found(module):
    seen = Seen()
    gc.collect()
    gc.freeze()
    try:
        with woven(SOURCE, PATH, seen.observers):
            assert module.plain(1) == 2 and module.Base().method(1) == 8
    finally:
        gc.unfreeze()
    assert len(seen.sites) > 2
    assert not any(Loom().is_woven(function.__code__) for function in own_functions(module))


def test_a_frame_at_work_goes_on_as_it_began(module):
    steps = module.generates(3)
    assert next(steps) == 15
    seen = Seen()
    with woven(SOURCE, PATH, seen.observers):
        assert next(steps) == 16 and not seen.sites
    assert next(steps) == 17


# ---- what is watched


def test_a_site_nobody_watches_is_not_woven():
    plain = weave_source(SOURCE, PATH, watch=lambda site: False)
    assert plain.sites == ()
    for one, other in zip(codes_in(plain.plain), codes_in(plain.marked), strict=True):
        assert one.co_code == other.co_code and key_of(one)[1:] == key_of(other)[1:]


def test_only_the_kinds_asked_for_are_woven():
    def calls_only(site: PlannedSite) -> bool:
        return site.kind == "enter"

    file = weave_source(SOURCE, PATH, watch=calls_only)
    assert {site.kind for site in file.sites} == {"enter", "param"}
    everything = weave_source(SOURCE, PATH)
    entered = [site for site in everything.sites if site.kind == "enter"]
    assert [site.line for site in file.sites if site.kind == "enter"] == [site.line for site in entered]


def test_only_the_units_asked_for_are_woven(module):
    seen = Seen()
    with woven(SOURCE, PATH, seen.observers, units=[Unit("Base.method", 0), Unit("plain", 4)]):
        module.hidden(1), module.Derived.of_class(1), module.Base.static(1)
        assert not seen.sites
        module.plain(1)
        first = len(seen.sites)
        module.Base().method(1)
        assert 0 < first < len(seen.sites)


def test_a_unit_of_another_line_is_another():
    twice = "if 1:\n    def f(): return 1\nelse:\n    def f(): return 2\n"
    assert units_of(twice) == (Unit("f", 2), Unit("f", 4))
    assert {site.line for site in weave_source(twice, PATH, [Unit("f", 4)]).sites} == {4}


def test_units_are_top_level_functions_methods_and_lambdas():
    names = [unit.qualname for unit in units_of(SOURCE)]
    assert {"plain", "Base.method", "Derived.method", "Base.<lambda>", "<lambda>"} <= set(names)
    assert not any("inner" in name or "wrapper" in name for name in names)


# ---- what cannot be woven


def test_code_that_its_source_no_longer_compiles_to_is_missed(module):
    changed = SOURCE.replace("return a + 1\n", "return a + 100\n")
    loom = Loom()
    loom.take(weave_source(changed, PATH), Seen().observers, 0)
    missed = loom.swap(own_functions(module))
    try:
        assert [function.__name__ for function in missed] == ["plain"]
        assert module.plain(1) == 2
    finally:
        loom.restore()


def test_code_that_moved_by_a_column_is_missed(module):
    changed = SOURCE.replace("    return a + 1\n", "    return  a + 1\n")
    loom = Loom()
    loom.take(weave_source(changed, PATH), Seen().observers, 0)
    try:
        assert [function.__name__ for function in loom.swap(own_functions(module))] == ["plain"]
    finally:
        loom.restore()


def test_what_cannot_be_woven_is_refused_with_a_reason(tmp_path):
    file = tmp_path / "reader.py"
    file.write_text("def f(a):\n    return a\n\n\ndef g(a):\n    return -a\n")
    refused: list[tuple[str, str]] = []
    namespace = module_from(file.read_text(), str(file), "reader")
    file.write_text("def f(a):\n    return a\n\n\ndef g(a):\n    return +a\n")  # changed since it was imported
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    gone = tmp_path / "gone.py"
    registered = []
    roster = Roster(
        Scope(ScopeRules(roots=(str(tmp_path),))),
        Loom(),
        Seen().observers,
        lambda *what: registered.append(what),
        lambda subject, reason: refused.append((subject, reason)),
    )
    made = types.FunctionType(compile("def h(): return 1", str(gone), "exec").co_consts[0], {})
    try:
        roster.watch_functions([namespace.f, namespace.g, made])
        roster.watch_file(str(broken), "broken")
        assert roster.loom.is_woven(namespace.f.__code__) and not roster.loom.is_woven(namespace.g.__code__)
    finally:
        roster.loom.restore()
    reasons = dict(refused)
    assert len(reasons) == len(refused) == 3
    assert "cannot be read" in reasons[str(gone)]
    assert "SyntaxError" in reasons[str(broken)]
    [changed] = [subject for subject in reasons if subject.startswith("reader.py")]
    assert "g (line 5)" in changed and "the file changed since" in reasons[changed]


def test_a_function_of_no_source_is_left_as_it_is():
    made = types.FunctionType(compile("def h(): return 1", "<made>", "exec").co_consts[0], {})
    loom = Loom()
    assert not loom.swap_one(made) and loom.swap([made]) == [] and made() == 1


# ---- code objects


def test_class_bodies_remember_whose_the_variables_of_comprehensions_are():
    """Code with constants of its own that `code.replace` would have made forget them (see `weave.inject`)."""
    source = textwrap.dedent(
        """
        import sys
        def f(a):
            class A:
                x = a
                y = [x for x in (1, 2)]
                z = lambda self: self.x
                seen = sorted(name for name in sys._getframe().f_locals if len(name) == 1)
                again = x
            return A.x, A.y, A().z(), A.seen, A.again
        """
    )
    module = module_from(source, PATH, "bodies")
    seen = Seen()

    def trace(frame, event, argument):
        dict(frame.f_locals)
        return trace

    def run():
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return module.f(5)
        finally:
            sys.settrace(before)

    expected = run()
    with woven(source, PATH, seen.observers):
        assert run() == expected
    assert seen.sites


def test_injecting_changes_constants_and_nothing_else():
    file = weave_source(SOURCE, PATH)
    code = inject(file.marked, Seen().observers.at_markers(), 1000)
    for one, other in zip(codes_in(file.marked), codes_in(code), strict=True):
        kept = ("co_code", "co_names", "co_varnames", "co_linetable", "co_exceptiontable", "co_flags", "co_stacksize")
        assert [getattr(one, name) for name in kept] == [getattr(other, name) for name in kept]
        assert not any(isinstance(constant, str) and constant.startswith("\0still") for constant in other.co_consts)


def test_weaving_needs_no_torch():
    run = "import sys; import stillframe.capture.weave, stillframe.capture.cache; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", run], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_wraps_keeps_telling_of_the_function_it_wraps(module):
    with woven(SOURCE, PATH):
        assert module.hidden_twice.__wrapped__.__name__ == "wrapper"
        assert functools.reduce(lambda one, _: getattr(one, "__wrapped__", one), range(3), module.hidden_twice)(1) == 40
