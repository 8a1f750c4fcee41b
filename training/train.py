"""Trains the judge: the teacher from MPNet, or a student from MiniLM with or without the teacher's answers.

`--predict` writes a model's outputs for all pairs, which is what a student learns from.
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

from model import MINILM, MPNET, Judge, compile_feed, load_base, plain_feed
from tokens import Pairs, load_tokenizer, plan, tokenise

_TEMPERATURE = 2.0


def main() -> None:
    """Reads the pairs, trains, predicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--kind", choices=["teacher", "student"], required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for model.safetensors and outputs.npy")
    parser.add_argument("--teacher", type=Path, nargs="*", default=[], help="folders with outputs.npy of teachers")
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--tokens", type=int, default=32768)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-seconds", type=float, default=1e9, help="end the schedule in time, whatever is left")
    parser.add_argument("--compile", action="store_true", help="compile parts of the model (on a GPU)")
    parser.add_argument("--predict", choices=["all", "valid"], default="valid")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    pairs = _pairs(options.pairs, options.tokenizer)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    judge = load_base(options.base, MPNET if options.kind == "teacher" else MINILM).to(device)
    guides = [torch.from_numpy(np.load(folder / "outputs.npy")).float() for folder in options.teacher]
    teacher = torch.stack(guides).mean(0) if guides else None
    if options.compile:
        _compile(judge, device)
    train(judge, pairs, teacher, options, device)
    plain_feed()
    save_file(
        {name: value.half().contiguous().cpu() for name, value in judge.state_dict().items()},
        options.out / "model.safetensors",
    )
    rows = np.arange(len(pairs)) if options.predict == "all" else np.flatnonzero(pairs.split != "train")
    outputs = np.zeros((len(pairs), 5), dtype=np.float16)
    outputs[rows] = predict(judge, pairs, rows, device, options.tokens * 2)
    np.save(options.out / "outputs.npy", outputs)
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


def _pairs(path: Path, tokenizer: Path) -> Pairs:
    stored = path.with_suffix(".npz")
    if not stored.exists():
        began = time.perf_counter()
        made = tokenise(path, load_tokenizer(tokenizer))
        part = stored.with_suffix(".part.npz")
        np.savez(part, **made._asdict())
        part.replace(stored)
        print(
            f"tokenised {len(made)} pairs, {len(made.ids) / 1e6:.1f} million tokens, {time.perf_counter() - began:.0f} s",
            flush=True,
        )
    with np.load(stored) as arrays:
        return Pairs(**{name: arrays[name] for name in Pairs._fields})


def train(
    judge: Judge, pairs: Pairs, teacher: Tensor | None, options: argparse.Namespace, device: torch.device
) -> None:
    """One-cycle training over shuffled batches of equal length."""
    rng = np.random.default_rng(options.seed)
    known = pairs.label >= 0 if teacher is None else np.ones(len(pairs), dtype=bool)
    rows = np.flatnonzero((pairs.split == "train") & known)
    todo: list[np.ndarray] = []
    for _ in range(int(np.ceil(options.epochs))):
        todo += plan(pairs, rows, options.tokens, rng)
    todo = todo[: int(len(todo) * options.epochs / np.ceil(options.epochs))]
    groups = [
        {"params": [p for p in judge.parameters() if p.requires_grad and p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in judge.parameters() if p.requires_grad and p.ndim == 1], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=device.type == "cuda")
    store = _Store(pairs, device)
    labels = torch.from_numpy(pairs.label).to(device)
    tasks = torch.from_numpy(pairs.task).to(device)
    guide = teacher.to(device) if teacher is not None else None
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
        loss = _loss(outputs, labels[index], tasks[index], None if guide is None else guide[index])
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


def _loss(outputs: Tensor, labels: Tensor, tasks: Tensor, guide: Tensor | None) -> Tensor:
    hard = _hard(outputs, labels, tasks)
    if guide is None:
        return hard.sum() / len(labels)
    soft = _soft(outputs, guide.float(), tasks)
    return torch.where(labels < 0, soft, 0.4 * hard + 0.6 * soft).sum() / len(labels)


def _hard(outputs: Tensor, labels: Tensor, tasks: Tensor) -> Tensor:
    """Each pair's loss against its label; nought where it has none."""
    single = torch.where(tasks == 0, outputs[:, 0], outputs[:, 4])
    target = labels.clamp(0, 1)
    # Labels are smoothed a little: some are wrong, and a tiny model should not be sure of everything.
    binary = functional.binary_cross_entropy_with_logits(single, 0.02 + 0.96 * target, reduction="none")
    logs = functional.log_softmax(outputs[:, 1:4], dim=1)
    either = torch.logsumexp(logs[:, 1:], dim=1)
    known = logs.gather(1, labels.long().clamp(0, 2)[:, None])[:, 0]
    chosen = torch.where(labels == 3, either, known)
    support = -0.96 * chosen - 0.04 * logs.mean(1)
    return torch.where(labels < 0, 0.0, torch.where(tasks == 1, support, binary))


def _soft(outputs: Tensor, guide: Tensor, tasks: Tensor) -> Tensor:
    """Each pair's distance from what the teacher says."""
    heat = _TEMPERATURE
    own = functional.log_softmax(outputs[:, 1:4] / heat, dim=1)
    theirs = functional.softmax(guide[:, 1:4] / heat, dim=1)
    support = functional.kl_div(own, theirs, reduction="none").sum(1) * heat**2
    single = torch.where(tasks == 0, outputs[:, 0], outputs[:, 4])
    wanted = torch.sigmoid(torch.where(tasks == 0, guide[:, 0], guide[:, 4]) / heat)
    binary = functional.binary_cross_entropy_with_logits(single / heat, wanted, reduction="none")
    entropy = functional.binary_cross_entropy(wanted, wanted, reduction="none")
    return torch.where(tasks == 1, support, (binary - entropy) * heat**2)


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
    valid = rows[(pairs.split[rows] == "valid") & (pairs.label[rows] >= 0)]
    raw = outputs[valid].astype(np.float64)
    task, label, source = pairs.task[valid], pairs.label[valid], pairs.source[valid]
    match = task == 0
    for name in ("claims/", "made/"):
        own = np.char.startswith(source.astype(str), name)
        right = (raw[:, 0] > 0) == (label > 0.5)
        margin = raw[:, 1] - np.logaddexp(raw[:, 2], raw[:, 3])
        print(f"{name} match accuracy {right[match & own].mean():.4f} ", end="")
        part = (task == 1) & own
        print(
            f"support accuracy {((margin > 0) == (label == 0))[part].mean():.4f} AUC {_auc(margin[part], label[part] == 0):.4f}"
        )
    part = task == 2
    print(f"fraction error {np.abs(1 / (1 + np.exp(-raw[part, 4])) - label[part]).mean():.4f}", flush=True)


def _auc(score: np.ndarray, truth: np.ndarray) -> float:
    ranks = np.argsort(np.argsort(score, kind="stable"))
    positive = truth.sum()
    return float((ranks[truth].sum() - positive * (positive - 1) / 2) / (positive * (len(truth) - positive)))


if __name__ == "__main__":
    main()
