"""Checks that every text comes back from its tokens, and that a batch has the size asked for, however long the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from stillframe.target.inputs import (  # noqa: E402
    BOS_ID,
    EOS_ID,
    PAD_ID,
    SPECIAL_TOKENS,
    VOCAB_SIZE,
    byte_tokenizer,
    make_inputs,
)

TOKENIZER = byte_tokenizer()


@given(st.text())
def test_any_text_round_trips_and_ids_are_bytes(text: str) -> None:
    ids = TOKENIZER.encode(text).ids
    assert ids == list(text.encode())
    assert TOKENIZER.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize(
    "text",
    [
        "定格:用断点读懂大模型源码。",
        "🙂👩‍👩‍👧‍👦",
        "<pad><s></s>",
        " \t\r\n\0 ",
        "e\u0301 \u00e9",
        "\u202eabc",
        "a" * 5000,
    ],
)
def test_texts_that_break_tokenizers(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text).ids, skip_special_tokens=False) == text


def test_vocabulary() -> None:
    assert TOKENIZER.get_vocab_size() == VOCAB_SIZE == 259
    assert [TOKENIZER.id_to_token(id) for id in (PAD_ID, BOS_ID, EOS_ID)] == list(SPECIAL_TOKENS)
    assert TOKENIZER.id_to_token(ord("T")) == "T"
    assert TOKENIZER.decode([PAD_ID, ord("T"), EOS_ID]) == "T"


def test_default_text_fills_the_default_batch() -> None:
    inputs = make_inputs(TOKENIZER, 2, 7)
    assert set(inputs.tensors) == {"input_ids"}
    assert inputs.tensors["input_ids"].dtype == torch.int64
    assert [bytes(row) for row in inputs.tensors["input_ids"].tolist()] == [b"The cat", b" sat on"]
    assert inputs.tokens == (("T", "h", "e", "Ġ", "c", "a", "t"), ("Ġ", "s", "a", "t", "Ġ", "o", "n"))
    assert inputs.notes == ()


@given(st.integers(1, 5), st.integers(1, 200), st.lists(st.text(min_size=1, max_size=30), max_size=4))
def test_size_is_as_asked_and_what_is_padding_is_masked(batch: int, seq: int, texts: list[str]) -> None:
    inputs = make_inputs(TOKENIZER, batch, seq, texts)
    ids = inputs.tensors["input_ids"]
    assert ids.shape == (batch, seq)
    assert [len(row) for row in inputs.tokens] == [seq] * batch
    padding = ids == PAD_ID
    assert padding.any() == ("attention_mask" in inputs.tensors)
    if padding.any():
        assert torch.equal(inputs.tensors["attention_mask"], (~padding).long())
    assert not padding[:, 0].any()
    assert any("padded" in note for note in inputs.notes) == bool(padding.any())


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4), st.integers(1, 40))
def test_enough_rows_hold_all_of_the_text(texts: list[str], seq: int) -> None:
    batch = sum(-(-len(text.encode()) // seq) for text in texts)
    inputs = make_inputs(TOKENIZER, batch, seq, texts)
    assert TOKENIZER.decode(inputs.tensors["input_ids"].flatten().tolist()) == "".join(texts)
    assert not any("cut" in note or "repeated" in note for note in inputs.notes)


def test_notes_count_tokens() -> None:
    assert make_inputs(TOKENIZER, 2, 7, ["a" * 20]).notes == (
        "text cut: the first 14 of 20 tokens fit 2 rows of 7; --batch 3 takes all",
    )
    assert make_inputs(TOKENIZER, 2, 7, ["你好"]).notes == (
        "text padded: 1 of 14 places hold <pad>, masked out",
        "text repeated: it fills 1 of 2 rows, and is taken again for the rest",
    )
