"""The graph computes what BERT is: compared with the formulas written out in numpy, on weights of our own."""

import math

import numpy as np
import pytest

from ragstone.models.bert_graph import build_bert

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

WIDTH, HEADS, LAYERS, WORDS, PLACES, WIDE = 8, 2, 2, 11, 16, 12
CONFIG = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12}


def random_weights():
    draw = np.random.default_rng(5)
    shapes = {"embeddings.word_embeddings.weight": (WORDS, WIDTH)}
    shapes["embeddings.position_embeddings.weight"] = (PLACES, WIDTH)
    shapes["embeddings.token_type_embeddings.weight"] = (2, WIDTH)
    shapes["embeddings.LayerNorm.weight"] = shapes["embeddings.LayerNorm.bias"] = (WIDTH,)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        sizes = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        sizes |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (WIDE, WIDTH)}
        sizes |= {"output.dense": (WIDTH, WIDE)}
        for part, shape in sizes.items():
            shapes[f"{name}.{part}.weight"], shapes[f"{name}.{part}.bias"] = shape, shape[:1]
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{name}.{part}.weight"] = shapes[f"{name}.{part}.bias"] = (WIDTH,)
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def normalise(x, weights, name):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def by_hand(tokens, weights):
    """One text without padding."""
    x = weights["embeddings.word_embeddings.weight"][tokens]
    x = x + weights["embeddings.position_embeddings.weight"][: len(tokens)]
    x = normalise(x + weights["embeddings.token_type_embeddings.weight"][0], weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name, size = f"encoder.layer.{layer}", WIDTH // HEADS
        query, key, value = (linear(x, weights, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in range(HEADS):
            own = slice(head * size, (head + 1) * size)
            scores = np.exp(query[:, own] @ key[:, own].T / math.sqrt(size))
            heads.append(scores / scores.sum(-1, keepdims=True) @ value[:, own])
        attended = linear(np.concatenate(heads, axis=1), weights, f"{name}.attention.output.dense")
        x = normalise(attended + x, weights, f"{name}.attention.output.LayerNorm")
        wide = linear(x, weights, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = normalise(linear(wide, weights, f"{name}.output.dense") + x, weights, f"{name}.output.LayerNorm")
    return x


def test_the_graph_computes_bert_whatever_the_padding():
    weights = random_weights()
    session = onnxruntime.InferenceSession(build_bert(weights, CONFIG), providers=["CPUExecutionProvider"])
    texts = [[1, 2, 3, 4, 5], [10], [7, 7, 0]]
    padded = np.zeros((3, 5), dtype=np.int64)
    for row, text in enumerate(texts):
        padded[row, : len(text)] = text
    [states] = session.run(None, {"tokens": padded, "lengths": np.array([5, 1, 3], dtype=np.int32)})
    for row, text in enumerate(texts):
        exact = {name: array.astype(np.float64) for name, array in weights.items()}
        np.testing.assert_allclose(states[row, : len(text)], by_hand(text, exact), atol=1e-5)


def test_the_same_weights_make_the_same_file():
    assert build_bert(random_weights(), CONFIG) == build_bert(random_weights(), CONFIG)
