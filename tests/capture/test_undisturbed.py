"""The model is not disturbed: the same bits come out, everything is put back, and other tools go on working beside."""

from __future__ import annotations

import bdb
import cProfile
import gc
import io
import pstats
import sys
import threading
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="a model needs torch")

import stillframe  # noqa: E402
from recorded import bindings, incomplete, record_call, same_numbers  # noqa: E402
from snippets import tiny_models  # noqa: E402
from stillframe.errors import CaptureError  # noqa: E402


def codes_now():
    return {
        id(f): f.__code__ for f in gc.get_objects() if type(f) is types.FunctionType and f.__module__ == tiny_models.__name__
    }


def state_of_the_process():
    return (
        sys.gettrace(),
        sys.getprofile(),
        sys.breakpointhook,
        sys.excepthook,
        list(sys.meta_path),
        sys.getrecursionlimit(),
        threading.active_count(),
        torch._C._len_torch_function_stack(),
        torch.nn.Module.__call__.__code__,
        torch.nn.Module.__init__.__code__,
        len(torch.nn.modules.module._global_forward_pre_hooks),
        len(torch.nn.modules.module._global_forward_hooks),
    )


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("values", [True, False])
def test_training_comes_out_bit_by_bit_the_same(recompute, values, tmp_path):
    plain = tiny_models.train(recompute)
    recorded, recording = record_call(tmp_path / "x.still", lambda: tiny_models.train(recompute), values=values)
    assert len(plain) == len(recorded) > 40
    assert all(torch.equal(one, other) for one, other in zip(plain, recorded, strict=True))
    assert recording.event_count > 200 and not incomplete(recording)


def test_llama_comes_out_bit_by_bit_the_same(tmp_path):
    transformers = pytest.importorskip("transformers", reason="Llama comes from transformers")
    from stillframe.target.build import build
    from stillframe.target.spec import parse_spec

    for attn in ("eager", "sdpa"):
        built = build(parse_spec("llama", attn=attn))
        ids = torch.randint(0, 250, (2, 7))
        labels = ids.clone()

        def run(model=built.model, ids=ids, labels=labels):
            model.zero_grad()
            torch.manual_seed(1)
            out = model(input_ids=ids, labels=labels)
            out.loss.backward()
            gradients = [p.grad.clone() for p in model.parameters()]
            return [out.logits.detach(), out.loss.detach(), *gradients, torch.get_rng_state()]

        plain = run()
        recorded, recording = record_call(tmp_path / f"{attn}.still", run)
        assert all(torch.equal(one, other) for one, other in zip(plain, recorded, strict=True))
        logits = [v for n, v in bindings(recording, "LlamaForCausalLM.forward") if n == "logits"][-1]
        assert same_numbers(recording, logits, recorded[0])
    assert transformers


def test_everything_is_put_back(tmp_path):
    before, codes = state_of_the_process(), codes_now()
    record_call(tmp_path / "x.still", tiny_models.train)
    assert state_of_the_process() == before
    assert codes_now() == codes


def test_everything_is_put_back_after_an_exception(tmp_path):
    before, codes = state_of_the_process(), codes_now()
    with pytest.raises(ZeroDivisionError), stillframe.record(tmp_path / "x.still"):
        tiny_models.train(steps=1)
        raise ZeroDivisionError
    assert state_of_the_process() == before
    assert codes_now() == codes


def test_a_second_recording_is_refused_and_the_first_goes_on(tmp_path):
    with stillframe.record(tmp_path / "x.still"):
        with pytest.raises(CaptureError, match="already"), stillframe.record(tmp_path / "y.still"):
            pass
        tiny_models.train(steps=1)
    from stillframe.recording.reader import open_recording

    assert open_recording(tmp_path / "x.still").event_count > 100
    assert not (tmp_path / "y.still").exists()


def test_what_gc_freeze_hides_is_recorded_too(tmp_path):
    _, plain = record_call(tmp_path / "plain.still", tiny_models.train)
    gc.collect()
    gc.freeze()
    try:
        _, recording = record_call(tmp_path / "x.still", tiny_models.train)
    finally:
        gc.unfreeze()
    assert recording.event_count == plain.event_count > 200


def test_two_threads(tmp_path):
    same, recording = record_call(tmp_path / "x.still", tiny_models.two_threads)
    assert same and not incomplete(recording)
    frames = [f for f in recording.frames.values() if recording.functions[f.function].qualname == "Attention.forward"]
    assert len(frames) == 2 * (20 + 20) + 2 * 2
    assert len({frame.thread for frame in frames}) == 3
    by_id = recording.frames
    for frame in frames:  # a frame's caller is in its own thread
        assert by_id[frame.caller].thread == frame.thread
    for event in recording.events():
        assert event.frame
        assert recording.sites[event.site].function == by_id[event.frame].function


def test_recompute_and_backward_are_marked(tmp_path):
    _, recording = record_call(tmp_path / "x.still", lambda: tiny_models.train(recompute=True, steps=1))
    phases = {}
    for frame in recording.frames.values():
        phases.setdefault(recording.functions[frame.function].qualname, []).append(frame.phase)
    assert phases["Attention.forward"] == ["forward", "forward", "recompute", "recompute"]
    assert phases["Square.backward"] == ["backward"]
    assert phases["Square.forward"] == ["forward"]


def test_an_exception_inside_attention_keeps_the_values_in_flight(tmp_path):
    model = tiny_models.Model().eval()
    model.blocks[1].attention.fail_at = 3
    with pytest.raises(RuntimeError, match="must match") as plain:
        model(torch.arange(5)[None])
    path = tmp_path / "x.still"
    with pytest.raises(RuntimeError, match="must match") as caught, stillframe.record(path):
        model(torch.arange(5)[None])
    assert str(caught.value) == str(plain.value)
    assert [e.lineno for e in caught.traceback][1:] == [e.lineno for e in plain.traceback][1:]
    from stillframe.recording.reader import open_recording

    recording = open_recording(path)
    (raised,) = recording.raised
    names = [recording.functions[recording.frames[frame].function].qualname for frame in raised.frames]
    assert names == ["Model.forward", "Block.forward", "Block.inner", "Attention.forward"]
    assert raised.type_name == "RuntimeError" and "must match" in raised.message
    in_flight = raised.names[-1]
    assert {"q", "k", "v", "scores", "shape", "width"} <= in_flight.keys() and "weights" not in in_flight
    assert list(recording.value(in_flight["scores"]).about["shape"]) == [1, 2, 5, 5]
    assert recording.manifest["ended"] == "raised"


class Stepping(bdb.Bdb):
    """A debugger that steps into everything, and notes where."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def user_line(self, frame):
        self.lines.append((Path(frame.f_code.co_filename).name, frame.f_lineno))
        self.set_step()


def stepped(call):
    debugger = Stepping()
    debugger.reset()
    debugger.set_step()
    sys.settrace(debugger.trace_dispatch)
    try:
        call()
    finally:
        sys.settrace(None)
    return [line for line in debugger.lines if line[0] == "tiny_models.py"]


def test_a_stepping_debugger_sees_the_same_lines(tmp_path):
    model, ids = tiny_models.Model().eval(), torch.arange(3)[None]
    plain = stepped(lambda: model(ids))
    with stillframe.record(tmp_path / "x.still"):
        woven = stepped(lambda: model(ids))
    assert woven == plain and len(plain) > 30


def test_a_debugger_that_is_tracing_does_not_step_into_the_observers(tmp_path):
    model, ids = tiny_models.Model().eval(), torch.arange(3)[None]
    debugger = Stepping()
    debugger.reset()
    debugger.set_step()
    sys.settrace(debugger.trace_dispatch)
    try:
        with stillframe.record(tmp_path / "x.still"):
            debugger.lines.clear()
            model(ids)
            inside = list(debugger.lines)
    finally:
        sys.settrace(None)
    assert any(name == "tiny_models.py" for name, _ in inside)
    assert not any(name in ("observe.py", "values.py", "tensors.py") for name, _ in inside)
    assert debugger.skip is None


def test_a_trace_function_of_ones_own(tmp_path):
    model, ids = tiny_models.Model().eval(), torch.arange(3)[None]

    def traced(call):
        lines = []

        def trace(frame, event, argument):
            if frame.f_code.co_filename == tiny_models.__file__:
                lines.append((event, frame.f_lineno))
                return trace
            return None

        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(None)
        return lines

    plain = traced(lambda: model(ids))
    with stillframe.record(tmp_path / "x.still"):
        woven = traced(lambda: model(ids))
    assert woven == plain and len(plain) > 50


def test_under_a_profiler(tmp_path):
    model, ids = tiny_models.Model().eval(), torch.arange(3)[None]
    profiler = cProfile.Profile()
    with stillframe.record(tmp_path / "x.still"):
        profiler.enable()
        model(ids)
        profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).print_stats("tiny_models")
    assert "(forward)" in text.getvalue()
    calls = {key[2]: stat[0] for key, stat in pstats.Stats(profiler).stats.items() if "tiny_models" in key[0]}
    assert calls["inner"] == 2


def test_under_coverage(tmp_path):
    coverage = pytest.importorskip("coverage", reason="coverage is what is tried here")
    model, ids = tiny_models.Model().eval(), torch.arange(3)[None]

    def covered(call):
        tool = coverage.Coverage(data_file=None, config_file=False, include=[tiny_models.__file__])
        tool.start()
        try:
            call()
        finally:
            tool.stop()
        return sorted(tool.get_data().lines(tiny_models.__file__))

    plain = covered(lambda: model(ids))
    with stillframe.record(tmp_path / "x.still"):
        woven = covered(lambda: model(ids))
    assert woven == plain and len(plain) > 20


def test_other_recorders_beside(tmp_path):
    """A function mode, a dispatch mode and hooks of somebody else's see what they see without us, and no more."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Functions(TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen.append(getattr(func, "__name__", str(func)))
            return func(*args, **(kwargs or {}))

    class Dispatches(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen.append(str(func))
            return func(*args, **(kwargs or {}))

    model, ids = tiny_models.Model().eval(), torch.arange(3)[None]

    def watched():
        functions, dispatches = Functions(), Dispatches()
        with functions, dispatches:
            model(ids)
        return functions.seen, dispatches.seen

    plain = watched()
    with stillframe.record(tmp_path / "x.still"):
        recorded = watched()
    assert recorded == plain and plain[0] and plain[1]


def test_temporaries_die_when_they_did(tmp_path):
    import weakref

    events = []

    def probe(tensor, name):
        weakref.finalize(tensor, events.append, f"{name} gone")
        events.append(f"{name} made")
        return tensor

    from snippets import lifetimes

    lifetimes.chain(probe, events)
    plain = list(events)
    events.clear()
    with stillframe.record(tmp_path / "x.still"):
        lifetimes.chain(probe, events)
    assert events == plain and len(plain) >= 8
