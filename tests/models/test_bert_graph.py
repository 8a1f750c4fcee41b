"""The graph computes what BERT is: compared with the formulas written out in numpy, on weights of our own.

Weights are read as they were written, and a file that is cut off is told as such.
"""

import json
import math

import numpy as np
import pytest

from ragstone.errors import StorageError
from ragstone.models.bert_graph import build_bert, read_safetensors

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


def write(path, tensors):
    """The format by hand: eight bytes of length, a header in JSON, the numbers."""
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64"}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        content = array.tobytes()
        header[name] = {
            "dtype": kinds[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([1.5, -2], dtype=np.float16),
    "c": np.array(7, dtype=np.int64),
}


def test_tensors_come_back(tmp_path):
    found = read_safetensors(write(tmp_path / "w.safetensors", TENSORS))
    assert found.keys() == TENSORS.keys()
    for name, array in TENSORS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_the_reference_implementation_reads_the_same(tmp_path):
    numpy_reader = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "w.safetensors"
    numpy_reader.save_file(TENSORS, path)
    for name, array in read_safetensors(path).items():
        np.testing.assert_array_equal(array, TENSORS[name])


@pytest.mark.parametrize("keep", [0, 5, 20, 200])
def test_a_cut_file_is_told(tmp_path, keep):
    path = write(tmp_path / "w.safetensors", TENSORS)
    path.write_bytes(path.read_bytes()[: min(keep, path.stat().st_size - 1)])
    with pytest.raises(StorageError, match=r"w\.safetensors is not a complete safetensors file"):
        read_safetensors(path)


def test_a_header_that_points_outside_is_told(tmp_path):
    header = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 8)
    with pytest.raises(StorageError, match="shorter than its header"):
        read_safetensors(path)
