"""Every model file of the installed transformers weaves whole, and un-weaves: no function is left out, none changed."""

from __future__ import annotations

import importlib.util
import inspect
import types
from pathlib import Path

import pytest

from capture.side_by_side import Seen, codes_in
from stillframe.capture.weave import Loom, weave_source

FOUND = importlib.util.find_spec("transformers")  # looks for its place, imports nothing


@pytest.mark.skipif(FOUND is None or FOUND.origin is None, reason="transformers is not installed: it has no files to weave")
def test_every_function_of_every_model_file_is_woven_and_restored(capsys):
    assert FOUND is not None and FOUND.origin is not None
    files = sorted(Path(FOUND.origin).parent.glob("models/*/modeling_*.py"))
    assert len(files) > 100
    seen = Seen()
    refused: list[str] = []
    functions = sites = 0
    for file in files:
        source, path = file.read_text(encoding="utf-8"), str(file)
        loom = Loom()
        woven = weave_source(source, path)
        loom.take(woven, seen.observers, 0)
        sites += len(woven.sites)
        made: list[tuple[types.FunctionType, types.CodeType]] = []
        for code in codes_in(compile(source, path, "exec", dont_inherit=True)):
            if not code.co_flags & inspect.CO_OPTIMIZED:
                continue  # a class body
            function = types.FunctionType(code, {}, closure=tuple(types.CellType() for _ in code.co_freevars))
            made.append((function, code))
            if not loom.swap_one(function):
                refused.append(f"{path}:{code.co_firstlineno} {code.co_qualname}: is not what its source compiles to")
            assert loom.is_woven(function.__code__) == (function.__code__ is not code)
        functions += len(made)
        loom.restore_swapped()
        assert all(function.__code__ is code for function, code in made)
    with capsys.disabled():
        told = f"{functions:,} functions with {sites:,} sites woven and restored, {len(refused)} refused"
        print(f"\n{len(files)} model files: {told}")
    assert refused == []
