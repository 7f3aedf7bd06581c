"""Small functions over tensors, each logging a clone of what it bound, in order: the truth a recording is held against."""

import torch
from torch import nn

LOG: list[tuple[str, torch.Tensor]] = []


def log(name, tensor):
    LOG.append((name, tensor.detach().clone()))


def in_place_chain():
    a = torch.arange(6.0)
    log("a", a)
    b = a.view(2, 3)
    log("b", b)
    a.add_(10)
    c = b.t()
    log("c", c)
    b[0, 1] = -1.0
    d = a
    log("d", d)
    c *= 2
    log("c", c)
    e = a.detach()
    log("e", e)
    e.mul_(3)
    f = b
    log("f", f)
    g = a.data
    log("g", g)
    g.sub_(1)
    h = c
    log("h", h)
    i = a[2:5]
    log("i", i)
    i.zero_()
    j = b.clone()
    log("j", j)
    k = a.expand(3, 6)
    log("k", k)
    return k


def resized():
    a = torch.arange(4.0)
    log("a", a)
    a.unsqueeze_(0)
    b = a
    log("b", b)
    a.resize_(2, 6).fill_(7)
    c = a
    log("c", c)
    a.set_(torch.ones(3))
    d = a
    log("d", d)
    return d


def out_and_index():
    a = torch.zeros(3, 4)
    torch.add(torch.ones(3, 4), 2, out=a)
    b = a
    log("b", b)
    a[torch.tensor([0, 2]), :2] = 9
    c = a[:, ::2]
    log("c", c)
    a[1] += 5
    d = a
    log("d", d)
    a.index_add_(0, torch.tensor([1]), torch.ones(1, 4))
    e = a.transpose(0, 1)
    log("e", e)
    return e


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        w = self.weight
        log("w", w)
        self.count += 1
        n = self.count
        log("n", n)
        y = x * w
        log("y", y)
        return y


def written_out_of_sight():
    """Writes that torch does not count: through `.data`, through numpy, by setting `.data`."""
    holder = Holder()
    with torch.no_grad():
        first = holder(torch.ones(3))
        log("first", first)
        hidden_write(holder)
        second = holder(torch.ones(3))
        log("second", second)
        holder.weight.data = torch.full((3,), 4.0)
        third = holder(torch.ones(3))
        log("third", third)
    return third


hidden_write = eval("lambda holder: holder.weight.data.add_(1)")  # made from a string: nobody watches it


def under_inference_mode():
    with torch.inference_mode():
        a = torch.ones(4)
        log("a", a)
        a.add_(1)
        b = a
        log("b", b)
        c = b.view(2, 2)
        log("c", c)
        c.mul_(5)
        d = a
        log("d", d)
    return d


def reused_memory():
    """Temporaries whose addresses are taken again at once by others."""
    total = torch.zeros(64)
    for i in range(50):
        x = torch.full((64,), float(i))
        log("x", x)
        y = x + 1
        log("y", y)
        del x
        z = y * 2
        log("z", z)
        total = total + z
        log("total", total)
    return total
