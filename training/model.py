"""The cross-encoder: BERT with three heads on its first token."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Shape:
    """The sizes of an encoder."""

    layers: int
    hidden: int
    heads: int
    positions: int
    vocabulary: int
    epsilon: float


MINILM = Shape(6, 384, 12, 512, 30522, 1e-12)
GTE = Shape(12, 384, 12, 512, 30522, 1e-12)


def _feed(x: Tensor, mixed: Tensor, parts: list[tuple[Tensor, Tensor]], dropout: float, epsilon: float) -> Tensor:
    out, norm1, up, down, norm2 = parts
    size = x.shape[-1:]
    mixed = functional.dropout(functional.linear(mixed, *out), dropout)
    x = functional.layer_norm(x + mixed, size, *norm1, epsilon)
    fed = functional.dropout(functional.linear(functional.gelu(functional.linear(x, *up)), *down), dropout)
    return functional.layer_norm(x + fed, size, *norm2, epsilon)


# Set to a compiled version where there is a compiler: it is the same sums in fewer steps.
feed = _feed


def compile_feed() -> None:
    """Compiles what follows attention, once for all layers and lengths."""
    global feed  # noqa: PLW0603
    feed = torch.compile(_feed, dynamic=True)


def plain_feed() -> None:
    """Goes back to what needs no compiler."""
    global feed  # noqa: PLW0603
    feed = _feed


class Layer(nn.Module):
    """Attention and a feed-forward part, each followed by a normalisation."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, dropout
        self.qkv = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.out = nn.Linear(shape.hidden, shape.hidden)
        self.norm1 = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.up = nn.Linear(shape.hidden, 4 * shape.hidden)
        self.down = nn.Linear(4 * shape.hidden, shape.hidden)
        self.norm2 = nn.LayerNorm(shape.hidden, shape.epsilon)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """One layer; the mask is added to the attention scores."""
        batch, length, hidden = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        return self.feed(x.reshape(-1, hidden), mixed.transpose(1, 2).reshape(-1, hidden)).view(batch, length, hidden)

    def feed(self, x: Tensor, mixed: Tensor) -> Tensor:
        """What follows attention, on all places of all texts at once: the part that is worth compiling."""
        dropout = self.dropout if self.training else 0.0
        parts = [(part.weight, part.bias) for part in (self.out, self.norm1, self.up, self.down, self.norm2)]
        return feed(x, mixed, parts, dropout, self.norm1.eps)


class Judge(nn.Module):
    """The encoder with its heads: match (1), support (3), fraction (1)."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden)
        self.segments = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.pooler = nn.Linear(shape.hidden, shape.hidden)
        self.heads = nn.Linear(shape.hidden, 5)

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor) -> Tensor:
        """The five outputs of each pair: match, three of support, fraction."""
        length = ids.shape[1]
        places = torch.arange(length, device=ids.device)
        padding = places[None] >= lengths[:, None]
        mask = torch.zeros(padding.shape, device=ids.device, dtype=torch.float32).masked_fill(padding, -1e4)[
            :, None, None
        ]
        x = self.words(ids) + self.places(places)[None] + self.segments(segments)
        x = functional.dropout(self.norm(x), self.dropout, self.training)
        kind = torch.bfloat16 if torch.is_autocast_enabled("cuda") else torch.float32
        mask = mask.to(kind).expand(-1, self.shape.heads, length, -1)
        for layer in self.layers:
            x = layer(x, mask)
        pooled = functional.dropout(torch.tanh(self.pooler(x[:, 0])), self.dropout, self.training)
        return self.heads(pooled).float()


def load_base(paths: list[Path], shape: Shape, dropout: float = 0.1) -> Judge:
    """The published weights with new heads, a judge that was trained before, or the mean of several such judges."""
    read = [read_weights(path) for path in paths]
    given = {name: sum(one[name].float() for one in read) / len(read) for name in read[0]}
    judge = Judge(shape, dropout)
    if "heads.weight" in given:
        judge.load_state_dict(given)
        return judge
    state = dict(judge.state_dict())
    state["words.weight"] = given["embeddings.word_embeddings.weight"]
    state["places.weight"] = given["embeddings.position_embeddings.weight"]
    state["segments.weight"] = given["embeddings.token_type_embeddings.weight"]
    for part in ("weight", "bias"):
        state[f"norm.{part}"] = given[f"embeddings.LayerNorm.{part}"]
        if f"pooler.dense.{part}" in given:  # gte-small has none
            state[f"pooler.{part}"] = given[f"pooler.dense.{part}"]
    for index in range(shape.layers):
        _fill_layer(state, given, index)
    judge.load_state_dict(state)
    nn.init.normal_(judge.heads.weight, std=0.02)
    nn.init.zeros_(judge.heads.bias)
    return judge


def read_weights(path: Path) -> dict[str, Tensor]:
    """Weights from safetensors files (one, or a folder's); matrices packed as bytes with a scale for each row are unpacked."""
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
    packed = {name: value for file in files for name, value in load_file(str(file)).items()}
    plain = {}
    for name, value in packed.items():
        scale = packed.get(name + ".scale")
        if not name.endswith(".scale"):
            plain[name] = value if scale is None else value.float() * scale.float()[:, None]
    return plain


def _fill_layer(state: dict[str, Tensor], given: dict[str, Tensor], index: int) -> None:
    base, own = f"encoder.layer.{index}.", f"layers.{index}."
    for part in ("weight", "bias"):
        qkv = [given[f"{base}attention.self.{name}.{part}"] for name in ("query", "key", "value")]
        state[f"{own}qkv.{part}"] = torch.cat(qkv)
        state[f"{own}out.{part}"] = given[f"{base}attention.output.dense.{part}"]
        state[f"{own}norm1.{part}"] = given[f"{base}attention.output.LayerNorm.{part}"]
        state[f"{own}up.{part}"] = given[f"{base}intermediate.dense.{part}"]
        state[f"{own}down.{part}"] = given[f"{base}output.dense.{part}"]
        state[f"{own}norm2.{part}"] = given[f"{base}output.LayerNorm.{part}"]
