"""Reads BERT weights from safetensors and builds an ONNX graph from them, so that no training framework is needed.

A safetensors file is a JSON header followed by plain numbers; it cannot run code. Attention, layer normalisation and GELU are
fused operators of onnxruntime.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.errors import StorageError

if TYPE_CHECKING:
    import onnx

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "<i1", "U8": "<u1", "BOOL": "?"}
_HEADER_SIZE = 8
# The limit of the reference implementation, against malicious files.
_LONGEST_HEADER = 100_000_000


def read_safetensors(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Return the tensors of a file by name, as views of its bytes."""
    content = np.memmap(path, dtype=np.uint8, mode="r") if os.path.getsize(path) else np.zeros(0, np.uint8)
    size = int.from_bytes(content[:_HEADER_SIZE].tobytes(), "little")
    start = _HEADER_SIZE + size
    if len(content) < _HEADER_SIZE or size > _LONGEST_HEADER or start > len(content):
        raise _broken(path, "its header is truncated")
    try:
        header = json.loads(content[_HEADER_SIZE:start].tobytes())
        return {name: _view(content[start:], entry) for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(path, str(error)) from None


def _view(data: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError("it is shorter than its header states")
    if entry["dtype"] == "BF16":  # the upper half of a 32-bit number
        return (data[start:end].view("<u2").astype("<u4") << 16).view("<f4").reshape(entry["shape"])
    return data[start:end].view(np.dtype(_KINDS[entry["dtype"]])).reshape(entry["shape"])


def _broken(path: str | os.PathLike[str], why: str) -> StorageError:
    return StorageError(f"{Path(path).name} is not a complete safetensors file: {why}")


_FUSED = "com.microsoft"
_OPSET, _IR = 17, 8


def convert_bert(folder: Path) -> None:
    """Replace model.safetensors in a folder by an ONNX graph with the same weights."""
    weights, config = folder / "model.safetensors", (folder / "config.json").read_text(encoding="utf-8")
    (folder / "model.onnx").write_bytes(build_bert(read_safetensors(weights), json.loads(config)))
    weights.unlink()


def build_bert(tensors: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> bytes:
    """Return the graph from `tokens` (batch × length, right-padded) and `lengths` (batch) to `states` (batch × length × width)."""
    graph = _Graph(tensors)
    epsilon = float(config["layer_norm_eps"])
    states = _embed(graph, epsilon)
    for number in range(int(config["num_hidden_layers"])):
        states = _layer(graph, f"encoder.layer.{number}", states, int(config["num_attention_heads"]), epsilon)
    return graph.finish(states, int(config["hidden_size"]))


def _embed(graph: _Graph, epsilon: float) -> str:
    words = graph.node("Gather", ["embeddings.word_embeddings.weight", "tokens"])
    # All tokens belong to the first segment, so its vector is added to every position.
    segment = graph.tensors["embeddings.token_type_embeddings.weight"][0]
    graph.add("position_vectors", graph.tensors["embeddings.position_embeddings.weight"] + segment)
    graph.add("zero", np.array([0], dtype=np.int64))
    graph.add("one", np.array([1], dtype=np.int64))
    shape = graph.node("Shape", ["tokens"])
    length = graph.node("Slice", [shape, "one", graph.add("two", np.array([2], dtype=np.int64))])
    positions = graph.node("Slice", ["position_vectors", "zero", length])
    total = graph.node("Add", [words, positions])
    names = ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    return graph.node("LayerNormalization", [total, *names], axis=-1, epsilon=epsilon)


def _layer(graph: _Graph, layer: str, states: str, heads: int, epsilon: float) -> str:
    own = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
    packed = np.concatenate([graph.tensors[f"{part}.weight"].T for part in own], axis=1)
    bias = np.concatenate([graph.tensors[f"{part}.bias"] for part in own])
    inputs = [states, graph.add(f"{layer}.qkv", packed), graph.add(f"{layer}.qkv.bias", bias), "lengths"]
    attended = graph.node("Attention", inputs, domain=_FUSED, num_heads=heads)
    states = _add_and_normalise(graph, f"{layer}.attention.output", attended, states, epsilon)
    wide = graph.multiply(states, f"{layer}.intermediate.dense.weight")
    wide = graph.node("BiasGelu", [wide, f"{layer}.intermediate.dense.bias"], domain=_FUSED)
    return _add_and_normalise(graph, f"{layer}.output", wide, states, epsilon)


def _add_and_normalise(graph: _Graph, part: str, changed: str, states: str, epsilon: float) -> str:
    dense = graph.multiply(changed, f"{part}.dense.weight")
    inputs = [dense, states, f"{part}.LayerNorm.weight", f"{part}.LayerNorm.bias", f"{part}.dense.bias"]
    return graph.node("SkipLayerNormalization", inputs, domain=_FUSED, epsilon=epsilon)


class _Graph:
    """Nodes and their weights, in the order of insertion."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        self.tensors = tensors
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, np.ndarray] = {}

    def add(self, name: str, values: np.ndarray) -> str:
        self._weights[name] = values
        return name

    def node(self, kind: str, inputs: list[str], domain: str = "", **settings: Any) -> str:
        from onnx import helper  # noqa: PLC0415

        for name in inputs:
            if name in self.tensors:
                self.add(name, self.tensors[name])
        output = f"{kind}.{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **settings))
        return output

    def multiply(self, states: str, weight: str) -> str:
        """Multiply by the transposed weight, as torch stores it."""
        return self.node("MatMul", [states, self.add(f"{weight}.T", self.tensors[weight].T)])

    def finish(self, states: str, width: int) -> bytes:
        from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

        self._nodes[-1].output[0] = "states"
        assert states not in self._weights  # noqa: S101  (the last node's output has just been renamed)
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [
                helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "length"]),
                helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
            ],
            [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "length", width])],
            [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in self._weights.items()],
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
        content: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=_IR).SerializeToString()
        return content
