"""Takes a `Spec` and gives a tiny random model of that type, whose sizes tell their symbols apart.

Must not know what is done with the model, nor import more of transformers than the one model needs.

The sizes of the tiny Llama, and why. A size should name its symbol, so every one that can be an axis of a tensor is
unlike every other, products included:

    B 2   T 7   B*T 14   B*n_h 24   B*n_kv 6                (the default batch; B*n: heads folded into the batch)
    n_h 12 = n_kv 3 × n_rep 4                               (n_rep = 2 would be B, n_kv = n_rep would hide repeat_kv)
    d 10, d/2 5 (rotary halves), n_h*d 120, n_kv*d 30, (n_h + 2*n_kv)*d 180 (fused q, k and v)
    H 72: a multiple of n_h, as the config demands, but not n_h*d, so that o_proj is seen to change the width
    I 100, 2*I 200 (fused gate and up)   V 259 (the tokenizer's size)

Two coincidences cannot be helped: L = B = 2 (L is never an axis), and whatever another `--batch` or `--seq` brings,
which the notes name. Weights are drawn with a standard deviation of 1/√H, not the released 0.02, which belongs to
H in the thousands: so queries and keys come out near unit size, and the attention weights differ from each other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stillframe.target.inputs import BOS_ID, EOS_ID, PAD_ID, byte_tokenizer
from stillframe.target.spec import Spec

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import nn

RANDOM_WEIGHTS = "random weights: structure, not quality"


@dataclass(frozen=True, slots=True)
class Built:
    """A model ready to run.

    `sizes` maps symbols ("B", "n_h", "n_h*d", …) to sizes. `n_parameters` counts elements, tied ones once. `attn` is
    the attention implementation in force. `notes` are what a reader must know before trusting what the model does.
    """

    spec: Spec
    model: nn.Module
    tokenizer: Tokenizer
    class_name: str
    source_file: str
    sizes: Mapping[str, int]
    n_parameters: int
    attn: str
    notes: tuple[str, ...]


def build(spec: Spec) -> Built:
    """The model that `spec` asks for, in eval mode. Torch's random state is left as it was."""
    return BUILDERS[spec.name](spec)


def build_llama(spec: Spec) -> Built:
    """A Llama of two layers with grouped-query attention, of the sizes this module's docstring explains."""
    import torch
    from transformers.models.llama import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer()
    sizes = grouped_query_sizes(
        batch=spec.batch,
        seq=spec.seq,
        n_heads=12,
        n_kv_heads=3,
        head_dim=10,
        hidden=72,
        intermediate=100,
        vocab=tokenizer.get_vocab_size(),
        n_layers=2,
    )
    given: dict[str, Any] = {"attn_implementation": spec.attn} if spec.attn else {}
    config = LlamaConfig(
        vocab_size=sizes["V"],
        hidden_size=sizes["H"],
        intermediate_size=sizes["I"],
        num_hidden_layers=sizes["L"],
        num_attention_heads=sizes["n_h"],
        num_key_value_heads=sizes["n_kv"],
        head_dim=sizes["d"],
        max_position_embeddings=max(2048, spec.seq),
        initializer_range=0.12,
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        **given,
    )
    # Not torch.manual_seed, which would also seed every accelerator for good.
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(spec.seed)
        model = LlamaForCausalLM(config).eval()
    return Built(
        spec=spec,
        model=model,
        tokenizer=tokenizer,
        class_name=type(model).__name__,
        source_file=inspect.getfile(type(model)),
        sizes=sizes,
        n_parameters=sum(parameter.numel() for parameter in model.parameters()),
        attn=model.config._attn_implementation,
        notes=(RANDOM_WEIGHTS, *coincidences(sizes)),
    )


BUILDERS: Mapping[str, Callable[[Spec], Built]] = {"llama": build_llama}


def grouped_query_sizes(
    *,
    batch: int,
    seq: int,
    n_heads: int,
    n_kv_heads: int,
    head_dim: int,
    hidden: int,
    intermediate: int,
    vocab: int,
    n_layers: int,
) -> dict[str, int]:
    """Symbols, and the products of them that can be an axis, with their sizes."""
    return {
        "B": batch,
        "T": seq,
        "L": n_layers,
        "H": hidden,
        "n_h": n_heads,
        "n_kv": n_kv_heads,
        "n_rep": n_heads // n_kv_heads,
        "d": head_dim,
        "d/2": head_dim // 2,
        "I": intermediate,
        "V": vocab,
        "n_h*d": n_heads * head_dim,
        "n_kv*d": n_kv_heads * head_dim,
        "(n_h+2*n_kv)*d": (n_heads + 2 * n_kv_heads) * head_dim,
        "2*I": 2 * intermediate,
        "B*T": batch * seq,
        "B*n_h": batch * n_heads,
        "B*n_kv": batch * n_kv_heads,
    }


def coincidences(sizes: Mapping[str, int]) -> tuple[str, ...]:
    """One note for each size above 1 that several symbols share: such an axis cannot say which it is. L is no axis."""
    sharing: dict[int, list[str]] = {}
    for symbol, size in sizes.items():
        if symbol != "L" and size > 1:
            sharing.setdefault(size, []).append(symbol)
    return tuple(
        f"size {size} is {' = '.join(symbols)} here: an axis of {size} does not tell them apart"
        for size, symbols in sorted(sharing.items())
        if len(symbols) > 1
    )
