"""Small models for tests: attention written out, dropout, checkpointing, a custom autograd function, a model that fails."""

import threading

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x * x
        return y

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        gradient = 2 * x * upstream
        return gradient


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.drop = nn.Dropout(0.25)
        self.fail_at = None

    def forward(self, x):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q = self.q_proj(x).view(shape).transpose(1, 2)
        k = self.k_proj(x).view(shape).transpose(1, 2)
        v = self.v_proj(x).view(shape).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        if self.fail_at is not None and length > self.fail_at:
            scores = scores + torch.zeros(3, 5, 7)
        weights = self.drop(scores.softmax(-1))
        return (weights @ v).transpose(1, 2).reshape(batch, length, width)


class Block(nn.Module):
    def __init__(self, width=8, heads=2, recompute=False):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.recompute = recompute

    def inner(self, x):
        return x + self.attention(self.norm(x))

    def forward(self, x):
        if self.recompute:
            return checkpoint(self.inner, x, use_reentrant=False)
        return self.inner(x)


class Model(nn.Module):
    def __init__(self, layers=2, recompute=False):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.blocks = nn.ModuleList(Block(recompute=recompute) for _ in range(layers))
        self.head = nn.Linear(8, 11)

    def forward(self, ids, labels=None):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        logits = self.head(Square.apply(x))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return logits, loss


def train(recompute=False, steps=2):
    """Two steps of training from a fixed seed: everything that could come out different."""
    torch.manual_seed(3)
    model = Model(recompute=recompute)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    found = []
    for _ in range(steps):
        ids = torch.randint(0, 11, (2, 5))
        optimizer.zero_grad()
        logits, loss = model(ids, labels=ids)
        loss.backward()
        found += [logits.detach().clone(), loss.detach().clone()]
        found += [parameter.grad.clone() for parameter in model.parameters()]
        optimizer.step()
    found += [parameter.detach().clone() for parameter in model.parameters()]
    found.append(torch.get_rng_state())
    return found


def two_threads():
    """The same model called from two threads at once."""
    model = Model().eval()
    ids = torch.arange(5)[None]
    results = {}

    def work(name):
        with torch.no_grad():
            for _ in range(20):
                results[name] = model(ids + name)[0]

    threads = [threading.Thread(target=work, args=(name,)) for name in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with torch.no_grad():
        expected = {name: model(ids + name)[0] for name in (0, 1)}
    return all(torch.equal(results[name], expected[name]) for name in (0, 1))
