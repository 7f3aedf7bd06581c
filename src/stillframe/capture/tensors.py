"""Takes a live tensor; gives its description, the identity of its memory, and the bytes there at this moment.

The one place that reads tensor memory. Knows no site, no frame and no file. It runs no operator on a tensor whose bytes can
be read directly, and where it must, it does so out of sight of modes, autograd and autocast, and draws no random number.
"""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from stillframe.capture.policy import ValuePolicy

_guards: Any = None
with suppress(ImportError):  # an older torch has none, and each tensor is then asked in full
    from torch._C._dynamo import guards

    _guards = guards.TensorGuards

NOT_COUNTED = -1
_SAMPLE = 256


# What is known of a storage: its number, torch's weak reference to it (which keeps its address from being used again), its size
# when its content was last taken, the version count then, the content (0: none taken whole) and a digest of it (0: not worked
# out). A tuple of numbers, since those cost the garbage collector nothing. Another version count means it may have changed.
Memory = tuple[int, int, int, int, int, int]

# The state of a tensor: description, storage, content, version, as in records.Value.
Seen = tuple[int, int, int, int]


class TensorShelf:
    """Keeps count of storages and contents.

    `describe` numbers a description, `number` gives fresh ids, `keep` takes a content, `inner_value` numbers a part.
    """

    def __init__(
        self,
        policy: ValuePolicy,
        number: Callable[[], int],
        describe: Callable[[Mapping[str, Any]], int],
        keep: Callable[[int, int, str, bytes], None],
        inner_value: Callable[[Any], int],
    ) -> None:
        self._policy = policy
        self._number = number
        self._describe = describe
        self._keep = keep
        self._inner_value = inner_value
        self._descriptions: dict[tuple[Any, ...], int] = {}
        self._memories: dict[int, Memory] = {}
        self._parts: dict[int, dict[tuple[Any, ...], int]] = {}
        self._ordinary: set[int] = set()
        self._guesses: dict[int, tuple[Callable[[torch.Tensor], bool], int, int, bool]] = {}
        self.modes = torch._C._len_torch_function_stack
        self.kept_bytes = 0

    def seen(self, tensor: torch.Tensor, site: int = 0, check: bool = False) -> Seen:
        """Describe a tensor and keep its bytes; `check`: do not trust the version count, look at the bytes.

        `site` is where it was seen: what was seen there last is the first guess at what it looks like.
        """
        kind = type(tensor)
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            with self.out_of_sight():
                return self._told(tensor, check)
        guess = self._guesses.get(site)
        if guess is None or check or not guess[0](tensor) or tensor.storage_offset() != guess[2]:
            other = self._guesses.get(-site)  # many sites see two kinds of tensor in turn: queries and keys
            if other is None or check or not other[0](tensor) or tensor.storage_offset() != other[2]:
                seen = self._told(tensor, check)
                if site and not check:
                    self._guess(site, tensor, seen)
                return seen
            guess = other
        version = tensor._version
        if not guess[3]:
            return guess[1], 0, 0, version
        storage: Any = tensor.untyped_storage()
        address = storage._cdata
        memory = self._memories.get(address)
        if memory is None:
            nbytes = storage.nbytes()
            memory = self._memories[address] = (self._number(), storage._weak_ref(), nbytes, version, 0, 0)
        if memory[4] and memory[3] == version and memory[2] == storage.nbytes():
            return guess[1], memory[0], memory[4], version
        return guess[1], memory[0], self._content(tensor, storage, address, memory, version, False), version

    @contextmanager
    def out_of_sight(self) -> Iterator[None]:
        """Ask tensors without any `__torch_function__`, of a subclass or of a mode, taking notice."""
        with torch._C.DisableTorchFunctionSubclass(), torch._C.DisableTorchFunction():
            yield

    def _guess(self, site: int, tensor: torch.Tensor, seen: Seen) -> None:
        """Remember what a tensor at a site looks like, in a form that one call compares with the next."""
        before = self._guesses.pop(site, None)
        if before is not None:
            self._guesses[-site] = before
        if _guards is None or seen[3] == NOT_COUNTED or seen[0] not in self._ordinary:
            return
        readable = self._policy.keep_bytes and not tensor.is_meta
        try:
            guard = _guards(tensor, dynamic_dims_sizes=[list(tensor.shape)], dynamic_dims_strides=[list(tensor.stride())])
            self._guesses[site] = (guard.check, seen[0], int(tensor.storage_offset()), readable)
        except Exception:  # a guess saves time, nothing else
            return

    def _told(self, tensor: torch.Tensor, check: bool) -> Seen:
        """What can be seen of a tensor; of one that refuses, its type and why."""
        try:
            return self._seen(tensor, check)
        except Exception as refusal:
            why = f"{type(refusal).__name__}: {str(refusal)[:120]}"
            return (
                self._describe({"kind": "tensor", "type": type_name(type(tensor)), "not_had": why}),
                0,
                0,
                NOT_COUNTED,
            )

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
            description = self._descriptions.get(key)
            if tensor.is_quantized or tensor.is_neg() or tensor.is_conj():
                return self._read_through(tensor, key)
            version = NOT_COUNTED if tensor.is_inference() else tensor._version
            keep = self._policy.keep_bytes
            storage: Any = tensor.untyped_storage() if keep else None
        except Exception:
            return self._describe(self._unusual(tensor)), 0, 0, NOT_COUNTED
        if description is None:
            description = self._described(tensor, key)
        if storage is None:
            return description, 0, 0, version
        address = storage._cdata
        memory = self._memories.get(address)
        if memory is None:
            memory = self._memories[address] = (self._number(), storage._weak_ref(), storage.nbytes(), version, 0, 0)
        content = 0
        if not (tensor.is_meta or _has_no_memory(tensor)):
            content = self._content(tensor, storage, address, memory, version, check)
        return description, memory[0], content, version

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
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            self._ordinary.add(number)
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
            about["inner"] = {"physical": self._inner_value(torch._C._functorch.get_unwrapped(tensor))}
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
                parts = {
                    "crow_indices": plain.crow_indices(),
                    "col_indices": plain.col_indices(),
                    "values": plain.values(),
                }
            else:
                parts = {
                    "ccol_indices": plain.ccol_indices(),
                    "row_indices": plain.row_indices(),
                    "values": plain.values(),
                }
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
                return self._describe(about), 0, 0, tensor._version
            resolved = tensor.detach().resolve_conj().resolve_neg().contiguous()
            about |= {"stride": list(resolved.stride()), "offset": 0, "lazy": "conj" if tensor.is_conj() else "neg"}
            number = self._number()
            content = self._part(resolved, number) if self._policy.keep_bytes else 0
            return self._describe(about), number, content, tensor._version

    # ---- bytes

    def _content(
        self,
        tensor: torch.Tensor,
        storage: torch.UntypedStorage,
        address: int,
        memory: Memory,
        version: int,
        check: bool,
    ) -> int:
        number, weak, size, seen_version, whole, digest = memory
        nbytes = storage.nbytes()
        if version != seen_version or nbytes != size:
            whole = digest = 0
            self._parts.pop(address, None)
        untrusted = check or version == NOT_COUNTED
        small = nbytes <= self._policy.value_limit and self.kept_bytes + nbytes <= self._policy.recording_limit
        if small and tensor.device.type == "cpu":
            if whole and not untrusted:
                return whole
            data = ctypes.string_at(storage.data_ptr(), nbytes) if nbytes else b""
            fresh = hash(data) if untrusted else 0
            if not whole or fresh != digest:
                whole = self._kept(number, "storage", data)
            self._memories[address] = (number, weak, nbytes, version, whole, fresh)
            return whole
        if whole:
            return whole
        self._memories[address] = (number, weak, nbytes, version, 0, 0)
        parts = self._parts.setdefault(address, {})
        covers = tensor.numel() * tensor.element_size() == nbytes
        own = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype)
        part = ("all", tensor.dtype) if covers and nbytes > self._policy.value_limit else own
        found = parts.get(part)  # a reshaped or transposed view of all there is has the same summary
        if found is None or version == NOT_COUNTED:
            with unobserved():
                found = parts[part] = self._part(tensor.detach(), number)
        return found

    def _part(self, tensor: torch.Tensor, storage: int) -> int:
        """One value's own elements, or their summary."""
        nbytes = tensor.numel() * tensor.element_size()
        if nbytes <= self._policy.value_limit and self.kept_bytes + nbytes <= self._policy.recording_limit:
            dense = tensor.cpu().contiguous()
            data = ctypes.string_at(dense.data_ptr(), nbytes) if nbytes else b""
            return self._kept(storage, "dense", data)
        return self._kept(storage, "summary", json.dumps(summary(tensor)).encode())

    def _kept(self, storage: int, form: str, data: bytes) -> int:
        self.kept_bytes += len(data)
        number = self._number()
        self._keep(number, storage, form, data)
        return number

    def release_dead(self) -> None:
        """Let go of storages that are gone, so that a long run does not pile up what is known of them."""
        for address, memory in list(self._memories.items()):
            if torch.UntypedStorage._expired(memory[1]):
                del self._memories[address]
                self._parts.pop(address, None)
                torch.UntypedStorage._free_weak_ref(memory[1])

    def close(self) -> None:
        """Let go of every storage."""
        for memory in self._memories.values():
            torch.UntypedStorage._free_weak_ref(memory[1])
        self._memories.clear()


_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def summary(tensor: torch.Tensor) -> dict[str, Any]:
    """Exact minimum and maximum (over all but NaN), mean and population std of the finite elements, counts, a strided sample.

    Non-finite floats in the result are spelled "nan", "inf", "-inf". Call it within `unobserved()`.
    """
    steps = _steps(tensor.shape)
    sampled = tensor[tuple(slice(None, None, step) for step in steps)]
    about: dict[str, Any] = {
        "dtype": dtype_name(tensor.dtype),
        "shape": list(tensor.shape),
        "stride": list(tensor.stride()),
        "count": tensor.numel(),
        "sample_steps": steps,
        "sample_shape": list(sampled.shape),
    }
    if tensor.dtype.is_complex:
        parts = torch.view_as_real(sampled.contiguous()).flatten().tolist()
        return about | {
            "sample": [_spelled(number) for number in parts],
            "sample_of": "real and imaginary parts in turn",
        }
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
    mean, std = _moments(number) if number.numel() else (math.nan, math.nan)
    counts = {"nan": nan, "posinf": posinf, "neginf": neginf, "zero": zero}
    return about | counts | {"min": _spelled(low), "max": _spelled(high), "mean": _spelled(mean), "std": _spelled(std)}


def _moments(number: torch.Tensor) -> tuple[float, float]:
    """Mean and population standard deviation of finite elements, to six digits or better.

    Row by row in the tensor's own precision where that is enough: in double it takes ten times as long.
    """
    plain = number.float() if number.dtype in (torch.float16, torch.bfloat16) else number
    wide = torch.float64 if number.device.type != "mps" else torch.float32
    floats = plain if plain.dtype.is_floating_point else plain.to(wide)
    count = floats.numel()
    mean = float(floats.sum()) / count
    square = math.nan
    if floats.dim() > 1:
        square = float(torch.linalg.vector_norm(floats, dim=-1).to(wide).square().sum()) / count
    variance = square - mean * mean
    if not (math.isfinite(variance) and variance > 0.1 * square):  # too many digits in common, or it overflowed
        mean = float(floats.sum(dtype=wide)) / count
        variance = float(torch.linalg.vector_norm(floats.to(wide) - mean)) ** 2 / count
    return mean, math.sqrt(variance)


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
    """Whether a subclass holds other tensors instead of memory of its own."""
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter) and hasattr(tensor, "__tensor_flatten__")


def _has_no_memory(tensor: torch.Tensor) -> bool:
    """Whether there is nothing to read: a wrapper of other tensors, or a fake tensor."""
    return _is_wrapper(tensor) or hasattr(tensor, "fake_device")
