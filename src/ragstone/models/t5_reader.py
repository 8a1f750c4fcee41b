"""T5 models with numpy: the encoder with a classifier at its first token (HHEM), or one step of the decoder (MiniCheck, TRUE).

Sizes come from the shapes of the weights, so that no configuration and no code of a model is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ragstone.errors import StorageError

Weights = Mapping[str, np.ndarray]
_DISTANCE, _EPSILON = 128, 1e-6
_BIAS = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"


class T5Reader:
    """The weights of a T5 model, with any prefix. `heads` and `buckets` are those of the position bias."""

    def __init__(self, weights: Weights) -> None:
        prefix = next((name.removesuffix(_BIAS) for name in weights if name.endswith(_BIAS)), None)
        if prefix is None:
            raise StorageError("the weights are not those of a T5 model")
        names = {name.removeprefix(prefix): name for name in weights}
        self._weights = {short: weights[name] for short, name in names.items()}
        self._head = next((weights[n] for n in weights if n.endswith("classifier.weight")), None)
        self._head_bias = next((weights[n] for n in weights if n.endswith("classifier.bias")), None)
        self.buckets, self.heads = self._weights[_BIAS].shape
        shared = ("shared.weight", "encoder.embed_tokens.weight")
        self._words = next(self._weights[name] for name in shared if name in self._weights)

    @property
    def is_classifier(self) -> bool:
        """Whether the encoder has a classifier of tokens."""
        return self._head is not None

    def classify(self, tokens: list[int]) -> np.ndarray:
        """The logits of the classes at the first token."""
        if self._head is None:
            raise StorageError("the weights have no classifier")
        logits = np.asarray(self.encode(tokens)[0] @ self._head.T)
        return logits if self._head_bias is None else np.asarray(logits + self._head_bias)

    def first_token(self, tokens: list[int]) -> np.ndarray:
        """The logits of the first token that the decoder writes; it starts from token 0."""
        seen = self.encode(tokens)
        state = self._row(0)[None]
        for number in range(self._count("decoder")):
            layer = f"decoder.block.{number}.layer"
            # One token attends to itself only.
            own = self._normed(f"{layer}.0", state) @ self._of(f"{layer}.0.SelfAttention.v")
            state = state + own @ self._of(f"{layer}.0.SelfAttention.o")
            asked = self._normed(f"{layer}.1", state)
            state = state + self._attend(f"{layer}.1.EncDecAttention", asked, seen, None)
            state = state + self._forward(f"{layer}.2", state)
        state = self._scaled(state, "decoder.final_layer_norm.weight")
        if "lm_head.weight" in self._weights:
            return np.asarray((state @ self._weights["lm_head.weight"].T)[0])
        return np.asarray((state * self._words.shape[1] ** -0.5 @ self._words.T)[0])

    def encode(self, tokens: list[int]) -> np.ndarray:
        """One vector per token."""
        states = np.stack([self._row(token) for token in tokens])
        bias = self._position_bias(len(tokens))
        for number in range(self._count("encoder")):
            layer = f"encoder.block.{number}.layer"
            normed = self._normed(f"{layer}.0", states)
            states = states + self._attend(f"{layer}.0.SelfAttention", normed, normed, bias)
            states = states + self._forward(f"{layer}.1", states)
        return self._scaled(states, "encoder.final_layer_norm.weight")

    def _count(self, part: str) -> int:
        numbers = [name.split(".")[2] for name in self._weights if name.startswith(f"{part}.block.")]
        if not numbers:
            raise StorageError(f"the weights have no {part}")
        return 1 + max(map(int, numbers))

    def _row(self, token: int) -> np.ndarray:
        return np.asarray(self._words[token], dtype=np.float32)

    def _of(self, name: str) -> np.ndarray:
        return np.asarray(self._weights[f"{name}.weight"], dtype=np.float32).T

    def _normed(self, layer: str, states: np.ndarray) -> np.ndarray:
        return self._scaled(states, f"{layer}.layer_norm.weight")

    def _scaled(self, states: np.ndarray, name: str) -> np.ndarray:
        size = np.sqrt((states**2).mean(axis=-1, keepdims=True) + _EPSILON)
        return np.asarray(states / size * self._weights[name], dtype=np.float32)

    def _attend(self, name: str, asked: np.ndarray, seen: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        queries, keys, values = (
            (states @ self._of(f"{name}.{part}")).reshape(len(states), self.heads, -1).transpose(1, 0, 2)
            for part, states in (("q", asked), ("k", seen), ("v", seen))
        )
        scores = queries @ keys.transpose(0, 2, 1)
        if bias is not None:
            scores = scores + bias
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (powers / powers.sum(axis=-1, keepdims=True)) @ values
        return np.asarray(mixed.transpose(1, 0, 2).reshape(len(asked), -1) @ self._of(f"{name}.o"))

    def _forward(self, layer: str, states: np.ndarray) -> np.ndarray:
        normed = self._normed(layer, states)
        if f"{layer}.DenseReluDense.wi.weight" in self._weights:
            wide = np.maximum(normed @ self._of(f"{layer}.DenseReluDense.wi"), 0)
        else:
            gate = normed @ self._of(f"{layer}.DenseReluDense.wi_0")
            cubic = math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)
            wide = 0.5 * gate * (1 + np.tanh(cubic)) * (normed @ self._of(f"{layer}.DenseReluDense.wi_1"))
        return np.asarray(wide @ self._of(f"{layer}.DenseReluDense.wo"))

    def _position_bias(self, length: int) -> np.ndarray:
        """Near distances have a bucket each, far ones share buckets of growing width; both directions are apart."""
        half = self.buckets // 2
        exact = half // 2
        distance = np.arange(length)[None, :] - np.arange(length)[:, None]
        far = np.abs(distance)
        ratio = np.log(np.maximum(far, 1).astype(np.float32) / exact) / math.log(_DISTANCE / exact) * (half - exact)
        bucket = np.where(far < exact, far, np.minimum(exact + ratio.astype(np.int64), half - 1))
        bucket = bucket + np.where(distance > 0, half, 0)
        return np.asarray(self._weights[_BIAS][bucket].transpose(2, 0, 1), dtype=np.float32)
