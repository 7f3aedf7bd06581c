"""Every kind of tensor a run can meet is recorded with what can be had of it, and the run is none the worse."""

from __future__ import annotations

import math
import warnings

import pytest

torch = pytest.importorskip("torch", reason="values of tensors need torch")

from recorded import bindings, incomplete, record_call, same_numbers  # noqa: E402


class Marked(torch.Tensor):
    """A plain subclass, and one that would tell if its operators were run by the recorder."""

    calls = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Marked.calls += 1
        return super().__torch_function__(func, types, args, kwargs or {})


def plain_kinds():
    nan = torch.tensor([1.0, math.nan, math.inf, -math.inf, 0.0, -0.0])
    empty = torch.zeros(0, 3)
    scalar = torch.tensor(3.5)
    truth = torch.tensor([[True, False], [False, True]])
    cplx = torch.tensor([1 + 2j, -3.5j])
    half = torch.tensor([1.5, -2.0], dtype=torch.float16)
    brain = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    f8a = torch.tensor([1.5, -2.0, 448.0]).to(torch.float8_e4m3fn)
    f8b = torch.tensor([1.5, -2.0, 57344.0]).to(torch.float8_e5m2)
    bytes_ = torch.tensor([0, 255], dtype=torch.uint8)
    shorts = torch.tensor([-(2**15), 2**15 - 1], dtype=torch.int16)
    longs = torch.tensor([-(2**63), 2**63 - 1])
    unsigned = torch.tensor([0, 2**16 - 1], dtype=torch.uint16)
    strided = torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1)[1:, :, ::2]
    expanded = torch.arange(3.0).expand(4, 3)
    return [nan, empty, scalar, truth, cplx, half, brain, f8a, f8b, bytes_, shorts, longs, unsigned, strided, expanded]


PLAIN = ["nan", "empty", "scalar", "truth", "cplx", "half", "brain", "f8a", "f8b", "bytes_", "shorts", "longs", "unsigned"]
PLAIN += ["strided", "expanded"]


def unusual_kinds():
    coo = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    csr = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr()
    meta = torch.empty(2, 3, device="meta")
    conj = torch.tensor([1 + 2j, 3 - 1j]).conj()
    neg = torch.tensor([1 + 2j]).conj().imag
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)])
    jagged = torch.nested.nested_tensor([torch.ones(2), torch.zeros(3)], layout=torch.jagged)
    quant = torch.quantize_per_tensor(torch.tensor([0.5, 1.0]), 0.1, 3, torch.quint8)
    marked = torch.ones(2, 2).as_subclass(Marked)
    weight = torch.nn.Parameter(torch.ones(2))
    return coo, csr, meta, conj, neg, nested, jagged, quant, marked, weight


def named(recording, qualname):
    return {name: value for name, value in bindings(recording, qualname) if "," not in name}


def test_plain_ones_have_dtype_shape_and_exactly_their_numbers(tmp_path):
    tensors, recording = record_call(tmp_path / "x.still", plain_kinds)
    found = named(recording, "plain_kinds")
    for name, tensor in zip(PLAIN, tensors, strict=True):
        value = found[name]
        assert value.about["dtype"] == str(tensor.dtype).removeprefix("torch."), name
        assert value.about["shape"] == list(tensor.shape), name
        assert value.about["stride"] == list(tensor.stride()), name
        number = tensor.double() if tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point else tensor
        assert same_numbers(recording, value, number), name
    facts = recording.numbers(found["nan"]).statistics()
    assert (facts.nan, facts.posinf, facts.neginf, facts.zero) == (1, 1, 1, 2)
    assert not incomplete(recording)


def test_unusual_ones_have_what_can_be_had(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls some of them beta or deprecated
        before = Marked.calls
        plain = unusual_kinds()
        alone = Marked.calls - before
        before = Marked.calls
        recorded, recording = record_call(tmp_path / "x.still", unusual_kinds)
        watched = Marked.calls - before
    assert watched == alone, "the recorder ran operators of a subclass"
    assert [type(one) for one in recorded] == [type(one) for one in plain]
    found = {name: value.about for name, value in named(recording, "unusual_kinds").items()}
    assert {name: about["kind"] for name, about in found.items()} == dict.fromkeys(found, "tensor")
    assert (found["coo"]["layout"], found["coo"]["shape"]) == ("sparse_coo", [2, 2])
    values = recording.value(found["coo"]["inner"]["values"])
    assert list(recording.numbers(values).flat) == [2.0, 3.0]
    assert found["csr"]["layout"] == "sparse_csr" and "crow_indices" in found["csr"]["inner"]
    assert (found["meta"]["device"], found["meta"]["shape"]) == ("meta", [2, 3])
    assert found["conj"]["lazy"] == "conj" and found["neg"]["lazy"] == "neg"
    assert list(recording.numbers(named(recording, "unusual_kinds")["conj"]).flat) == [1 - 2j, 3 + 1j]
    assert list(recording.numbers(named(recording, "unusual_kinds")["neg"]).flat) == [-2.0]
    assert [recording.value(one).about["shape"] for one in found["nested"]["components"]] == [[2, 3], [1, 3]]
    assert found["jagged"]["layout"] == "jagged"
    inner = recording.value(found["quant"]["inner"]["dequantized"])
    assert [round(one, 3) for one in recording.numbers(inner).flat] == [0.5, 1.0]
    assert found["marked"]["type"].endswith("Marked")
    assert found["weight"]["requires_grad"] and found["weight"]["type"] == "Parameter"
    assert not incomplete(recording)


def fake_and_transformed():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(2, 3) @ torch.ones(3, 4)
    inside = []

    def row(vector):
        mapped = vector * 2
        inside.append(mapped.shape)
        return mapped

    out = torch.func.vmap(row)(torch.ones(5, 3))
    return fake, out


def test_fake_ones_have_no_bytes_and_mapped_ones_say_so(tmp_path):
    (fake, out), recording = record_call(tmp_path / "x.still", fake_and_transformed)
    assert out.shape == (5, 3)
    value = named(recording, "fake_and_transformed")["fake"]
    assert (value.about["shape"], value.content) == ([2, 4], 0)
    mapped = named(recording, "fake_and_transformed.<locals>.row")["mapped"]
    assert mapped.about["shape"] == [3] and "vmap" in mapped.about["transformed"]
    assert not incomplete(recording)
