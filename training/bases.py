"""Takes gte-small's weights out of its ONNX file, checks them, and writes them under their usual names."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import save_file

_SHA256 = "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"


def main() -> None:
    """Writes model.safetensors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--onnx", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found = hashlib.sha256(options.onnx.read_bytes()).hexdigest()
    if found != _SHA256:
        raise SystemExit(f"These are not the expected weights: sha256 {found}. Download the package again.")
    graph = onnx.load(options.onnx).graph
    known = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    weights = {name: value for name, value in known.items() if name.startswith(("embeddings.", "encoder."))}
    # The matrices have numbers for names; the nodes that use them have the usual ones.
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in known:
            name = node.name.strip("/").replace("/", ".").removesuffix(".MatMul")
            weights[f"{name}.weight"] = known[node.input[1]].T
    options.out.mkdir(parents=True, exist_ok=True)
    tensors = {name: torch.from_numpy(value.copy()) for name, value in weights.items()}
    save_file(tensors, options.out / "model.safetensors")


if __name__ == "__main__":
    main()
