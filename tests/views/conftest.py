"""Gives the tests of views made-up findings, so that no recording is needed."""

from __future__ import annotations

import pytest

from stillframe.reading.describe import Described, Range
from stillframe.reading.index import Place
from stillframe.reading.overview import Overview
from stillframe.reading.tree import Call, Op, Stop, Way


def tensor(id: int, *shape: int, low: float = -1.0, high: float = 1.0, nan: int = 0) -> Described:
    text = f"({', '.join(map(str, shape))}) f32"
    return Described(id, "tensor", text, "float32", shape, Range(low, high, nan, 0, 0, 12))


def op(depth: int, name: str, value: Described, line: int, *, times: int = 1, how: str = "assign") -> Op:
    return Op(depth, line, depth, name, how, f"make({name})", "Call", True, times, Place("pkg/model.py", line), value)


@pytest.fixture
def way() -> Way:
    steps = (
        Call(0, 1, "Model.forward", "", "pkg.model.Model", ("",), 1, "forward", Place("pkg/model.py", 10), 2),
        op(1, "x", tensor(7, 2, 3), 11),
        Call(1, 2, "Layer.forward", "layers.0", "Layer", ("layers.0", "layers.1"), 2, "forward", Place("pkg/model.py", 3), 0),
        op(2, "scores", tensor(8, 2, 2, nan=1), 4),
        Stop(2, 1, 2, 1, Place("pkg/model.py", 5), (("self", 1), ("scores", 8))),
        op(2, "return", tensor(9, 2, 3), 6, how="return"),
        Call(2, 3, "helper", "", "", (), 1, "recompute", Place("pkg/model.py", 30), 0),
        op(1, "x", tensor(9, 2, 3), 12, times=2),
    )
    return Way(steps, 2, 5)


@pytest.fixture
def overview() -> Overview:
    return Overview(
        command="read",
        target="tiny",
        args=(),
        class_name="Model",
        source_file="pkg/model.py",
        scenario="forward",
        ended="finished",
        exit_code=None,
        started="2026-01-01T00:00:00+00:00",
        seconds=0.25,
        python="3.11.7",
        versions={"torch": "2.13.0"},
        sizes={"B": 2, "T": 3, "B*T": 6},
        n_parameters=1234,
        attn="sdpa",
        tokens=(("a", "Ġb"),),
        roots=(),
        events=40,
        calls=5,
        marks=1,
        files=1,
        failures=(),
        caught=0,
        notes=(("model", "", "random weights: structure, not quality"), ("incomplete", "observer", "something is missing")),
    )
