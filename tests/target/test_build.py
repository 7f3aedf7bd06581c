"""Checks that the tiny Llama has telling sizes, grouped-query attention, and weights that only the seed decides."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from stillframe.errors import UnknownNameError  # noqa: E402
from stillframe.target.build import RANDOM_WEIGHTS, build, coincidences  # noqa: E402
from stillframe.target.inputs import VOCAB_SIZE, make_inputs  # noqa: E402
from stillframe.target.scenario import scenario_called  # noqa: E402
from stillframe.target.spec import parse_spec  # noqa: E402


def test_what_is_built() -> None:
    built = build(parse_spec("llama"))
    assert built.class_name == "LlamaForCausalLM"
    assert built.source_file.endswith("modeling_llama.py")
    assert built.notes == (RANDOM_WEIGHTS,)
    assert built.attn == "sdpa"
    assert not built.model.training
    assert built.n_parameters == sum(tensor.numel() for tensor in built.model.state_dict().values())
    assert len(built.model.model.layers) == built.sizes["L"] == 2


def test_sizes_tell_their_symbols_apart() -> None:
    sizes = dict(build(parse_spec("llama")).sizes)
    assert sizes.pop("L") == sizes["B"]
    assert len(set(sizes.values())) == len(sizes), sizes
    flat = {"B*T*H": 2 * 7 * 72, "B*H": 2 * 72, "T*H": 7 * 72, "T*T": 49, "T+1": 8, "B*V": 2 * 259, "1": 1}
    assert not set(flat.values()) & set(sizes.values())
    assert sizes["n_rep"] > 1 and sizes["n_kv"] > 1


def test_sizes_are_those_of_the_weights() -> None:
    built = build(parse_spec("llama"))
    sizes, layer = built.sizes, built.model.model.layers[0]
    assert built.model.model.embed_tokens.weight.shape == (sizes["V"], sizes["H"]) == (VOCAB_SIZE, 72)
    assert layer.self_attn.q_proj.weight.shape == (sizes["n_h*d"], sizes["H"])
    assert layer.self_attn.k_proj.weight.shape == (sizes["n_kv*d"], sizes["H"])
    assert layer.mlp.up_proj.weight.shape == (sizes["I"], sizes["H"])
    assert built.model.config.head_dim == sizes["d"] == 2 * sizes["d/2"]


def test_coincidences_are_named() -> None:
    notes = build(parse_spec("llama", batch=3, seq=10)).notes
    assert any("size 10 is T = d here" in note for note in notes)
    assert any("size 3 is B = n_kv here" in note for note in notes)
    assert any("size 30 is n_kv*d = B*T here" in note for note in notes)
    assert coincidences({"B": 1, "T": 1, "L": 2, "H": 2}) == ()


def test_only_the_seed_decides_the_weights() -> None:
    torch.manual_seed(1)
    first = build(parse_spec("llama")).model.state_dict()
    torch.manual_seed(2)
    again = build(parse_spec("llama", attn="eager")).model.state_dict()
    other = build(parse_spec("llama", seed=1)).model.state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["lm_head.weight"], other["lm_head.weight"])


def test_torch_is_left_as_it_was() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    state = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
    build(parse_spec("llama"))
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()) == state


def test_attention_ways_agree_and_are_the_ones_asked_for() -> None:
    logits = []
    for attn in ("eager", "sdpa", "flex_attention"):
        built = build(parse_spec("llama", attn=attn))
        assert built.attn == attn
        inputs = make_inputs(built.tokenizer, 2, 7)
        logits.append(scenario_called("forward")(built.model, inputs.tensors).logits)
    assert logits[0].shape == (2, 7, VOCAB_SIZE)
    for one, other in itertools.pairwise(logits):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_attention_weights_are_worth_looking_at() -> None:
    """With the released 0.02 they would all be nearly alike at this width."""
    built = build(parse_spec("llama", attn="eager"))
    with torch.no_grad():
        output = built.model(**make_inputs(built.tokenizer, 2, 7).tensors, output_attentions=True)
    last_row = output.attentions[0][:, :, -1]
    assert last_row.std(dim=-1).mean() > 0.05


def test_forward_needs_no_gradients() -> None:
    built = build(parse_spec("llama"))
    output = scenario_called("forward")(built.model, make_inputs(built.tokenizer, 2, 7).tensors)
    assert not output.logits.requires_grad
    assert torch.is_grad_enabled()


def test_unknown_scenario_gets_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        scenario_called("foward")
    assert caught.value.nearest == ("forward",)
