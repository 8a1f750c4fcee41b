"""Trains the judge on pairs, from published weights or from a judge that was trained before.

Each epoch draws a new sample: `--mix made=0.3,written=3` takes 0.3 of the synthetic pairs and each written pair three
times. Where the teacher's log-probabilities are known, half of the loss is the distance from them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from figures import auc
from model import GTE, MINILM, Judge, compile_feed, load_base, plain_feed
from tokens import Pairs, load_tokenizer, merge, plan, tokenise

_SHAPES = {"gte": GTE, "minilm": MINILM}


def main() -> None:
    """Reads the pairs, trains, predicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--soft", type=Path, help="soft_labels.npz of the teacher")
    parser.add_argument("--base", type=Path, required=True, help="weights, or several judges to average", nargs="+")
    parser.add_argument("--shape", choices=list(_SHAPES), default="gte")
    parser.add_argument("--out", type=Path, required=True, help="folder for model.safetensors and outputs.npy")
    parser.add_argument("--mix", default="", help="source=share of it in an epoch, comma-separated; 1 if not named")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--tokens", type=int, default=32768)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-seconds", type=float, default=1e9, help="end the schedule in time, whatever is left")
    parser.add_argument("--compile", action="store_true", help="compile parts of the model (on a GPU)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    pairs = merge([_pairs(path, options.tokenizer, options.soft) for path in options.pairs])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    judge = load_base(options.base, _SHAPES[options.shape]).to(device)
    if options.compile:
        _compile(judge, device)
    train(judge, pairs, options, device)
    plain_feed()
    save_file(
        {name: value.half().contiguous().cpu() for name, value in judge.state_dict().items()},
        options.out / "model.safetensors",
    )
    rows = np.flatnonzero(pairs.split != "train")
    outputs = predict(judge, pairs, rows, device, options.tokens * 2)
    np.save(options.out / "outputs.npy", outputs.astype(np.float16))
    _report(pairs, outputs, rows)


def _compile(judge: Judge, device: torch.device) -> None:
    """One step with compiled parts; without them where that fails."""
    began = time.perf_counter()
    compile_feed()
    try:
        for size in (64, 96):
            ids = torch.full((32, size), 1000, device=device)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                found = judge.train()(ids, torch.full((32,), size, device=device), torch.zeros_like(ids))
            found.sum().backward()
    except Exception as error:  # noqa: BLE001
        print(f"not compiled: {type(error).__name__} {str(error)[:300]}", flush=True)
        plain_feed()
    judge.zero_grad(set_to_none=True)
    print(f"compiled in {time.perf_counter() - began:.0f} s", flush=True)


def _pairs(path: Path, tokenizer: Path, soft: Path | None) -> Pairs:
    stored = path.with_suffix(".npz")
    if not stored.exists():
        began = time.perf_counter()
        made = tokenise(path, load_tokenizer(tokenizer), soft)
        part = stored.with_suffix(".part.npz")
        np.savez(part, **made._asdict())
        part.replace(stored)
        seconds = time.perf_counter() - began
        print(f"tokenised {len(made)} pairs, {len(made.ids) / 1e6:.1f} million tokens, {seconds:.0f} s", flush=True)
    with np.load(stored) as arrays:
        return Pairs(**{name: arrays[name] for name in Pairs._fields})


def _draw(pairs: Pairs, mix: str, rng: np.random.Generator) -> np.ndarray:
    """The rows of one epoch: each source's share of its rows, whole copies first and a random part of the rest."""
    shares = {name: float(share) for name, _, share in (part.partition("=") for part in mix.split(",") if part)}
    usable = (pairs.split == "train") & ((pairs.label >= 0) | ~np.isnan(pairs.soft[:, 0]))
    family = np.array([source.split("/", 1)[0] for source in pairs.source])
    chosen = []
    for name in np.unique(family[usable]):
        rows = np.flatnonzero(usable & (family == name))
        whole, part = divmod(shares.get(str(name), 1.0), 1.0)
        chosen += [np.repeat(rows, int(whole)), rows[rng.random(len(rows)) < part]]
    return np.concatenate(chosen)


def train(judge: Judge, pairs: Pairs, options: argparse.Namespace, device: torch.device) -> None:
    """Training with a rising, then falling rate over shuffled batches of equal length."""
    rng = np.random.default_rng(options.seed)
    todo: list[np.ndarray] = []
    for _ in range(options.epochs):
        todo += plan(pairs, _draw(pairs, options.mix, rng), options.tokens, rng)
    groups = [
        {"params": [p for p in judge.parameters() if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in judge.parameters() if p.ndim == 1], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=device.type == "cuda")
    store = _Store(pairs, device)
    labels, tasks, soft = (torch.from_numpy(part).to(device) for part in (pairs.label, pairs.task, pairs.soft))
    judge.train()
    began, losses, done = time.perf_counter(), [], 0.0
    for step, chosen in enumerate(todo):
        # The schedule follows the steps, or the clock where that would run out first.
        done = max(step / len(todo), (time.perf_counter() - began) / options.limit_seconds)
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1.0, done / 0.06, (1 - done) / 0.94)
        ids, lengths, segments, index = store.batch(chosen)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            outputs = judge(ids, lengths, segments)
        loss = _loss(outputs, labels[index], tasks[index], soft[index])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.detach())
        if step % 400 == 0 or step == len(todo) - 1:
            recent = torch.stack(losses[-200:]).mean().item()
            print(f"step {step}/{len(todo)} loss {recent:.4f} {time.perf_counter() - began:.0f} s", flush=True)


class _Store:
    """All pairs' tokens on the device, so that a batch is one gathering there."""

    def __init__(self, pairs: Pairs, device: torch.device) -> None:
        self.ids = torch.from_numpy(pairs.ids.astype(np.int32)).to(device)
        self.starts = torch.from_numpy(pairs.starts).to(device)
        self.seconds = torch.from_numpy(pairs.seconds).to(device)
        self.sizes = pairs.lengths
        self.device = device

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        width = -(-int(self.sizes[chosen].max()) // 16) * 16
        index = torch.from_numpy(chosen).to(self.device, non_blocking=True)
        starts = self.starts[index]
        lengths = self.starts[index + 1] - starts
        places = torch.arange(width, device=self.device)[None]
        inside = places < lengths[:, None]
        ids = self.ids[(starts[:, None] + places).clamp(max=len(self.ids) - 1)].long() * inside
        segments = ((places >= self.seconds[index][:, None]) & inside).long()
        return ids, lengths, segments, index


def _loss(outputs: Tensor, labels: Tensor, tasks: Tensor, soft: Tensor) -> Tensor:
    hard = _hard(outputs, labels, tasks)
    asked = ~torch.isnan(soft[:, 0])
    own = functional.log_softmax(outputs[:, 1:4], dim=1)
    theirs = functional.softmax(torch.nan_to_num(soft), dim=1)
    distance = functional.kl_div(own, theirs, reduction="none").sum(1)
    mixed = torch.where(labels < 0, distance, 0.5 * hard + 0.5 * distance)
    return torch.where(asked, mixed, hard).mean()


def _hard(outputs: Tensor, labels: Tensor, tasks: Tensor) -> Tensor:
    """Each pair's loss against its label; nought where it has none."""
    single = torch.where(tasks == 0, outputs[:, 0], outputs[:, 4])
    target = labels.clamp(0, 1)
    # Labels are smoothed a little: some are wrong, and a small model should not be sure of everything.
    binary = functional.binary_cross_entropy_with_logits(single, 0.02 + 0.96 * target, reduction="none")
    logs = functional.log_softmax(outputs[:, 1:4], dim=1)
    either = torch.logsumexp(logs[:, 1:], dim=1)
    known = logs.gather(1, labels.long().clamp(0, 2)[:, None])[:, 0]
    chosen = torch.where(labels == 3, either, known)
    support = -0.96 * chosen - 0.04 * logs.mean(1)
    return torch.where(labels < 0, 0.0, torch.where(tasks == 1, support, binary))


@torch.no_grad()
def predict(judge: Judge, pairs: Pairs, rows: np.ndarray, device: torch.device, tokens: int) -> np.ndarray:
    """The outputs for some pairs."""
    judge.eval()
    store = _Store(pairs, device)
    found = torch.zeros((len(pairs), 5), device=device)
    for chosen in plan(pairs, rows, tokens, None, most=2048):
        ids, lengths, segments, index = store.batch(chosen)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            found[index] = judge(ids, lengths, segments).float()
    return found.cpu().numpy()[rows]


def _report(pairs: Pairs, outputs: np.ndarray, rows: np.ndarray) -> None:
    raw = outputs.astype(np.float64)
    margin = raw[:, 1] - np.logaddexp(raw[:, 2], raw[:, 3])
    task, label, split = pairs.task[rows], pairs.label[rows], pairs.split[rows]
    family = np.array([source.split("/", 1)[0] for source in pairs.source[rows]])
    for name in np.unique(family):
        for part in ("valid", "test"):
            own = (family == name) & (split == part) & (label >= 0)
            match, support = own & (task == 0), own & (task == 1)
            line = f"{part} {name}:"
            if match.any():
                line += f" match accuracy {((raw[:, 0] > 0) == (label > 0.5))[match].mean():.4f} ({match.sum()})"
            if support.any() and 0 < (label[support] == 0).mean() < 1:
                three = (raw[support, 1:4].argmax(1) == label[support])[label[support] < 3].mean()
                line += f" support AUC {auc(margin[support], label[support] == 0):.4f} three-way {three:.4f} ({support.sum()})"
            print(line, flush=True)


if __name__ == "__main__":
    main()
