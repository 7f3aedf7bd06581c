"""Each link of a chain of calls is a value of its own, at its own exact place in the source."""

from __future__ import annotations

import linecache
import sys
import types

import pytest

from recorded import record_call

SOURCE = '''\
class Layer:
    def q_proj(self, x):
        return Box(x)

    def on_one_line(self, x, s):
        q = self.q_proj(x).view(s).transpose(1, 2)
        return q

    def on_many_lines(self, x, s):
        q = (
            self.q_proj(x)
            .view(
                s
            )
            .transpose(1, 2)
        )
        return q


class Box:
    def __init__(self, made):
        self.made = made

    def view(self, shape):
        return Box((self.made, shape))

    def transpose(self, one, other):
        return Box((self.made, one, other))


layer = Layer()
'''
LINKS = {
    "on_one_line": {
        "self.q_proj(x)": (6, 12, 6, 26),
        "self.q_proj(x).view(s)": (6, 12, 6, 34),
        "self.q_proj(x).view(s).transpose(1, 2)": (6, 12, 6, 50),
    },
    "on_many_lines": {
        "self.q_proj(x)": (11, 12, 11, 26),
        "self.q_proj(x)\n            .view(\n                s\n            )": (11, 12, 14, 13),
        "self.q_proj(x)\n            .view(\n                s\n            )\n            .transpose(1, 2)": (11, 12, 15, 28),
    },
}


@pytest.mark.parametrize("method", LINKS)
def test_three_links_are_three_values_at_three_places(method, tmp_path):
    path = tmp_path / "layer.py"
    path.write_text(SOURCE, encoding="utf-8")
    module = types.ModuleType("layer_of_links")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    linecache.checkcache(str(path))
    try:
        exec(compile(SOURCE, str(path), "exec", dont_inherit=True), module.__dict__)
        include = (module.__name__,)
        result, recording = record_call(
            tmp_path / "x.still", lambda: getattr(module.layer, method)("x", (2, 3)), include=include
        )
    finally:
        del sys.modules[module.__name__]
    assert result.made == (("x", (2, 3)), 1, 2)
    lines = SOURCE.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    found, ids = {}, []
    for event in recording.events():
        site = recording.sites[event.site]
        qualname = recording.functions[site.function].qualname
        if site.node == "Call" and qualname == f"Layer.{method}":
            text = SOURCE[starts[site.line - 1] + site.col : starts[site.end_line - 1] + site.end_col]
            found[text] = (site.line, site.col, site.end_line, site.end_col)
            ids.append(event.value)
            assert site.binds == ("q" if text.endswith("transpose(1, 2)") else "")
    assert found == LINKS[method]
    assert list(found) == list(LINKS[method]), "in the order in which they are evaluated"
    assert len(set(ids)) == 3
    calls = {recording.sites[frame.call_site].end_col for frame in recording.frames.values() if frame.call_site}
    assert {place[3] for place in found.values()} <= calls, "each call that came into scope knows the link that made it"
