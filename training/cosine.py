"""The baseline of cosine similarity: MiniLM sentence embeddings of both segments of the kept pairs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from model import MINILM, load_base
from tokens import CLS, SEP, load_tokenizer


@torch.no_grad()
def main() -> None:
    """Writes cosine.npy, one number a kept row, and rows.jsonl, the kept rows themselves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with options.pairs.open(encoding="utf-8") as lines:
        kept = [line for line in lines if '"split": "train"' not in line[:120]]
    (options.out / "rows.jsonl").write_text("".join(kept), encoding="utf-8")
    rows = [json.loads(line) for line in kept]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    judge = load_base(options.base, MINILM).to(device).eval()
    last: dict[str, Tensor] = {}
    judge.layers[-1].register_forward_hook(lambda _module, _inputs, output: last.update(x=output))
    tokenizer = load_tokenizer(options.tokenizer)
    texts = list({row[key] for row in rows for key in ("first", "second")})
    place = {text: index for index, text in enumerate(texts)}
    vectors = _embed(judge, last, [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)], device)
    ours = [float(vectors[place[row["first"]]] @ vectors[place[row["second"]]]) for row in rows]
    np.save(options.out / "cosine.npy", np.array(ours, dtype=np.float32))


def _embed(judge: nn.Module, last: dict[str, Tensor], numbers: list[list[int]], device: torch.device) -> np.ndarray:
    """Mean of the last layer over the tokens, at most 256 of them, scaled to length one."""
    found = np.zeros((len(numbers), MINILM.hidden), dtype=np.float32)
    order = sorted(range(len(numbers)), key=lambda index: len(numbers[index]))
    for start in range(0, len(order), 256):
        chosen = order[start : start + 256]
        texts = [[CLS, *numbers[index][:254], SEP] for index in chosen]
        lengths = torch.tensor([len(text) for text in texts], device=device)
        width = int(lengths.max())
        ids = torch.tensor([text + [0] * (width - len(text)) for text in texts], device=device)
        judge(ids, lengths, torch.zeros_like(ids))
        seen = (torch.arange(width, device=device)[None] < lengths[:, None])[..., None]
        mean = (last["x"].float() * seen).sum(1)
        found[chosen] = torch.nn.functional.normalize(mean, dim=1).cpu().numpy()
    return found


if __name__ == "__main__":
    main()
