"""Takes a live tensor; gives its description, the identity of its memory, and the bytes there at this moment.

The one place that reads tensor memory. Knows no site, no frame and no file. It runs no operator on a tensor whose bytes can
be read directly, and where it must, it does so out of sight of modes, autograd and autocast, and draws no random number.
"""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from stillframe.capture.policy import ValuePolicy
from stillframe.records import Content

NOT_COUNTED = -1
_SAMPLE = 256


@dataclass(slots=True)
class _Memory:
    """One storage: its number, torch's weak reference (which keeps its address from being used again), its latest content.

    `versions` are the version counts seen since the content was taken: another count means that it may have changed.
    """

    number: int
    weak: Any
    nbytes: int
    versions: set[int] = field(default_factory=set)
    whole: int = 0
    digest: int | None = None
    parts: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def forget(self) -> None:
        self.versions.clear()
        self.parts.clear()
        self.whole, self.digest = 0, None


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a tensor at one moment; the numbers are those of records.Value."""

    description: int
    storage: int
    content: int
    version: int


class TensorShelf:
    """Keeps count of storages and contents. `describe` numbers a description, `number` gives fresh ids, `keep` takes contents."""

    def __init__(
        self,
        policy: ValuePolicy,
        number: Callable[[], int],
        describe: Callable[[Mapping[str, Any]], int],
        keep: Callable[[Content], None],
        inner_value: Callable[[Any], int],
    ) -> None:
        self._policy = policy
        self._number = number
        self._describe = describe
        self._keep = keep
        self._inner_value = inner_value
        self._descriptions: dict[tuple[Any, ...], int] = {}
        self._memories: dict[int, _Memory] = {}
        self.kept_bytes = 0

    def seen(self, tensor: torch.Tensor, check: bool = False) -> Seen:
        """Describe a tensor and keep its bytes; `check`: do not trust the version count, look at the bytes."""
        if torch._C._len_torch_function_stack() or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            with torch._C.DisableTorchFunctionSubclass(), torch._C.DisableTorchFunction():
                return self._seen(tensor, check)
        return self._seen(tensor, check)

    def _seen(self, tensor: torch.Tensor, check: bool) -> Seen:
        try:
            key = (
                type(tensor),
                tensor.dtype,
                tensor.shape,
                tensor.stride(),
                tensor.storage_offset(),
                tensor.device,
                tensor.requires_grad,
                tensor.layout,
            )
            storage = tensor.untyped_storage()
            address = storage._cdata
            description = self._descriptions.get(key)
        except Exception:
            return Seen(self._describe(self._unusual(tensor)), 0, 0, NOT_COUNTED)
        if description is None:
            description = self._described(tensor, key)
        if tensor.dtype.is_complex or tensor.is_quantized or tensor.is_neg():
            if tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
                return self._read_through(tensor, key)
        memory = self._memories.get(address)
        if memory is None:
            memory = self._memories[address] = _Memory(self._number(), storage._weak_ref(), storage.nbytes())
        version = NOT_COUNTED if tensor.is_inference() else tensor._version
        content = 0
        if self._policy.keep_bytes and tensor.device.type != "meta" and not _is_wrapper(tensor):
            content = self._content(tensor, storage, memory, version, check, key)
        return Seen(description, memory.number, content, version)

    def _described(self, tensor: torch.Tensor, key: tuple[Any, ...]) -> int:
        kind, dtype, shape, stride, offset, device, requires_grad, layout = key
        about: dict[str, Any] = {
            "kind": "tensor",
            "type": type_name(kind),
            "dtype": dtype_name(dtype),
            "shape": [_size(n) for n in shape],
            "stride": [_size(n) for n in stride],
            "offset": _size(offset),
            "device": str(device),
            "layout": str(layout).removeprefix("torch."),
            "requires_grad": requires_grad,
        }
        inner = self._inner(tensor)
        if inner:
            return self._describe(about | {"inner": inner})  # differs from one tensor to the next: never reused
        number = self._describe(about)
        self._descriptions[key] = number
        return number

    def _inner(self, tensor: torch.Tensor) -> dict[str, Any]:
        """What a wrapper subclass holds: its inner tensors as values, and what says how they are laid out."""
        if not _is_wrapper(tensor):
            return {}
        names, context = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
        inner: dict[str, Any] = {name: self._inner_value(getattr(tensor, name)) for name in names}
        placements = getattr(tensor, "placements", None)
        if placements is not None:
            inner["placements"] = [str(placement)[:80] for placement in placements]
        return inner

    def _unusual(self, tensor: torch.Tensor) -> dict[str, Any]:
        """Whatever can be had of a tensor that has no ordinary memory: sparse, nested, or one of a functorch transform."""
        about: dict[str, Any] = {"kind": "tensor", "type": type_name(type(tensor))}
        questions: dict[str, Callable[[], Any]] = {
            "dtype": lambda: dtype_name(tensor.dtype),
            "shape": lambda: [_size(n) for n in tensor.shape],
            "device": lambda: str(tensor.device),
            "layout": lambda: str(tensor.layout).removeprefix("torch."),
            "requires_grad": lambda: tensor.requires_grad,
        }
        for name, ask in questions.items():
            try:
                about[name] = ask()
            except Exception as refusal:
                about.setdefault("not_had", {})[name] = str(refusal)[:120]
        if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            about["transformed"] = "inside vmap, grad or another functorch transform: no bytes of its own"
        elif tensor.is_sparse or tensor.layout in _COMPRESSED:
            about["inner"] = self._sparse_parts(tensor)
        elif tensor.is_nested:
            with unobserved():
                about["components"] = [self._inner_value(part) for part in tensor.detach().unbind()[:64]]
        return about

    def _sparse_parts(self, tensor: torch.Tensor) -> dict[str, int]:
        with unobserved():
            plain = tensor.detach()
            if plain.layout == torch.sparse_coo:
                parts = {"indices": plain._indices(), "values": plain._values()}
            elif plain.layout in (torch.sparse_csr, torch.sparse_bsr):
                parts = {"crow_indices": plain.crow_indices(), "col_indices": plain.col_indices(), "values": plain.values()}
            else:
                parts = {"ccol_indices": plain.ccol_indices(), "row_indices": plain.row_indices(), "values": plain.values()}
            return {name: self._inner_value(part) for name, part in parts.items()}

    def _read_through(self, tensor: torch.Tensor, key: tuple[Any, ...]) -> Seen:
        """A tensor whose memory does not hold its numbers as such: quantised, or lazily conjugated or negated."""
        about: dict[str, Any] = {
            "kind": "tensor",
            "type": type_name(key[0]),
            "dtype": dtype_name(key[1]),
            "shape": list(key[2]),
            "device": str(key[5]),
            "requires_grad": key[6],
            "layout": str(key[7]).removeprefix("torch."),
        }
        with unobserved():
            if tensor.is_quantized:
                about["quantized"] = {"scheme": str(tensor.qscheme()).removeprefix("torch.")}
                about["inner"] = {"dequantized": self._inner_value(tensor.detach().dequantize())}
                return Seen(self._describe(about), 0, 0, tensor._version)
            resolved = tensor.detach().resolve_conj().resolve_neg().contiguous()
            about |= {"stride": list(resolved.stride()), "offset": 0, "lazy": "conj" if tensor.is_conj() else "neg"}
            memory = _Memory(self._number(), None, resolved.untyped_storage().nbytes())
            content = 0
            if self._policy.keep_bytes:
                content = self._part(resolved, memory, resolved.numel() * resolved.element_size())
            return Seen(self._describe(about), memory.number, content, tensor._version)

    # ---- bytes

    def _content(
        self,
        tensor: torch.Tensor,
        storage: torch.UntypedStorage,
        memory: _Memory,
        version: int,
        check: bool,
        key: tuple[Any, ...],
    ) -> int:
        nbytes = storage.nbytes()
        if version not in memory.versions or nbytes != memory.nbytes:
            if memory.versions and (version == NOT_COUNTED or memory.whole or memory.parts):
                memory.forget()
            memory.versions.add(version)
            memory.nbytes = nbytes
        untrusted = check or version == NOT_COUNTED
        small = nbytes <= self._policy.value_limit and self.kept_bytes + nbytes <= self._policy.recording_limit
        if small and tensor.device.type == "cpu":
            if memory.whole and not untrusted:
                return memory.whole
            data = ctypes.string_at(storage.data_ptr(), nbytes) if nbytes else b""
            digest = hash(data) if untrusted else None
            if memory.whole and memory.digest == digest:
                return memory.whole
            memory.parts.clear()
            memory.whole, memory.digest = self._kept(memory.number, "storage", data), digest
            return memory.whole
        if memory.whole:
            return memory.whole
        part = (key[2], key[3], key[4], key[1])
        found = memory.parts.get(part)
        if found is None or version == NOT_COUNTED:
            with unobserved():
                found = memory.parts[part] = self._part(tensor.detach(), memory, tensor.numel() * tensor.element_size())
        return found

    def _part(self, tensor: torch.Tensor, memory: _Memory, nbytes: int) -> int:
        """One value's own elements, or their summary."""
        if nbytes <= self._policy.value_limit and self.kept_bytes + nbytes <= self._policy.recording_limit:
            dense = tensor.cpu().contiguous()
            data = ctypes.string_at(dense.data_ptr(), nbytes) if nbytes else b""
            return self._kept(memory.number, "dense", data)
        covers = tensor.numel() * tensor.element_size() == memory.nbytes
        if covers and ("summary",) in memory.parts:  # a reshaped or transposed view has the same numbers
            return memory.parts["summary",]
        content = self._kept(memory.number, "summary", json.dumps(summary(tensor)).encode())
        if covers:
            memory.parts["summary",] = content
        return content

    def _kept(self, storage: int, form: str, data: bytes) -> int:
        self.kept_bytes += len(data)
        number = self._number()
        self._keep(Content(number, storage, form, data))
        return number

    def release_dead(self) -> None:
        """Let go of storages that are gone, so that a long run does not pile up their records."""
        for address, memory in list(self._memories.items()):
            if torch.UntypedStorage._expired(memory.weak):  # type: ignore[attr-defined]
                del self._memories[address]
                torch.UntypedStorage._free_weak_ref(memory.weak)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Let go of every storage."""
        for memory in self._memories.values():
            torch.UntypedStorage._free_weak_ref(memory.weak)  # type: ignore[attr-defined]
        self._memories.clear()


_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def summary(tensor: torch.Tensor) -> dict[str, Any]:
    """Exact minimum and maximum (over all but NaN), mean and population std of the finite elements, counts, a strided sample.

    Non-finite floats in the result are spelled "nan", "inf", "-inf". Call it within `unobserved()`.
    """
    steps = _steps(tensor.shape)
    sampled = tensor[tuple(slice(None, None, step) for step in steps)]
    about: dict[str, Any] = {"count": tensor.numel(), "sample_steps": steps, "sample_shape": list(sampled.shape)}
    if tensor.dtype.is_complex:
        parts = torch.view_as_real(sampled.contiguous()).flatten().tolist()
        return about | {"sample": [_spelled(number) for number in parts], "sample_of": "real and imaginary parts in turn"}
    number = tensor
    if tensor.dtype == torch.bool or tensor.dtype.is_floating_point and tensor.element_size() == 1:
        number = tensor.float()
        sampled = sampled.float()
    about["sample"] = [_spelled(one) for one in sampled.flatten().tolist()]
    low, high = (one.item() for one in torch.aminmax(number))
    nan = posinf = neginf = 0
    if not (math.isfinite(low) and math.isfinite(high)):
        nan = int(torch.isnan(number).sum())
        posinf, neginf = int((number == math.inf).sum()), int((number == -math.inf).sum())
        finite = number[torch.isfinite(number)]
        kept = number[~torch.isnan(number)] if nan else number
        low, high = (one.item() for one in torch.aminmax(kept)) if kept.numel() else (math.nan, math.nan)
        number = finite
    zero = number.numel() - int(torch.count_nonzero(number))
    mean = std = math.nan
    if number.numel():
        wide = torch.float64 if number.device.type != "mps" else torch.float32
        mean = float(number.sum(dtype=wide)) / number.numel()
        floats = number if number.dtype.is_floating_point else number.double()
        square = float(torch.linalg.vector_norm(floats, dtype=wide)) ** 2 / number.numel()
        std = math.sqrt(max(0.0, square - mean * mean))
    counts = {"nan": nan, "posinf": posinf, "neginf": neginf, "zero": zero}
    return about | counts | {"min": _spelled(low), "max": _spelled(high), "mean": _spelled(mean), "std": _spelled(std)}


def _steps(shape: torch.Size) -> list[int]:
    """A step for each dimension, so that at most `_SAMPLE` elements remain."""
    steps = [1] * len(shape)
    while math.prod(-(-size // step) for size, step in zip(shape, steps, strict=True)) > _SAMPLE:
        widest = max(range(len(shape)), key=lambda i: -(-shape[i] // steps[i]))
        steps[widest] *= 2
    return steps


def _spelled(number: float) -> float | str:
    return number if math.isfinite(number) else str(float(number))


@contextmanager
def unobserved() -> Iterator[None]:
    """Run operators that no mode, no autograd graph and no autocast of the program under study takes notice of."""
    with ExitStack() as stack:
        stack.enter_context(torch._C.DisableTorchFunctionSubclass())
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(_disable_current_modes())
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.autocast("cpu", enabled=False))
        yield


def dtype_name(dtype: torch.dtype) -> str:
    """ "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def type_name(kind: type) -> str:
    """A class by its qualified name; those of torch itself without the module."""
    module = kind.__module__
    return kind.__qualname__ if module in ("torch", "torch.nn.parameter", "builtins") else f"{module}.{kind.__qualname__}"


def _size(number: Any) -> int | str:
    return number if type(number) is int else str(number)


def _is_wrapper(tensor: torch.Tensor) -> bool:
    """Whether a subclass holds other tensors instead of memory of its own (fake tensors have none at all)."""
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter) and (
        hasattr(tensor, "__tensor_flatten__") or hasattr(tensor, "fake_device")
    )
