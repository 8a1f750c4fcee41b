"""A BERT encoder as an ONNX graph, made from its weights: it runs without the framework that trained it.

Attention, layer normalisation and GELU are the fused operators of onnxruntime, the one engine that we use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

_FUSED = "com.microsoft"
_OPSET, _IR = 17, 8


def build_bert(tensors: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> bytes:
    """The graph from `tokens` (batch × length, right-padded) and `lengths` (batch) to `states` (batch × length × width)."""
    graph = _Graph(tensors)
    epsilon = float(config["layer_norm_eps"])
    states = _embed(graph, epsilon)
    for number in range(int(config["num_hidden_layers"])):
        states = _layer(graph, f"encoder.layer.{number}", states, int(config["num_attention_heads"]), epsilon)
    return graph.finish(states, int(config["hidden_size"]))


def build_bert_from_files(weights: str, config: str) -> bytes:
    """The same from a file of safetensors and its config.json."""
    from ragstone.models.safetensors import read_safetensors  # noqa: PLC0415

    with open(config, encoding="utf-8") as stream:
        return build_bert(read_safetensors(weights), json.load(stream))


def _embed(graph: _Graph, epsilon: float) -> str:
    words = graph.node("Gather", ["embeddings.word_embeddings.weight", "tokens"])
    # All tokens are of the first segment, so its vector is the same for every position.
    segment = graph.tensors["embeddings.token_type_embeddings.weight"][0]
    graph.add("places", graph.tensors["embeddings.position_embeddings.weight"] + segment)
    graph.add("zero", np.array([0], dtype=np.int64))
    graph.add("one", np.array([1], dtype=np.int64))
    shape = graph.node("Shape", ["tokens"])
    length = graph.node("Slice", [shape, "one", graph.add("two", np.array([2], dtype=np.int64))])
    positions = graph.node("Slice", ["places", "zero", length])
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
    """Nodes and the weights that they use, in the order in which they are added."""

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
        """By the transposed weight, as torch keeps it."""
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
        made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=_IR).SerializeToString()
        return made
