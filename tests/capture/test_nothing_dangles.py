"""Whatever a record refers to is in the recording too: values, frames, sites, what descriptions are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="values of tensors need torch")

from recorded import OPENED, record_call  # noqa: E402
from snippets import tensor_flows, tiny_models  # noqa: E402
from stillframe.recording.reader import Recording  # noqa: E402


def caught_and_raised() -> int:
    count = 0
    for divisor in (1, 0, 2, 0):
        try:
            count += 4 // divisor
        except ZeroDivisionError:
            count += 100
        except ValueError as error:
            count = len(str(error))
    return count


CALLS = {
    "caught": caught_and_raised,
    "in_place": tensor_flows.in_place_chain,
    "resized": tensor_flows.resized,
    "train": tiny_models.train,
    "recompute": lambda: tiny_models.train(recompute=True),
    "two_threads": tiny_models.two_threads,
}


def inner_values(about: Any) -> Iterator[int]:
    """The value ids a description holds."""
    for key in ("items", "components"):
        yield from about.get(key, ())
    for key in ("fields", "inner"):
        yield from about.get(key, {}).values()


def check(recording: Recording) -> int:
    """Follow every reference. A mapping of the reader raises for an id it lacks. The count of those followed."""
    values = {event.value for event in recording.events()}
    frames = set()
    for event in recording.events():
        assert recording.sites[event.site]
        frames.add(event.frame)
    for place in (*recording.marks, *recording.raised):
        for names in place.names if isinstance(place.names, tuple) else (place.names,):
            values.update(names.values())
    for raised in recording.raised:
        frames.update((*raised.frames, raised.caught_in))
    frame_of = recording.frames
    for frame in list(frames - {0}):
        found = frame_of[frame]
        assert found.first_event < recording.event_count and recording.functions[found.function]
        assert found.caller == 0 or frame_of[found.caller].first_event < found.first_event
        assert found.call_site == 0 or recording.sites[found.call_site].node == "Call"
        values.add(found.owner)
    seen: set[int] = {0}
    while values - seen:
        number = (values - seen).pop()
        seen.add(number)
        values.update(one for one in inner_values(recording.value(number).about) if isinstance(one, int))
    return len(seen) + len(frames)


@pytest.mark.parametrize("name", CALLS)
def test_every_reference_is_met(name, tmp_path):
    _, recording = record_call(tmp_path / "x.still", CALLS[name])
    assert check(recording) >= 10


def test_of_a_run_that_raises_too(tmp_path):
    import stillframe.session
    from stillframe.recording.reader import open_recording

    with pytest.raises(RuntimeError), stillframe.session.record(tmp_path / "x.still"):
        tiny_models.Attention(8, 2)(torch.ones(2, 3, 5))
    OPENED.append(open_recording(tmp_path / "x.still"))
    assert OPENED[-1].raised and check(OPENED[-1]) > 10


def test_a_handler_entered_has_no_value(tmp_path):
    _, recording = record_call(tmp_path / "x.still", caught_and_raised)
    handlers = [event for event in recording.events() if recording.sites[event.site].kind == "except"]
    assert [event.value for event in handlers] == [0, 0]
    assert [one.type_name for one in recording.raised] == ["ZeroDivisionError"] * 2
