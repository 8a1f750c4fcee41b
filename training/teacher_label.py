"""Tunes the teacher as a three-way classifier on labelled pairs and lets it label pairs that have no label.

All weights are trained, in float32 with bfloat16 arithmetic. The pairs of validation and test domains are predicted too, so
that the teacher can be compared with the judge.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from figures import auc
from teacher_weights import Words, load

_ASK = "\n\nIs the claim supported, contradicted or not stated? Verdict:"


def main() -> None:
    """Trains, predicts the kept rows, then labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="labelled rows; others are left out")
    parser.add_argument("--mix", default="", help="family=share of its rows, comma-separated; 1 if not named")
    parser.add_argument("--label", type=Path, nargs="+", required=True, help="files that get soft labels")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=1.5e-5)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=24576)
    parser.add_argument("--train-seconds", type=float, default=1e9)
    parser.add_argument("--label-seconds", type=float, default=1e9)
    parser.add_argument("--layers", type=int, default=0, help="use only so many layers (a trial run)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    clock = time.perf_counter()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    words = Words(options.teacher)
    rows = [row for path in options.pairs for row in _read(path) if row["task"] == "support" and row["label"] >= 0]
    rng = np.random.default_rng(1)
    chosen = _draw(rows, options.mix, rng, options.epochs)
    kept = [number for number, row in enumerate(rows) if row["split"] != "train"]
    wanted = sorted({*chosen, *kept})
    place = {number: at for at, number in enumerate(wanted)}
    tokens = encode(words, [rows[number] for number in wanted])
    teacher = Teacher(load(options.teacher, device), options.layers).to(device)
    print(f"{len(chosen)} rows to train on, {len(kept)} kept, {time.perf_counter() - clock:.0f} s", flush=True)
    labels = np.array([int(rows[number]["label"]) for number in wanted])
    train(teacher, tokens, labels, np.array([place[number] for number in chosen]), options, device, rng)
    found = predict(teacher, tokens, np.array([place[number] for number in kept]), device)
    report([rows[number] for number in kept], found)
    with (options.out / "kept.jsonl").open("w", encoding="utf-8") as out:
        for number, logs in zip(kept, found, strict=True):
            out.write(
                json.dumps({**rows[number], "soft": [round(float(one), 3) for one in logs]}, ensure_ascii=False) + "\n"
            )
    clock = time.perf_counter()
    for path in options.label:
        label_file(teacher, words, path, options.out / path.name, device, clock + options.label_seconds)


def _read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _draw(rows: list[dict[str, Any]], mix: str, rng: np.random.Generator, epochs: int) -> list[int]:
    shares = {name: float(share) for name, _, share in (part.partition("=") for part in mix.split(",") if part)}
    chosen: list[int] = []
    for _ in range(epochs):
        for number, row in enumerate(rows):
            share = shares.get(row["source"].split("/", 1)[0], 1.0)
            if row["split"] == "train":
                chosen += [number] * (int(share) + int(rng.random() < share % 1))
    return chosen


def encode(words: Words, rows: list[dict[str, Any]]) -> list[np.ndarray]:
    """The claim, the evidence and the claim again, so that each is read in view of the other."""
    begin, middle, again, ask = (words.numbers(text) for text in ("Claim:\n", "\n\nEvidence:\n", "\n\nClaim:\n", _ASK))
    firsts = {text: [] for text in dict.fromkeys(row["first"] for row in rows)}
    firsts = dict(zip(firsts, words.all_numbers(list(firsts)), strict=True))
    seconds = words.all_numbers([row["second"] for row in rows])
    made = []
    for row, second in zip(rows, seconds, strict=True):
        claim = second[:160]
        made.append(np.array(begin + claim + middle + firsts[row["first"]][:460] + again + claim + ask, np.int32))
    return made


class Teacher(nn.Module):
    """The language model without its vocabulary head, and three outputs at the last token."""

    def __init__(self, model: Any, layers: int = 0) -> None:
        super().__init__()
        self.body = model.model.float()
        if layers:
            self.body.layers = self.body.layers[:layers]
        self.body.embed_tokens.requires_grad_(requires_grad=False)
        self.head = nn.Linear(model.config.hidden_size, 3)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, last: Tensor) -> Tensor:
        """Padding stands on the right, where causal attention does not look."""
        hidden = self.body(input_ids=ids, use_cache=False).last_hidden_state
        return functional.linear(
            hidden[torch.arange(len(ids), device=ids.device), last].float(), self.head.weight, self.head.bias
        )


def batches(tokens: list[np.ndarray], rows: np.ndarray, most: int, rng: np.random.Generator | None) -> list[np.ndarray]:
    """Rows of about the same length, at most so many tokens together."""
    sizes = np.array([len(tokens[row]) for row in rows])
    order = rows[np.argsort(sizes + (rng.uniform(0, 20, len(rows)) if rng is not None else 0), kind="stable")]
    made: list[np.ndarray] = []
    begin, width = 0, 0
    for at, row in enumerate(order):
        width = max(width, len(tokens[row]))
        if width * (at - begin + 1) > most and at > begin:
            made.append(order[begin:at])
            begin, width = at, len(tokens[row])
    made.append(order[begin:])
    if rng is not None:
        rng.shuffle(made)
    return made


def gather(tokens: list[np.ndarray], rows: np.ndarray, device: str) -> tuple[Tensor, Tensor]:
    """A batch, padded to a multiple of 16."""
    sizes = [len(tokens[row]) for row in rows]
    ids = np.zeros((len(rows), -(-max(sizes) // 16) * 16), np.int64)
    for number, row in enumerate(rows):
        ids[number, : sizes[number]] = tokens[row]
    return torch.from_numpy(ids).to(device, non_blocking=True), torch.tensor(sizes, device=device) - 1


def train(
    teacher: Teacher,
    tokens: list[np.ndarray],
    labels: np.ndarray,
    rows: np.ndarray,
    options: argparse.Namespace,
    device: str,
    rng: np.random.Generator,
) -> None:
    """One pass; the rate rises and falls with the steps, or with the clock where that would run out first."""
    todo = batches(tokens, rows, options.tokens, rng)
    groups = [
        {"params": [one for one in teacher.body.parameters() if one.requires_grad], "speed": 1.0},
        {"params": list(teacher.head.parameters()), "speed": 30.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=device == "cuda")
    teacher.train()
    began, losses, seen = time.perf_counter(), [], 0
    for step, chosen in enumerate(todo):
        done = max(step / len(todo), (time.perf_counter() - began) / options.train_seconds)
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * group["speed"] * min(1.0, (done + 0.002) / 0.06, (1 - done) / 0.94)
        ids, last = gather(tokens, chosen, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logs = functional.log_softmax(teacher(ids, last).float(), 1)
        given = torch.from_numpy(labels[chosen]).to(device)
        known = logs.gather(1, given.clamp(0, 2)[:, None])[:, 0]
        right = torch.where(given == 3, torch.logsumexp(logs[:, 1:], 1), known)
        loss = (-0.97 * right - 0.03 * logs.mean(1)).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.detach())
        seen += ids.numel()
        if step % 50 == 0 or step == len(todo) - 1:
            recent, seconds = torch.stack(losses[-50:]).mean().item(), time.perf_counter() - began
            print(
                f"step {step}/{len(todo)} loss {recent:.4f}, {seen / seconds / 1e3:.0f}k tokens/s, {seconds:.0f} s",
                flush=True,
            )
    teacher.zero_grad(set_to_none=True)
    del optimiser
    teacher.body.to(torch.bfloat16)
    if device == "cuda":
        torch.cuda.empty_cache()


@torch.no_grad()
def predict(
    teacher: Teacher, tokens: list[np.ndarray], rows: np.ndarray, device: str, until: float = float("inf")
) -> np.ndarray:
    """Log-probabilities of supported, not stated, contradicted; NaN for rows that time did not allow."""
    teacher.eval()
    place = {row: at for at, row in enumerate(rows.tolist())}
    found = np.full((len(rows), 3), np.nan, np.float32)
    order = batches(tokens, rows, 131072, None)
    for chosen in order[::2] + order[1::2]:
        if time.perf_counter() > until:
            break
        ids, last = gather(tokens, chosen, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logs = functional.log_softmax(teacher(ids, last).float(), 1)
        found[[place[row] for row in chosen.tolist()]] = logs.cpu().numpy()
    return found


def report(rows: list[dict[str, Any]], found: np.ndarray) -> None:
    """AUC and share of right verdicts per family and split."""
    label = np.array([int(row["label"]) for row in rows])
    family = np.array([f"{row['split']} {row['source'].split('/', 1)[0]}" for row in rows])
    for name in np.unique(family):
        own = (family == name) & ~np.isnan(found[:, 0])
        supported = label[own] == 0
        if 0 < supported.mean() < 1:
            decided = ((found[own, 0] > np.log(0.5)) == supported).mean()
            three = (found[own].argmax(1) == label[own])[label[own] < 3].mean()
            print(
                f"{name}: AUC {auc(found[own, 0], supported):.4f}, decided {decided:.4f}, three-way {three:.4f} ({own.sum()})",
                flush=True,
            )


def label_file(teacher: Teacher, words: Words, path: Path, out: Path, device: str, until: float) -> None:
    """The rows of a file with the teacher's log-probabilities as `soft`; rows that time did not allow are left out."""
    rows = _read(path)
    tokens = encode(words, rows)
    found = predict(teacher, tokens, np.arange(len(rows)), device, until)
    part = out.with_suffix(".part")
    with part.open("w", encoding="utf-8") as lines:
        for row, logs in zip(rows, found, strict=True):
            if not np.isnan(logs[0]):
                soft = [round(float(one), 3) for one in logs]
                lines.write(json.dumps({**row, "soft": soft}, ensure_ascii=False) + "\n")
    os.replace(part, out)
    share = np.bincount(found[~np.isnan(found[:, 0])].argmax(1), minlength=3) / len(rows)
    print(
        f"{path.name}: {len(rows)} rows, supported {share[0]:.2f}, not stated {share[1]:.2f}, contradicted {share[2]:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
