"""The trained adapter as a file for llama.cpp, at a smaller rank if asked.

python training/adapter_file.py adapter.safetensors adapter.gguf --rank 8
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from safetensors import safe_open


def main() -> None:
    """Writes the changes under the names they have, in half precision; llama.cpp scales them by alpha / rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rank", type=int, required=True)
    options = parser.parse_args()
    with safe_open(str(options.source), "np") as given:
        about = given.metadata()
        tensors = {name: given.get_tensor(name).astype(np.float32) for name in given.keys()}  # noqa: SIM118
    writer = GGUFWriter(str(options.out), "qwen2")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(about["alpha"]) * options.rank / int(about["rank"]))
    for name in sorted(name for name in tensors if name.endswith("lora_a")):
        low, high = reduce(tensors[name], tensors[name[:-1] + "b"], options.rank)
        writer.add_tensor(name, np.ascontiguousarray(low.astype(np.float16)))
        writer.add_tensor(name[:-1] + "b", np.ascontiguousarray(high.astype(np.float16)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def reduce(low: np.ndarray, high: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest directions of the change high × low."""
    q_high, r_high = np.linalg.qr(high)
    q_low, r_low = np.linalg.qr(low.T)
    left, sizes, right = np.linalg.svd(r_high @ r_low.T)
    root = np.sqrt(sizes[:rank])
    return (root[:, None] * right[:rank]) @ q_low.T, (q_high @ left[:, :rank]) * root


if __name__ == "__main__":
    main()
