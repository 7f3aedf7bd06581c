"""Checks that good words become a Spec without waiting for torch, and that bad ones get the nearest good ones."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stillframe.errors import UnknownNameError, UsageError
from stillframe.target import spec as spec_module
from stillframe.target.build import BUILDERS
from stillframe.target.spec import BUILDABLE, Spec, parse_spec


def test_defaults() -> None:
    assert parse_spec("llama") == Spec("llama", "model_type", "llama", batch=2, seq=7, texts=(), attn="", seed=0)


def test_all_words() -> None:
    spec = parse_spec("llama", batch=1, seq=12, texts=["你好"], attn="eager", seed=3)
    assert spec == Spec("llama", "model_type", "llama", 1, 12, ("你好",), "eager", 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.batch = 2  # type: ignore[misc]


def test_buildable_names_are_the_builders() -> None:
    assert set(BUILDABLE) == set(BUILDERS)


@pytest.mark.parametrize(
    ("target", "words", "slug", "says"),
    [
        ("lama", {}, "unknown-model-type", "llama"),
        ("gptt2", {}, "unknown-model-type", "gpt2"),
        ("gpt2", {}, "model-type-not-buildable", "cannot build it yet"),
        ("train.py", {}, "target-not-a-model-type", "stillframe run"),
        ("model.py:Net", {}, "target-not-a-model-type", "stillframe run"),
        ("", {}, "target-not-a-model-type", "llama"),
        ("llama", {"batch": 0}, "bad-count", "--batch"),
        ("llama", {"seq": -1}, "bad-count", "--seq"),
        ("llama", {"attn": "spda"}, "unknown-attention", "sdpa"),
        ("llama", {"attn": "flash_attention_2"}, "unknown-attention", "flex_attention"),
        ("llama", {"texts": [""]}, "bad-text", "no token"),
        ("llama", {"texts": ["fine", "\udcff"]}, "bad-text", "not valid Unicode"),
    ],
)
def test_bad_words(target: str, words: dict[str, Any], slug: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(target, **words)
    assert caught.value.slug == slug
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


def test_unknown_is_told_from_not_yet_buildable() -> None:
    with pytest.raises(UnknownNameError):
        parse_spec("lama")
    with pytest.raises(UsageError) as known:
        parse_spec("gpt2")
    assert not isinstance(known.value, UnknownNameError)


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_without_the_models_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(UsageError) as caught:
        parse_spec("llama")
    assert caught.value.slug == "models-not-installed"
    assert "pip install 'stillframe[models]'" in str(caught.value)


def test_good_words_import_neither_torch_nor_transformers() -> None:
    source = str(Path(spec_module.__file__).parents[2])
    code = f"""
import sys
sys.path.insert(0, {source!r})
from stillframe.target import build, inputs, scenario, script, spec
spec.parse_spec("llama", attn="sdpa")
assert not {{"torch", "transformers", "tokenizers"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
