"""Gives the work that is measured: models of random weights, and calls that run them once, bare.

Knows nothing of recording. Torch is imported where a model is made, and kept to one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TINY = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 2048,
}
WIDE = {
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "vocab_size": 2048,
}
NARROW = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 256,
}
NEW_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work: `call` does it once, with `ids`. `names` are the methods of the model that it calls."""

    model: Any
    ids: Any
    call: Callable[[], object]
    names: tuple[str, ...] = ("forward",)


def forward(sizes: dict[str, int], batch: int = 2, seq: int = 8) -> Work:
    """A forward of a Llama, eager attention, no gradients."""
    model, ids, torch = _model(sizes, batch, seq)

    def call() -> object:
        with torch.no_grad():
            return model(ids)

    return Work(model, ids, call)


def generate(sizes: dict[str, int], batch: int = 2, seq: int = 8) -> Work:
    """Greedy generation of 16 tokens with a cache."""
    model, ids, torch = _model(sizes, batch, seq)
    options = {"max_new_tokens": NEW_TOKENS, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    mask = torch.ones_like(ids)

    def call() -> object:
        with torch.no_grad():
            return model.generate(ids, attention_mask=mask, **options)

    return Work(model, ids, call, ("forward", "generate"))


def train(sizes: dict[str, int], batch: int = 2, seq: int = 8) -> Work:
    """A training step: loss, backward, AdamW."""
    model, ids, torch = _model(sizes, batch, seq)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def call() -> object:
        optimizer.zero_grad()
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        return loss

    return Work(model, ids, call)


def _model(sizes: dict[str, int], batch: int, seq: int) -> tuple[Any, Any, Any]:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    from transformers.models.llama import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    given: dict[str, Any] = {**sizes, "attn_implementation": "eager"}
    model = LlamaForCausalLM(LlamaConfig(**given)).eval()
    return model, torch.randint(0, sizes["vocab_size"], (batch, seq)), torch
