"""Temporaries and names whose moment of death is to be observed."""

import torch


def chain(probe, events):
    x = probe(torch.ones(4), "x")
    y = probe(probe(x + 1, "sum") * 2, "product")
    events.append("after product")
    x = probe(x.view(2, 2), "view")
    events.append("after view")
    z = probe(y.relu_(), "same")
    del y
    events.append("after del")
    pair = (probe(z * 3, "left"), probe(z * 4, "right"))
    left, _ = pair
    del pair, _
    events.append("after pair")
    return left.sum()
