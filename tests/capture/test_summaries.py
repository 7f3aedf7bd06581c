"""What a large tensor is summed up to is what torch says of it in double precision, whatever its numbers are like."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch", reason="summaries are of tensors")

from stillframe.capture.tensors import summary, unobserved  # noqa: E402

G = torch.Generator().manual_seed(0)
NORMAL = torch.randn(300, 400, generator=G)
TENSORS = {
    "normal": NORMAL,
    "one dimension": NORMAL.flatten(),
    "no dimension": torch.tensor(2.5),
    "far from zero": NORMAL * 1e-3 + 100,
    "all the same": torch.full((50, 60), 1 / 3),
    "huge": NORMAL * 1e30,
    "tiny": NORMAL * 1e-30,
    "double": NORMAL.double() * 1e-9 + 1,
    "half": NORMAL.half(),
    "brain": NORMAL.bfloat16(),
    "whole": torch.randint(-(10**9), 10**9, (200, 30), generator=G),
    "bytes": torch.randint(0, 256, (200, 30), generator=G, dtype=torch.uint8),
    "truth": NORMAL > 0.3,
    "float8": NORMAL.to(torch.float8_e4m3fn),
    "mask": torch.full((64, 64), torch.finfo(torch.float32).min).triu(1),
    "infinite": torch.full((64, 64), -math.inf).triu(1),
    "holes": torch.where(NORMAL > 1, math.nan, NORMAL),
    "strided": NORMAL.t()[::3, 1::2],
    "expanded": NORMAL[:1].expand(500, 400),
    "nothing finite": torch.tensor([math.nan, math.inf, -math.inf]),
}


@pytest.mark.parametrize("name", TENSORS)
def test_it_is_true(name: str) -> None:
    tensor = TENSORS[name]
    with unobserved():
        found = summary(tensor)
    wide = tensor.double()
    finite = wide[wide.isfinite()]
    assert found["count"] == tensor.numel()
    assert [found[one] for one in ("nan", "posinf", "neginf", "zero")] == [
        int(wide.isnan().sum()),
        int(wide.isposinf().sum()),
        int(wide.isneginf().sum()),
        int((wide == 0).sum()),
    ]
    known = wide[~wide.isnan()]
    if known.numel():
        assert (float(found["min"]), float(found["max"])) == (float(known.min()), float(known.max()))
    if not finite.numel():
        assert (found["mean"], found["std"]) == ("nan", "nan")
        return
    mean, std = float(finite.mean()), float((finite - finite.mean()).square().mean().sqrt())
    scale = float(finite.abs().max()) or 1.0
    assert abs(found["mean"] - mean) <= 1e-6 * max(abs(mean), std) + 1e-12 * scale
    assert abs(found["std"] - std) <= 1e-6 * std + 1e-12 * scale
