"""Writes a trained student as an ONNX graph, checks it against torch, and makes it one byte a weight.

The graph is put together by hand, so that it holds nothing but what the judge needs.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.torch import load_file

from model import GTE, Judge
from tokens import Pairs, batches

_OPSET = 20


class _Graph:
    """Nodes and constants as they are added; every method returns the name of what it made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(value, name))
        return name

    def add(self, kind: str, *inputs: str, out: str = "", outputs: int = 1, **attributes: object) -> str:
        name = out or f"{kind}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"n_{name}", **attributes))
        return name

    def linear(self, x: str, weights: dict[str, np.ndarray], name: str) -> str:
        product = self.add("MatMul", x, self.constant(f"{name}.w", np.ascontiguousarray(weights[f"{name}.weight"].T)))
        return self.add("Add", product, self.constant(f"{name}.b", weights[f"{name}.bias"]))

    def norm(self, x: str, weights: dict[str, np.ndarray], name: str) -> str:
        scale, bias = (self.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=GTE.epsilon)


def build(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The whole graph in single precision."""
    graph = _Graph()
    number = lambda name, values: graph.constant(name, np.array(values, dtype=np.int64))  # noqa: E731
    length = graph.add("Shape", "input_ids", start=1, end=2)
    places = graph.add("Slice", graph.constant("places", weights["places.weight"]), number("zero", [0]), length)
    x = graph.add("Gather", graph.constant("words", weights["words.weight"]), "input_ids")
    kinds = graph.add("Gather", graph.constant("segments", weights["segments.weight"]), "token_type_ids")
    x = graph.norm(graph.add("Add", graph.add("Add", x, kinds), places), weights, "norm")
    seen = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=TensorProto.FLOAT), number("axes", [1, 2]))
    hidden = graph.add("Sub", graph.constant("one", np.array(1, dtype=np.float32)), seen)
    mask = graph.add("Mul", hidden, graph.constant("low", np.array(-1e4, dtype=np.float32)))
    for index in range(GTE.layers):
        x = _layer(graph, x, mask, weights, f"layers.{index}.", only_first=index == GTE.layers - 1)
    first = graph.add("Gather", x, graph.constant("first", np.array(0, dtype=np.int64)), axis=1)
    pooled = graph.add("Tanh", graph.linear(first, weights, "pooler"))
    outputs = graph.linear(pooled, weights, "heads")
    graph.add("Gather", outputs, graph.constant("at_match", np.array(0, dtype=np.int64)), out="match", axis=1)
    graph.add("Slice", outputs, number("from", [1]), number("to", [4]), number("along", [1]), out="support")
    graph.add("Gather", outputs, graph.constant("at_fraction", np.array(4, dtype=np.int64)), out="fraction", axis=1)
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"])
        for n in ("input_ids", "attention_mask", "token_type_ids")
    ]
    made = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, shape)
        for n, shape in (("match", ["batch"]), ("support", ["batch", 3]), ("fraction", ["batch"]))
    ]
    whole = helper.make_graph(graph.nodes, "local_judge", inputs, made, list(graph.constants.values()))
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="ragstone")
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model


def _layer(
    graph: _Graph, x: str, mask: str, weights: dict[str, np.ndarray], name: str, only_first: bool = False
) -> str:
    """One layer; of the last one only the first token is needed, which saves about 5 % of the time."""
    size = GTE.hidden // GTE.heads
    shape = graph.constant("split", np.array([0, 0, GTE.heads, size], dtype=np.int64))
    mixed = graph.linear(x, weights, f"{name}qkv")
    parts = graph.add("Split", mixed, outputs=3, axis=2, num_outputs=3)
    mixed_q, mixed_k, mixed_v = (f"{parts}_{i}" for i in range(3))
    if only_first:
        token = graph.constant("first_token", np.array([0], dtype=np.int64))
        x, mixed_q = (graph.add("Gather", whole, token, axis=1) for whole in (x, mixed_q))
    q, k, v = (graph.add("Reshape", part, shape) for part in (mixed_q, mixed_k, mixed_v))
    q = graph.add("Transpose", q, perm=[0, 2, 1, 3])
    k = graph.add("Transpose", k, perm=[0, 2, 3, 1])
    v = graph.add("Transpose", v, perm=[0, 2, 1, 3])
    scores = graph.add(
        "Mul", graph.add("MatMul", q, k), graph.constant("scale", np.array(size**-0.5, dtype=np.float32))
    )
    shares = graph.add("Softmax", graph.add("Add", scores, mask), axis=-1)
    read = graph.add("Transpose", graph.add("MatMul", shares, v), perm=[0, 2, 1, 3])
    read = graph.add("Reshape", read, graph.constant("joined", np.array([0, 0, GTE.hidden], dtype=np.int64)))
    x = graph.norm(graph.add("Add", graph.linear(read, weights, f"{name}out"), x), weights, f"{name}norm1")
    fed = graph.add("Gelu", graph.linear(x, weights, f"{name}up"))
    return graph.norm(graph.add("Add", graph.linear(fed, weights, f"{name}down"), x), weights, f"{name}norm2")


def quantise(plain: Path, small: Path) -> None:
    """Bytes for the matrices and the word table; seven bits, so that processors without wide sums do not overflow."""
    model = onnx.load(plain)
    constants = {constant.name for constant in model.graph.initializer}
    inner = [n.name for n in model.graph.node if n.op_type == "MatMul" and n.input[1] not in constants]
    last = [n.name for n in model.graph.node if n.op_type == "MatMul" and n.input[1] in ("heads.w", "pooler.w")]
    gathers = [n.name for n in model.graph.node if n.op_type == "Gather" and n.input[0] != "words"]
    quantize_dynamic(
        plain, small, op_types_to_quantize=["MatMul", "Gather"], per_channel=True, reduce_range=True,
        weight_type=QuantType.QInt8, nodes_to_exclude=[*inner, *last, *gathers], extra_options={"MatMulConstBOnly": True},
    )  # fmt: skip


def session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    """A session on the processor."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path: Path, pairs: Pairs, rows: np.ndarray, threads: int) -> np.ndarray:
    """The five outputs for some pairs, each computed by itself: with bytes, a pair's numbers would depend on its batch."""
    judge = session(path, 1)
    names = ("input_ids", "attention_mask", "token_type_ids")

    def compute(row: int) -> np.ndarray:
        ids = pairs.ids[pairs.starts[row] : pairs.starts[row + 1]].astype(np.int64)[None]
        segments = (np.arange(ids.shape[1]) >= pairs.seconds[row]).astype(np.int64)[None]
        feeds = dict(zip(names, (ids, np.ones_like(ids), segments), strict=True))
        match, support, fraction = judge.run(["match", "support", "fraction"], feeds)
        return np.array([match[0], *support[0], fraction[0]], dtype=np.float32)

    with ThreadPoolExecutor(threads) as pool:
        return np.stack(list(pool.map(compute, rows.tolist())))


@torch.no_grad()
def in_torch(weights: dict[str, torch.Tensor], pairs: Pairs, rows: np.ndarray) -> np.ndarray:
    """The same outputs by torch in single precision."""
    judge = Judge(GTE)
    judge.load_state_dict({name: value.float() for name, value in weights.items()})
    judge.eval()
    found = np.zeros((len(pairs), 5), dtype=np.float32)
    for batch in batches(pairs, rows, 8192, None, most=64):
        found[batch.rows] = judge(
            *(torch.from_numpy(part) for part in (batch.ids, batch.lengths, batch.segments))
        ).numpy()
    return found[rows]


def main() -> None:
    """Writes model-fp32.onnx, model.onnx and the outputs of the latter for the pairs kept for validation and test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--student", type=Path, required=True, help="folder with model.safetensors")
    parser.add_argument("--pairs", type=Path, required=True, help="the tokenised pairs (.npz)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="run only each n-th of the kept synthetic pairs")
    options = parser.parse_args()
    with np.load(options.pairs) as arrays:
        pairs = Pairs(**{name: arrays[name] for name in Pairs._fields})
    kept = np.flatnonzero(pairs.split != "train")
    made = np.char.startswith(pairs.source[kept].astype(str), "made/")
    # Of the synthetic pairs only every n-th is run; the labelled ones all are.
    rows = kept[~made | (np.arange(len(kept)) % options.every == 0)]
    weights = load_file(str(options.student / "model.safetensors"))
    plain, small = options.student / "model-fp32.onnx", options.student / "model.onnx"
    onnx.save(build({name: value.float().numpy() for name, value in weights.items()}), plain)
    some = rows[:: max(1, len(rows) // 200)]
    apart = np.abs(run(plain, pairs, some, options.threads) - in_torch(weights, pairs, some)).max()
    print(f"graph and torch differ by at most {apart:.2e}")
    if apart > 1e-3:
        raise SystemExit("The graph does not compute what the model computes.")
    quantise(plain, small)
    outputs = run(small, pairs, rows, options.threads)
    whole = np.full((len(kept), 5), np.nan, dtype=np.float32)
    whole[np.searchsorted(kept, rows)] = outputs
    np.save(options.student / "outputs-int8.npy", whole)
    apart = np.abs(whole[np.searchsorted(kept, some)] - run(plain, pairs, some, options.threads)).mean()
    print(f"{small.stat().st_size / 1e6:.2f} MB; bytes and single precision differ by {apart:.3f} on average")


if __name__ == "__main__":
    main()
