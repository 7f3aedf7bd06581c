"""Takes the words of `stillframe read`; builds the model they name, records one run of it, and shows the recording.

Must not import torch before it is sure that the words are good and the recording can be written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stillframe.cli.output import running
from stillframe.cli.show import show_file


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `read` to the commands."""
    parser = commands.add_parser(
        "read",
        help="build a model, run it once, recorded, and show the way through it",
        description="Builds a tiny random model, runs it once on a short text, recorded, and shows the way through it.",
    )
    parser.add_argument("target", metavar="TARGET", help="what to read: a model type, such as llama")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the recording goes (default: TARGET.still here)")
    parser.add_argument("--text", metavar="TEXT", action="append", default=[], help="a text to run on; may be repeated")
    parser.add_argument("--batch", metavar="B", type=int, help="rows in the batch")
    parser.add_argument("--seq", metavar="T", type=int, help="tokens in a row")
    parser.add_argument("--attn", metavar="NAME", default="", help="attention implementation: eager, sdpa, flex_attention")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="makes the random weights (default: 0)")
    parser.add_argument("--no-values", action="store_true", help="keep shapes and other descriptions, no numbers")
    parser.add_argument("--inside", action="store_true", help="open calls into torch.nn, too")
    parser.add_argument("--json", action="store_true", help="show it as JSON (docs/json.md)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Record, and show what was recorded."""
    from stillframe.recording.writer import check_writable

    path = Path(options.output or f"{_file_name(options.target)}.still")
    check_writable(path)
    # Torch and transformers are imported from here on.
    from stillframe.session import ValuePolicy, parse_spec, record_target

    sizes = {name: size for name, size in (("batch", options.batch), ("seq", options.seq)) if size is not None}
    spec = parse_spec(options.target, texts=options.text, attn=options.attn, seed=options.seed, **sizes)

    def on_raise(error: BaseException) -> None:
        print(f"stillframe: the model raised {type(error).__name__}; all up to it is in {path}", file=sys.stderr)

    policy = ValuePolicy(keep_bytes=not options.no_values)
    outcome = record_target(spec, path, policy, inside=options.inside, on_raise=on_raise)
    if outcome.incomplete:
        print(f"stillframe: {path} is incomplete: {outcome.incomplete}", file=sys.stderr)
    return running(lambda: show_file(path, None, None, options.json, False))


def _file_name(target: str) -> str:
    """A file's name for what is read: its own, less what a path has around it."""
    name = target.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "".join(one if one.isalnum() or one in "-_." else "_" for one in name) or "run"
