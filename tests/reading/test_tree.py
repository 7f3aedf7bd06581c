"""Checks the way through real recordings: calls, names, shapes, numbers, what is folded and what is left out."""

from __future__ import annotations

from collections.abc import Callable

from stillframe.reading.still import Still
from stillframe.reading.tree import Call, Op, Stop, Way, paths_text

Record = Callable[[str], Still]


def outline(way: Way) -> list[str]:
    """A way in a tiny notation: depth as dots, calls with their paths, ops with shape and dtype."""
    lines = []
    for step in way.steps:
        times = f" x{step.times}" if step.times > 1 else ""
        dots = "." * step.depth
        if isinstance(step, Call):
            lines.append(f"{dots}{step.function}({paths_text(step.paths)}){times}")
        elif isinstance(step, Op):
            lines.append(f"{dots}{step.name or step.expression} {step.value.text}{times}")
        else:
            lines.append(f"{dots}!{' '.join(name for name, _ in step.names)}{times}")
    return lines


def test_mini_gpt(mini_gpt: Still) -> None:
    assert outline(mini_gpt.path()) == [
        "<module>()",
        ".input_ids (2, 8) i64",
        ".MiniGPT.forward()",
        "..hidden_states (2, 8, 32) f32",
        "..residual (2, 8, 32) f32 x2",
        "..MiniAttention.forward(blocks.0–1.1) x2",
        "...q (2, 8, 32) f32",
        "...k (2, 8, 32) f32",
        "...v (2, 8, 32) f32",
        "...attn_scores (2, 8, 8) f32",
        "...!self hidden_states q k v attn_scores",
        "...attn_weights (2, 8, 8) f32",
        "...attn_output (2, 8, 32) f32",
        "...return (2, 8, 32) f32",
        "..hidden_states (2, 8, 32) f32 x2",
        "..residual (2, 8, 32) f32 x2",
        "..hidden_states (2, 8, 32) f32 x2",
        "..return (2, 8, 1000) f32",
        ".logits (2, 8, 1000) f32",
    ]


def test_softmax_rows_lie_between_0_and_1(mini_gpt: Still) -> None:
    (weights,) = [step for step in mini_gpt.path().steps if isinstance(step, Op) and step.name == "attn_weights"]
    assert weights.value.range is not None
    assert 0 < weights.value.range.min < weights.value.range.max < 1  # type: ignore[operator]
    assert weights.value.range.count == 2 * 8 * 8
    assert weights.expression == "torch.softmax(attn_scores, dim=-1)"
    assert (weights.place.file, weights.place.line) == ("mini_gpt.py", 28)


def test_every_place_is_where_its_name_stands(llama: Still) -> None:
    files = {file.package_path: file.text.split("\n") for file in llama.recording.files.values()}
    for op in llama.ops(everything=True):
        assert op.expression.split("\n")[0] in files[op.place.file][op.place.line - 1]
        if op.how == "assign" and "\n" not in op.expression:
            assert op.name.split("[")[0] in files[op.place.file][op.place.line - 1]


def test_llama_layers_are_folded(llama: Still) -> None:
    lines = outline(llama.path())
    assert "..LlamaDecoderLayer.forward(model.layers.0–1) x2" in lines
    assert "..hidden_states (2, 7, 72) f32 x2" in lines
    assert sum("LlamaAttention.forward" in line for line in lines) == 1
    assert lines[-1] == ".logits (2, 7, 259) f32"


def test_helpers_without_tensors_are_left_out_and_counted(llama: Still) -> None:
    way, whole = llama.path(), llama.path(everything=True)
    shown = {step.function for step in way.steps if isinstance(step, Call)}
    assert "AttentionInterface.get_interface" not in shown
    assert "sdpa_attention_forward" in shown
    assert way.left_out > 0
    assert whole.left_out == whole.unnamed == 0
    every = {step.function for step in whole.steps if isinstance(step, Call)}
    assert "AttentionInterface.get_interface" in every
    assert {frame.function for frame in llama.recording.frames.values()} == {
        id for id, one in llama.recording.functions.items() if one.qualname in every and _ran(llama, id)
    }


def _ran(still: Still, function: int) -> bool:
    return any(frame.function == function for frame in still.recording.frames.values())


LAYERS = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.wide = wide
    def forward(self, x):
        y = torch.cat([x] * self.wide, -1)
        return self.helped(y) if self.wide == 3 else y[..., :4]
    def helped(self, y):
        z = y * 2
        return z[..., :4]

class Model(nn.Module):
    def __init__(self, *wides):
        super().__init__()
        self.layers = nn.ModuleList(Layer(wide) for wide in wides)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

Model({wides})(torch.ones(2, 4))
"""


def test_layers_that_differ_are_kept_apart(recorded: Record) -> None:
    lines = outline(recorded(LAYERS.replace("{wides}", "2, 2, 2, 5, 3, 3, 2")).path())
    assert [line for line in lines if "Layer.forward" in line] == [
        "..Layer.forward(layers.0–2) x3",
        "..Layer.forward(layers.3)",
        "..Layer.forward(layers.4–5) x2",
        "..Layer.forward(layers.6)",
    ]
    assert lines.count("...y (2, 8) f32") == 2
    assert lines.count("...y (2, 20) f32") == 1
    assert lines.count("....z (2, 12) f32") == 1


def test_steps_are_folded_by_their_groups(recorded: Record) -> None:
    way = recorded("import torch\nx = torch.ones(2)\nfor i in range(5):\n    x = x + 1\n    y = x * 2\n").path()
    assert outline(way) == ["<module>()", ".x (2,) f32", ".x (2,) f32 x5", ".y (2,) f32 x5"]


def test_deep_recursion_is_no_trouble(recorded: Record) -> None:
    still = recorded(
        """
        import torch

        def f(x, n):
            y = x + n
            return f(y, n - 1) if n else y

        f(torch.zeros(2), 400)
        """
    )
    calls = [step for step in still.path().steps if isinstance(step, Call)]
    assert max(step.depth for step in calls) == 401
    assert len(still.stack("f402").levels) == 402


def test_breakpoints_one_after_another_stay_in_order(recorded: Callable[[str], Still]) -> None:
    still = recorded("""
        import torch
        def f():
            x = torch.ones(2)
            breakpoint()
            breakpoint()
            pass; breakpoint()
            return x
        f()
    """)
    assert [step.place.line for step in still.path(everything=True).steps if isinstance(step, Stop)] == [5, 6, 7]


def test_breakpoints_stand_where_they_were_met(mini_gpt: Still) -> None:
    (stop,) = [step for step in mini_gpt.path().steps if isinstance(step, Stop)]
    assert (stop.place.line, stop.times) == (27, 1)
    names = dict(stop.names)
    assert mini_gpt.value(names["attn_scores"]).value.shape == (2, 8, 8)
