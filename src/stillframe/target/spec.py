"""Takes the user's words for what is to be run and gives a frozen `Spec`, or an error with the nearest valid names.

Must not import torch or transformers while the words are good: only an unknown name is worth the wait.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass

from stillframe.errors import UnknownNameError, UsageError

BUILDABLE = ("llama",)
ATTENTIONS = ("eager", "sdpa", "flex_attention")
DEFAULT_BATCH = 2
DEFAULT_SEQ = 7
INSTALL_MODELS = "pip install 'stillframe[models]'"


@dataclass(frozen=True, slots=True)
class Spec:
    """What is to be run.

    `target` is the text as the user gave it; `kind` is what it names, so far always "model_type"; `name` is that name.
    `batch` (B) and `seq` (T) are counts of rows and of tokens in a row. `texts` are what the rows are made of, ()
    for the built-in text. `attn` is the attention implementation, "" for the library's own. `seed` makes the weights.
    """

    target: str
    kind: str
    name: str
    batch: int = DEFAULT_BATCH
    seq: int = DEFAULT_SEQ
    texts: tuple[str, ...] = ()
    attn: str = ""
    seed: int = 0


def parse_spec(
    target: str,
    *,
    batch: int = DEFAULT_BATCH,
    seq: int = DEFAULT_SEQ,
    texts: Sequence[str] = (),
    attn: str = "",
    seed: int = 0,
) -> Spec:
    """The Spec these words ask for. Raises UsageError, or UnknownNameError with the nearest valid names."""
    _check_count("batch", batch)
    _check_count("seq", seq)
    if attn and attn not in ATTENTIONS:
        todo = f"Name one of {', '.join(ATTENTIONS)}, or leave it out for the library's own choice."
        raise UnknownNameError("unknown-attention", "attention implementation", attn, ATTENTIONS, todo)
    for text in texts:
        _check_text(text)
    _check_model_type(target)
    return Spec(target, "model_type", target, batch, seq, tuple(texts), attn, seed)


def _check_count(name: str, count: int) -> None:
    if count < 1:
        raise UsageError(
            "bad-count",
            f"The {name} size asked for is {count}.",
            "A batch holds at least one row, and a row at least one token.",
            f"Give --{name} a whole number from 1 up.",
        )


def _check_text(text: str) -> None:
    asked = f"The text to tokenise is {text[:40]!r}."
    if not text:
        raise UsageError("bad-text", asked, "It has no token.", "Give a text of at least one character.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            "bad-text",
            asked,
            f"It is not valid Unicode: {error.reason} at character {error.start + 1}.",
            "Give the text in the terminal's own encoding.",
        ) from error


def _check_model_type(target: str) -> None:
    if importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None:
        raise UsageError(
            "models-not-installed",
            f"Building {target!r} needs torch and transformers.",
            "At least one of them is not installed here; reading recordings works without.",
            f"Install them: {INSTALL_MODELS}",
        )
    if target in BUILDABLE:
        return
    here = f"This version builds {', '.join(BUILDABLE)}"
    if not re.fullmatch(r"[\w.-]+", target) or target.endswith(".py"):
        raise UsageError(
            "target-not-a-model-type",
            f"Read {target!r}.",
            "That is not the name of a model type.",
            f"{here}: stillframe read {BUILDABLE[0]}. A script is run by: stillframe run SCRIPT",
        )
    known = causal_lm_types()
    if target in known:
        raise UsageError(
            "model-type-not-buildable",
            f"Read the model type {target!r}.",
            "The installed transformers knows it, but stillframe cannot build it yet.",
            f"{here}. To record {target!r} today, build it in a script of yours and: stillframe run SCRIPT",
        )
    raise UnknownNameError("unknown-model-type", "causal language model type", target, known, f"{here} only.")


def causal_lm_types() -> tuple[str, ...]:
    """The model types the installed transformers has a causal language model for. Takes the time of importing torch."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return tuple(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
