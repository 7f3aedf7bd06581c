"""Checks, on marked snippets that were really run, that each line is said to have run or not as it did, and what it
bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from stillframe.errors import UnknownNameError, UsageError
from stillframe.reading.source import FunctionSource, SourceLine
from stillframe.reading.still import Still

Record = Callable[[str], Still]
STATUS = {"ran": "ran", "not": "not_run", "unknown": "unknown", "partly": "partly"}


def line(source: FunctionSource, text: str) -> SourceLine:
    (found,) = [one for one in source.lines if one.text.strip().startswith(text)]
    return found


def bound(source: FunctionSource, text: str) -> list[str]:
    return [
        f"{one.name} {'; '.join(f'{what} x{times}' for what, times in one.texts)}{' ' + one.range.text if one.range else ''}"
        for one in line(source, text).bound
    ]


def test_marked_statements_ran_as_they_are_said_to_have(snippets: Still) -> None:
    (module,) = snippets.source("<module>")
    marked = [(one, mark) for one in module.lines if (mark := re.search(r"# @(\w+)", one.text))]
    wrong = [(one.line, one.status, one.text) for one, mark in marked if one.status != STATUS[mark[1]]]
    assert wrong == []
    assert len(marked) > 195


def test_marked_statements_one_function_at_a_time(snippets: Still) -> None:
    """A function by itself says of its own statements what it says within the module."""
    (module,) = snippets.source("<module>")
    whole = {one.line: one.status for one in module.lines}
    for function in snippets.recording.functions.values():
        if "<" in function.qualname:
            continue
        (alone,) = snippets.source(function.qualname)
        body = [one for one in alone.lines if re.search(r"# @", one.text) and not one.text.lstrip().startswith("def")]
        assert {one.line: one.status for one in body} == {one.line: whole[one.line] for one in body}


def test_lines_without_code_have_no_status(snippets: Still) -> None:
    (several,) = snippets.source("several_lines")
    kinds = {one.text.strip(): one.kind for one in several.lines}
    assert kinds["# a comment within"] == "comment"
    assert kinds["1,"] == "continued"
    assert kinds["# no comment"] == "continued"
    (documented,) = snippets.source("documented")
    assert [one.kind for one in documented.lines] == ["code", *["docstring"] * 5, "code"]
    assert {one.status for one in documented.lines if one.kind == "docstring"} == {""}


def test_conditions_are_put_together_from_their_operands(recorded: Record) -> None:
    still = recorded(
        """
        def f(a, b, c):
            if a and (b or not c):
                pass
            return 1 if a else 2

        f(0, 1, 1)
        f(1, 0, 1)
        f(1, 0, 0)
        f(1, 1, 1)
        """
    )
    (source,) = still.source("f")
    (test,) = line(source, "if a").tests
    assert (test.true, test.false) == (2, 2)
    assert test.operands == (("a", 3, 1), ("b", 1, 2), ("c", 1, 1))
    (ternary,) = line(source, "return 1").tests
    assert (ternary.of, ternary.true, ternary.false) == ("ternary", 3, 1)


def test_names_and_their_values(recorded: Record) -> None:
    still = recorded(
        """
        import torch

        def f(x, *rest, scale=2):
            a, (b, c) = x, (1, 2)
            d = e = x * scale
            d += 1
            e[0] = 7
            *some, last = [1, 2, 3]
            with torch.no_grad() as g:
                pass
            for i, j in [(1, 2), (3, 4)]:
                pass
            if (n := x.sum()) > 3:
                pass
            h = x if scale else None
            k = scale and x
            q, r = x
            x.add_(1)
            return scale and h

        f(torch.ones(2, 3), 5)
        f(torch.zeros(2, 4), 5)
        """
    )
    (source,) = still.source("f")
    assert bound(source, "def f") == [
        "x (2, 3) f32 x1; (2, 4) f32 x1 [0, 1]",
        "rest (5,) x2",
        "scale 2 x2",
    ]
    assert bound(source, "a, (b") == ["a (2, 3) f32 x1; (2, 4) f32 x1 [0, 1]", "b 1 x2", "c 2 x2"]
    assert bound(source, "d = e")[1] == "e (2, 3) f32 x1; (2, 4) f32 x1 [0, 2]"
    assert bound(source, "d += 1") == ["d (2, 3) f32 x1; (2, 4) f32 x1 [1, 3]"]
    assert "e (2, 3) f32 x1; (2, 4) f32 x1 [1, 7]" in bound(source, "e[0]")
    assert bound(source, "*some") == ["last 3 x2"]
    assert bound(source, "for i") == ["i 1 x2; 3 x2", "j 2 x2; 4 x2"]
    assert bound(source, "if (n") == ["n () f32 x2 [0, 6]"]
    assert bound(source, "h = x") == ["h (2, 3) f32 x1; (2, 4) f32 x1 [0, 1]"]
    assert bound(source, "k = scale") == ["k (2, 3) f32 x1; (2, 4) f32 x1 [0, 1]"]
    assert bound(source, "q, r") == ["q, r (2, 3) f32 x1; (2, 4) f32 x1 [0, 1]"]
    assert bound(source, "x.add_") == [" (2, 3) f32 x1; (2, 4) f32 x1 [1, 2]"]


def test_what_is_returned_is_the_operand_that_was_asked_last(recorded: Record) -> None:
    still = recorded(
        """
        def f(a, b):
            return a and b

        def g(a):
            return a or 1 / 0

        f(3, 4)
        f(0, 4)
        try:
            g(0)
        except ZeroDivisionError:
            pass
        """
    )
    (f,) = still.source("f")
    assert bound(f, "return") == ["return 4 x1; 0 x1"]
    (g,) = still.source("g")
    assert bound(g, "return") == []
    assert line(g, "return").raised == ("ZeroDivisionError",)


def test_exact_texts_in_a_file_of_many_scripts(recorded: Record) -> None:
    still = recorded("def 函(注意力):\n    值 = 注意力 + 1; 결과 = 值 * 2\n    return 결과\n\n函(1)\n")
    (source,) = still.source("函")
    assert [(one.name, one.texts) for one in line(source, "值").bound] == [("值", (("2", 1),)), ("결과", (("4", 1),))]
    assert bound(source, "def") == ["注意力 1 x1"]


def test_functions_by_the_end_of_their_names(llama: Still) -> None:
    (source,) = llama.source("LlamaAttention.forward")
    assert source.name == "LlamaAttention.forward"
    assert source.calls == 2
    assert source.paths == ("model.layers.0.self_attn", "model.layers.1.self_attn")
    with pytest.raises(UnknownNameError) as error:
        llama.source("LlamaAttentoin.forward")
    assert "LlamaAttention.forward" in error.value.nearest
    with pytest.raises(UsageError, match="Several functions"):
        llama.source("forward")


def test_the_attention_of_llama(llama: Still) -> None:
    (source,) = llama.source("LlamaAttention.forward")
    assert [text.partition(" [")[0] for text in bound(source, "query_states = self.q_proj")] == [
        "query_states (2, 12, 7, 10) f32 x2"
    ]
    assert [text.partition(" [")[0] for text in bound(source, "query_states, key_states = apply")] == [
        "query_states (2, 12, 7, 10) f32 x2",
        "key_states (2, 3, 7, 10) f32 x2",
    ]
    (test,) = line(source, "if cache is not None").tests
    assert (test.true, test.false) == (2, 0)
    (sdpa,) = llama.source("sdpa_attention_forward")
    assert line(sdpa, "elif q_length == 1").status == "not_run"
    assert line(sdpa, "raise ValueError(").status == "not_run"
    (eager,) = llama.source("modeling_llama.eager_attention_forward".rpartition(".")[2])
    assert eager.calls == 0
    assert {one.status for one in eager.lines} == {"not_run", ""}
