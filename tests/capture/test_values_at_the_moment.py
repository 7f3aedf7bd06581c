"""Every recorded value equals the value at that moment, through in-place writes, views, resizing and reused memory."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="values of tensors need torch")

from recorded import bindings, incomplete, record_call, same_numbers  # noqa: E402
from snippets import tensor_flows  # noqa: E402

FUNCTIONS = ("in_place_chain", "resized", "out_and_index", "under_inference_mode", "reused_memory")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_binding_has_the_bytes_of_its_moment(name, tmp_path):
    tensor_flows.LOG.clear()
    _, recording = record_call(tmp_path / "x.still", getattr(tensor_flows, name))
    logged = list(tensor_flows.LOG)
    assert logged
    names = {one for one, _ in logged}
    bound = [(bound_name, value) for bound_name, value in bindings(recording, name) if bound_name in names]
    # every logged name was bound just before it was logged: walk both in step
    position = 0
    for expected_name, expected in logged:
        while bound[position][0] != expected_name or not same_numbers(recording, bound[position][1], expected):
            position += 1
            assert position < len(bound), f"no recorded {expected_name} equals {expected}"
        position += 1
    assert not incomplete(recording)


def test_bindings_are_not_more_than_were_made(tmp_path):
    tensor_flows.LOG.clear()
    _, recording = record_call(tmp_path / "x.still", tensor_flows.reused_memory)
    bound = [value for name, value in bindings(recording, "reused_memory") if name in ("x", "y", "z")]
    logged = [tensor for name, tensor in tensor_flows.LOG if name in ("x", "y", "z")]
    assert len(bound) == len(logged) == 150
    assert all(same_numbers(recording, value, tensor) for value, tensor in zip(bound, logged, strict=True))
    assert len({value.object for value in bound}) == 150  # an address used again is not the same tensor


def test_writes_that_torch_does_not_count(tmp_path):
    tensor_flows.LOG.clear()
    _, recording = record_call(tmp_path / "x.still", tensor_flows.written_out_of_sight)
    weights = [value for name, value in bindings(recording, "Holder.forward") if name == "w"]
    assert [list(recording.numbers(value).flat) for value in weights] == [[1, 1, 1], [2, 2, 2], [4, 4, 4]]
    counts = [value for name, value in bindings(recording, "Holder.forward") if name == "n"]
    assert [list(recording.numbers(value).flat) for value in counts] == [[1], [2], [3]]


def test_views_share_a_storage_and_know_their_base(tmp_path):
    _, recording = record_call(tmp_path / "x.still", tensor_flows.in_place_chain)
    by_name = {}
    for name, value in bindings(recording, "in_place_chain"):
        by_name.setdefault(name, value)
    assert by_name["a"].storage == by_name["b"].storage == by_name["c"].storage == by_name["i"].storage > 0
    assert by_name["b"].base == by_name["c"].base == by_name["a"].object
    assert by_name["a"].base == 0
    assert by_name["j"].storage != by_name["a"].storage
    versions = [value.version for name, value in bindings(recording, "in_place_chain") if name in ("a", "d")]
    assert versions == sorted(versions) and versions[0] != versions[-1]


def test_bytes_are_kept_once_for_a_storage_and_version(tmp_path):
    _, recording = record_call(tmp_path / "x.still", tensor_flows.in_place_chain)
    values = {name: value for name, value in bindings(recording, "in_place_chain") if name in ("i", "j", "k")}
    first = [value for name, value in bindings(recording, "in_place_chain") if name in ("a", "b")][:2]
    assert first[0].content == first[1].content > 0
    assert values["j"].content != values["k"].content


def test_without_values_no_bytes_are_kept(tmp_path):
    _, recording = record_call(tmp_path / "x.still", tensor_flows.out_and_index, values=False)
    values = [value for _, value in bindings(recording, "out_and_index")]
    assert values and not any(value.content for value in values)
    assert [list(v.about["shape"]) for n, v in bindings(recording, "out_and_index") if n == "e"] == [[4, 3]]
