"""Every site stands at its exact place: the text of the span is the expression's own."""

from __future__ import annotations

import ast
import textwrap

import pytest

from capture.side_by_side import SNIPPETS
from stillframe.capture.weave import weave_source


def texts_of(source: str, kind: str = "value") -> list[tuple[str, tuple[int, int, int, int]]]:
    """The text and the span of each site of a kind."""
    lines = source.encode().split(b"\n")
    found = []
    for site in weave_source(source, "<sites>").sites:
        if site.kind == kind:
            part = lines[site.line - 1 : site.end_line]
            part[-1] = part[-1][: site.end_col]
            part[0] = part[0][site.col :]
            found.append((b"\n".join(part).decode(), (site.line, site.col, site.end_line, site.end_col)))
    return found


def test_each_link_of_a_chain_is_a_site_of_its_own():
    source = "def f(self, x, s):\n    q = self.q_proj(x).view(s).transpose(1, 2)\n    return q\n"
    found = dict(texts_of(source))
    chain = "self.q_proj(x).view(s).transpose(1, 2)"
    ends = {"self.q_proj(x)": 22, "self.q_proj(x).view(s)": 30, chain: 46}
    assert {text: span for text, span in found.items() if text in ends} == {text: (2, 8, 2, end) for text, end in ends.items()}


def test_each_link_of_a_chain_over_lines_is_a_site_of_its_own():
    source = textwrap.dedent(
        """\
        def f(self, x, s):
            q = (
                self.q_proj(x)
                .view(
                    s, -1
                )  # (B, T, n_h, d)
                .transpose(1, 2)
            )
            return q
        """
    )
    found = dict(texts_of(source))
    first = "self.q_proj(x)"
    second = first + "\n        .view(\n            s, -1\n        )"
    third = second + "  # (B, T, n_h, d)\n        .transpose(1, 2)"
    assert found[first] == (3, 8, 3, 22)
    assert found[second] == (3, 8, 6, 9)
    assert found[third] == (3, 8, 7, 24)


def test_columns_count_bytes_as_python_does():
    source = 'def f(a):\n    größe = {"ä": a}; b = größe["ä"].x(a)\n    return b\n'
    assert 'größe["ä"].x(a)' in dict(texts_of(source)) and 'größe["ä"]' in dict(texts_of(source))


@pytest.mark.parametrize("path", sorted(SNIPPETS.glob("*.py")), ids=lambda path: path.stem)
def test_every_span_is_that_of_a_node_of_its_kind(path):
    source = path.read_text(encoding="utf-8")
    try:
        tree = ast.parse(source)
    except SyntaxError:
        assert path.stem.startswith("since_")
        return
    nodes = {
        (type(node).__name__, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for node in ast.walk(tree)
        if hasattr(node, "lineno")
    }
    silent = {("Constant", site.line) for site in weave_source(source, str(path)).sites}  # `return` gives a None of no text
    for site in weave_source(source, str(path)).sites:
        span = (site.node, site.line, site.col, site.end_line, site.end_col)
        bare_return = ("Return", *span[1:]) in nodes and site.node == "Constant" and (site.node, site.line) in silent
        assert span in nodes or bare_return, site


def test_what_a_site_binds_is_told():
    source = "def f(a):\n    x = a.x\n    y, z = a.y, a.z\n    for i in a: pass\n    return x\n"
    binds = {site.binds for site in weave_source(source, "<sites>").sites}
    assert {"a", "x", "y", "z", "i"} <= binds


def test_a_text_put_together_is_a_value_and_so_are_shapes():
    source = "def f(a):\n    name = f'{a.x}-{len(a)}'\n    rows = a.shape[0]\n    return f'{rows}'\n"
    assert [text for text, _ in texts_of(source)] == ["f'{a.x}-{len(a)}'", "a.shape", "a.shape[0]", "f'{rows}'"]
    assert "name" in {site.binds for site in weave_source(source, "<sites>").sites}


def test_a_page_break_in_the_text_is_no_line():
    source = 'def f(a):\n    """Text.\x0c More."""\n    long_name = a\n    return long_name\n'
    assert "long_name" in {site.binds for site in weave_source(source, "<sites>").sites}
