"""Takes texts and a batch's size and gives real token ids of exactly that size, and the built-in tokenizer behind them.

Must not know which model they are for: only how many rows and tokens, never a config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

SPECIAL_TOKENS = ("<pad>", "<s>", "</s>")
PAD_ID, BOS_ID, EOS_ID = 256, 257, 258
VOCAB_SIZE = 256 + len(SPECIAL_TOKENS)

# Cut into rows of 7 bytes this begins "The cat", " sat on": two different rows, and no padding.
DEFAULT_TEXT = "The cat sat on the mat and watched the rain. Then it slept, and the rain went on. "


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """A batch ready for `model(**tensors)`.

    `tensors`: input_ids (B, T), int64; and attention_mask (B, T), 1 for a token and 0 for padding, only if there is
    padding. `tokens`: what each id stands for, (B, T). `notes`: what was done to the texts to make them fit.
    """

    tensors: Mapping[str, Tensor]
    tokens: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def byte_tokenizer() -> Tokenizer:
    """A tokenizer with a token for each byte, whose id is the byte, and three special ones. Any text round-trips.

    Special tokens never come from text: a "<pad>" that the user typed is five bytes.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    vocab = {character: byte for byte, character in enumerate(_byte_characters())}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    tokenizer.encode_special_tokens = True
    return tokenizer


def _byte_characters() -> list[str]:
    """The visible character that byte-level tokenizers write for each byte: itself if printable, else one past 255."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    stand_ins = iter(range(256, 512))
    return [chr(byte if byte in printable else next(stand_ins)) for byte in range(256)]


def make_inputs(tokenizer: Tokenizer, batch: int, seq: int, texts: Sequence[str] = ()) -> ModelInputs:
    """A batch of exactly (batch, seq) tokens.

    A text is cut into pieces of `seq` tokens, as a training loader does, and its last piece is padded on the right.
    Rows take the pieces in order, all of the first text before the second; if there are fewer pieces than rows they
    are taken again from the first, and if there are more the rest is left out. Notes say which of these happened.
    Without a text of the user's, the built-in one is used, as often as it takes, so that nothing is padded.
    """
    import torch

    notes: list[str] = []
    if texts:
        pieces = [piece for text in texts for piece in _cut(tokenizer.encode(text).ids, seq)]
        notes.extend(_fit_notes(pieces, batch, seq))
    else:
        ids = tokenizer.encode(DEFAULT_TEXT).ids
        pieces = _cut((ids * (batch * seq // len(ids) + 1))[: batch * seq], seq)
    rows = [pieces[index % len(pieces)] for index in range(batch)]
    padded = [row + [PAD_ID] * (seq - len(row)) for row in rows]
    tensors = {"input_ids": torch.tensor(padded)}
    if any(len(row) < seq for row in rows):
        tensors["attention_mask"] = torch.tensor([[1] * len(row) + [0] * (seq - len(row)) for row in rows])
    tokens = tuple(tuple(tokenizer.id_to_token(id) or "" for id in row) for row in padded)
    return ModelInputs(tensors, tokens, tuple(notes))


def _cut(ids: list[int], seq: int) -> list[list[int]]:
    return [ids[start : start + seq] for start in range(0, len(ids), seq)]


def _fit_notes(pieces: Sequence[Sequence[int]], batch: int, seq: int) -> list[str]:
    """What the reader must know about the texts in these pieces, when `batch` rows of `seq` tokens are made of them."""
    notes = []
    total = sum(map(len, pieces))
    used = sum(map(len, pieces[:batch]))
    if used < total:
        rows = f"{batch} row{'s' if batch > 1 else ''} of {seq}"
        notes.append(f"text cut: the first {used} of {total} tokens fit {rows}; --batch {len(pieces)} takes all")
    padding = [seq - len(piece) for piece in pieces[:batch] if len(piece) < seq]
    if padding:
        notes.append(f"text padded: {sum(padding)} of {batch * seq} places hold {SPECIAL_TOKENS[0]}, masked out")
    if len(pieces) < batch:
        notes.append(f"text repeated: it fills {len(pieces)} of {batch} rows, and is taken again for the rest")
    return notes
