"""A GPT small enough to read in one go, with a place to stop in its attention.

Run it with `python examples/mini_gpt.py` and it halts at the `breakpoint()`; with `stillframe run examples/mini_gpt.py`
it runs through, and what stood at that place is in the recording.
"""

import torch
from torch import Tensor, nn


class MiniAttention(nn.Module):
    """Scaled dot-product attention with one head: no mask, no dropout, so that nothing hides the shapes."""

    def __init__(self, hidden_dim: int) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim)
        self.out_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, hidden_states: Tensor) -> Tensor:
        q = self.q_proj(hidden_states)  # (B, T, H)
        k = self.k_proj(hidden_states)  # (B, T, H)
        v = self.v_proj(hidden_states)  # (B, T, H)
        attn_scores = torch.matmul(q, k.transpose(-2, -1)) / self.hidden_dim**0.5  # (B, T, T)
        breakpoint()  # look: attn_scores.shape, attn_scores[0, 0, :5]
        attn_weights = torch.softmax(attn_scores, dim=-1)  # (B, T, T), each row sums to 1
        attn_output = torch.matmul(attn_weights, v)  # (B, T, H)
        return self.out_proj(attn_output)  # (B, T, H)


class MiniGPT(nn.Module):
    """Embedding, blocks of norm, attention and norm, each with a residual, and a head over the vocabulary."""

    def __init__(self, hidden_dim: int, num_layers: int = 2, vocab_size: int = 1000) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden_dim)
        self.blocks = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(hidden_dim), MiniAttention(hidden_dim), nn.LayerNorm(hidden_dim)])
            for _ in range(num_layers)
        )
        self.lm_head = nn.Linear(hidden_dim, vocab_size)

    def forward(self, input_ids: Tensor) -> Tensor:
        hidden_states = self.embed(input_ids)  # (B, T) -> (B, T, H)
        for attn_norm, attn, out_norm in self.blocks:
            residual = hidden_states
            hidden_states = attn(attn_norm(hidden_states)) + residual  # (B, T, H)
            residual = hidden_states
            hidden_states = out_norm(hidden_states) + residual  # (B, T, H)
        return self.lm_head(hidden_states)  # (B, T, V)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = MiniGPT(hidden_dim=32, num_layers=2, vocab_size=1000)
    input_ids = torch.randint(0, 1000, (2, 8))  # (B, T)
    logits = model(input_ids)
    print("logits shape:", logits.shape)
