"""Checks what is said of single values, and of the stacks they were made in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stillframe.errors import UsageError
from stillframe.reading.still import Still
from stillframe.reading.tree import Op

Record = Callable[[str], Still]


def op(still: Still, name: str, at: int = 0) -> Op:
    return [one for one in still.ops() if one.name == name][at]


def test_a_value_and_its_moments(recorded: Record) -> None:
    still = recorded(
        """
        import torch

        def f(x):
            y = x.view(3, 2)
            x.add_(1)
            return y

        a = torch.arange(6.0)
        b = f(a)
        """
    )
    first = still.value(op(still, "a").value.value)
    assert first.facts is not None
    assert (first.facts.count, first.facts.min, first.facts.max, first.facts.mean) == (6, 0.0, 5.0, 2.5)
    assert first.excerpt is not None
    assert (first.excerpt.numbers, first.excerpt.whole) == ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], True)
    assert [moment.name for moment in first.seen] == ["a", "x"]
    assert [(moment.expression, moment.value != first.value.value) for moment in first.others] == [("x.add_(1)", True)]
    view = still.value(op(still, "y").value.value)
    assert view.excerpt is not None
    assert view.excerpt.numbers == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert view.base is not None
    assert view.base.value == first.value.value
    later = still.value(op(still, "b").value.value)
    assert later.excerpt is not None
    assert later.excerpt.numbers == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert {one.value for one in later.sharing} >= {first.value.value}


def test_what_is_not_finite_is_said(recorded: Record) -> None:
    still = recorded(
        """
        import torch

        a = torch.tensor([float("nan"), float("inf"), -float("inf"), 1.0])
        b = torch.tensor([], dtype=torch.int64)
        c = torch.tensor([True, False])
        d = torch.tensor(7)
        e = torch.empty(2, 3, device="meta")
        f = torch.ones(3).to_sparse()
        g = torch.ones(2, dtype=torch.bfloat16)
        h = torch.ones(2, dtype=torch.complex64)
        """
    )
    assert [op(still, name).value.whole for name in "abcdefgh"] == [
        "(4,) f32 [-Inf, Inf] 1 NaN 1 Inf 1 -Inf",
        "(0,) i64",
        "(2,) bool [False, True]",
        "() i64 = 7",
        "(2, 3) f32 meta",
        "(3,) f32 sparse_coo",
        "(2,) bf16 [1, 1]",
        "(2,) c64",
    ]


def test_large_values_keep_their_range(recorded: Record) -> None:
    still = recorded("import torch\nx = torch.arange(300_000).float()\ny = x * 2\n")
    assert op(still, "y").value.whole == "(300000,) f32 [0, 6e+05]"
    report = still.value(op(still, "y").value.value)
    assert report.excerpt is not None
    assert not report.excerpt.whole


def test_no_values_no_range(tmp_path: object, mini_gpt: Still) -> None:
    assert all(one.value.range is not None for one in mini_gpt.ops() if one.name == "q")


def test_stack_of_a_value_an_event_and_a_frame(mini_gpt: Still) -> None:
    scores = op(mini_gpt, "attn_scores")
    stack = mini_gpt.stack(scores.value.value)
    assert [(level.function, level.at.line if level.at else 0) for level in stack.levels] == [
        ("<module>", 59),
        ("MiniGPT.forward", 49),
        ("MiniAttention.forward", 26),
    ]
    assert [level.path for level in stack.levels] == ["", "", "blocks.0.1"]
    assert stack.levels[-1].between == ("Module._wrapped_call_impl", "Module._call_impl")
    assert mini_gpt.stack(f"e{scores.event}").levels == stack.levels
    frame = mini_gpt.stack(f"f{scores.frame}")
    assert [level.function for level in frame.levels] == [level.function for level in stack.levels]


@pytest.mark.parametrize("id", ["e999999", "f999", "v999999", "x1", "", "v", "v-1", "v²"])
def test_ids_that_are_none(mini_gpt: Still, id: str) -> None:
    with pytest.raises(UsageError):
        mini_gpt.stack(id)


def test_dump_gives_every_record_once(mini_gpt: Still) -> None:
    records = list(mini_gpt.dump())
    kinds = [name for name, _ in records]
    assert kinds.count("event") == mini_gpt.recording.event_count
    assert kinds.count("frame") == len(mini_gpt.recording.frames)
    values = [record["id"] for name, record in records if name == "value"]
    assert len(values) == len(set(values))
    contents = {record["id"] for name, record in records if name == "content"}
    assert {record["content"] for name, record in records if name == "value"} - {0} == contents


def test_the_public_names(mini_gpt: Still) -> None:
    import stillframe

    with stillframe.open(mini_gpt.file) as still:
        assert still.manifest["command"] == "run"
        assert list(still.notes) == []
        assert still.overview().roots[0].class_name == "MiniGPT"
        assert still.overview().marks == 2
