"""Trains the adapter of the 1.5B judge: low-rank changes to all linear layers, with one token as verdict.

The base is Qwen2.5-Coder-1.5B-Instruct as the GGUF file holds it (teacher_weights.py --verdicts yes no unknown); it stays frozen. The question is
asked in the model's chat form; the next token is yes, no or unknown. At the end the adapter is reduced to smaller ranks, and the
measured sets are predicted with each.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from figures import auc
from teacher_weights import Words, unpack

HEAD = "<|im_start|>system\nAnswer yes, no or unknown.<|im_end|>\n<|im_start|>user\n"
TAIL = "<|im_end|>\n<|im_start|>assistant\n"
_MOST_EVIDENCE, _MOST_CLAIM = 1_000, 260
_EPSILON, _THETA, _POSITIONS = 1e-6, 1e6, 4_096
_HALF = torch.bfloat16
# The name of a layer's part in GGUF: (its shared input matrix, place in it, its output matrix).
_PARTS = {
    "attn_q": ("a_qkv", 0, "b_q"),
    "attn_k": ("a_qkv", 1, "b_k"),
    "attn_v": ("a_qkv", 2, "b_v"),
    "attn_output": ("a_out", 0, "b_out"),
    "ffn_gate": ("a_up", 0, "b_gate"),
    "ffn_up": ("a_up", 1, "b_up"),
    "ffn_down": ("a_down", 0, "b_down"),
}


def main() -> None:
    """Tokenises, trains, saves, predicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--base", type=Path, required=True, help="folder of teacher_weights.py --verdicts yes no unknown"
    )
    parser.add_argument("--rows", type=Path, required=True, help="adapter_rows.py's file, packed with xz or not")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--alpha", type=float, default=32.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--tokens", type=int, default=16_384, help="of one step")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=850, help="the schedule ends then, whatever is left")
    parser.add_argument("--reduce", type=int, nargs="*", default=[8, 4], help="smaller ranks")
    parser.add_argument(
        "--label", type=Path, help="pairs of natural_pairs.py that get soft labels, for the small judge"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--start", type=Path, help="an adapter that was trained before")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    say = Clock()
    words = Words(options.base)
    rows = read_lines(options.rows)
    texts = Texts(words, rows, device)
    say(f"{len(rows)} rows, {len(texts.ids) / 1e6:.1f} million tokens")
    model = Model(options.base, options.rank, options.alpha / options.rank, device)
    if options.start:
        model.load(load_file(str(options.start)))
    if options.compile:
        compile_parts()
    train_rows = np.array([at for at, row in enumerate(rows) if row["set"] == "train"])
    others = np.array([at for at, row in enumerate(rows) if row["set"] != "train"])
    train(model, texts, train_rows, options, say)
    save_file(
        model.weights(), options.out / "adapter.safetensors", {"rank": str(options.rank), "alpha": str(options.alpha)}
    )
    for rank in (options.rank, *options.reduce):
        model.reduce(rank)
        found = predict(model, texts, others)
        np.save(options.out / f"predicted-{rank}.npy", found.astype(np.float32))
        say(f"rank {rank}")
        report([rows[at] for at in others], found)
    (options.out / "measured.jsonl").write_text(
        "".join(json.dumps(rows[at], ensure_ascii=False) + "\n" for at in others)
    )
    if options.label:
        label(model, words, options.label, options.out, device)
        say("labelled")


class Clock:
    """Prints lines with the seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def __call__(self, text: str) -> None:
        """Prints one line."""
        print(f"[{time.perf_counter() - self._began:.0f} s] {text}", flush=True)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines, packed or not."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    return [json.loads(line) for line in text.split("\n") if line]


class Texts:
    """The questions as tokens, one after the other on the device."""

    def __init__(self, words: Words, rows: list[dict[str, Any]], device: str) -> None:
        pieces = {name: words.numbers(text) for name, text in (("head", HEAD), ("tail", TAIL))}
        firsts = _encode(words, [_beginning(row) for row in rows], _MOST_EVIDENCE)
        seconds = _encode(words, [row["second"].strip() for row in rows], _MOST_CLAIM)
        middles = {
            "support": (words.numbers("\n\nClaim: "), words.numbers("\n\nDoes the evidence support the claim?")),
            "match": (words.numbers("\n\nAnswer: "), words.numbers("\n\nDoes the answer agree with the reference?")),
        }
        made = []
        for row in rows:
            before, after = middles[row["task"]]
            first, second = firsts[_beginning(row)], seconds[row["second"].strip()]
            made.append([*pieces["head"], *first, *before, *second, *after, *pieces["tail"]])
        self.sizes = np.array([len(ids) for ids in made])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.ids = torch.from_numpy(np.concatenate([np.array(ids, np.int32) for ids in made])).to(device)
        self.labels = torch.tensor([int(row["label"]) for row in rows], device=device)
        self.is_match = torch.tensor([row["task"] == "match" for row in rows], device=device)
        self._begins, self._device = torch.from_numpy(self.starts).to(device), device

    def batch(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """The padded tokens of some rows and the place of the last one."""
        width = -(-int(self.sizes[rows].max()) // 16) * 16
        index = torch.from_numpy(rows).to(self._device)
        start = self._begins[index]
        length = self._begins[index + 1] - start
        places = torch.arange(width, device=self._device)[None]
        ids = self.ids[(start[:, None] + places).clamp(max=len(self.ids) - 1)].long()
        return torch.where(places < length[:, None], ids, 0), length - 1

    def plan(
        self, rows: np.ndarray, tokens: int, rng: np.random.Generator | None, most: int = 2048
    ) -> list[np.ndarray]:
        """Which rows go together: of about the same length, in a random order."""
        noise = rng.uniform(0, 20, len(rows)) if rng is not None else 0
        order = rows[np.argsort(self.sizes[rows] + noise, kind="stable")]
        made, at = [], 0
        while at < len(order):
            widths = -(-np.maximum.accumulate(self.sizes[order[at : at + most]]) // 16) * 16
            count = max(1, int(np.searchsorted(widths * np.arange(1, len(widths) + 1), tokens, side="right")))
            made.append(order[at : at + count])
            at += count
        if rng is not None:
            rng.shuffle(made)
        return made


def _beginning(row: dict[str, Any]) -> str:
    if row["task"] == "support":
        return f"Evidence:\n{row['first'].strip()}"
    question, reference = row["first"]
    return f"Question: {question.strip()}\nReference: {reference.strip()}"


def _encode(words: Words, texts: list[str], most: int) -> dict[str, list[int]]:
    known = list(dict.fromkeys(texts))
    made: dict[str, list[int]] = {}
    for at in range(0, len(known), 20_000):
        some = known[at : at + 20_000]
        made |= {text: ids[:most] for text, ids in zip(some, words.all_numbers(some), strict=True)}
    return made


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + _EPSILON) * weight).to(_HALF)


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return (x.float() * cos + torch.cat([-right, left], -1).float() * sin).to(_HALF)


def _change(x: Tensor, a: Tensor, outs: list[Tensor], scale: float) -> Tensor:
    low = functional.linear(x, a.to(_HALF)).chunk(len(outs), -1)
    return torch.cat([functional.linear(part, b.to(_HALF)) for part, b in zip(low, outs, strict=True)], -1) * scale


def _before(
    x: Tensor, norm: Tensor, weight: Tensor, bias: Tensor, a: Tensor, outs: list[Tensor], scale: float
) -> Tensor:
    x = _norm(x, norm)
    return functional.linear(x, weight, bias) + _change(x, a, outs, scale)


def _after(x: Tensor, mixed: Tensor, frozen: list[Tensor], changes: list[Tensor], scale: float) -> Tensor:
    out, norm, up, down = frozen
    a_out, b_out, a_up, b_gate, b_up, a_down, b_down = changes
    x = x + functional.linear(mixed, out) + _change(mixed, a_out, [b_out], scale)
    read = _norm(x, norm)
    gate, fed = (functional.linear(read, up) + _change(read, a_up, [b_gate, b_up], scale)).chunk(2, -1)
    fed = functional.silu(gate) * fed
    return x + functional.linear(fed, down) + _change(fed, a_down, [b_down], scale)


before, after = _before, _after


def compile_parts() -> None:
    """Compiles what is around attention, once for all layers and lengths."""
    global before, after
    before, after = (torch.compile(part, dynamic=True) for part in (_before, _after))


class Layer(nn.Module):
    """One frozen layer with its changes."""

    def __init__(self, raw: dict[str, Tensor], number: int, rank: int, sizes: dict[str, int], scale: float) -> None:
        super().__init__()
        take = lambda *names: torch.cat([raw.pop(f"blk.{number}.{name}") for name in names])  # noqa: E731
        self.norm1, self.norm2 = take("attn_norm.weight").float(), take("ffn_norm.weight").float()
        self.qkv = take("attn_q.weight", "attn_k.weight", "attn_v.weight")
        self.bias = take("attn_q.bias", "attn_k.bias", "attn_v.bias").to(_HALF)
        self.out, self.up, self.down = (
            take("attn_output.weight"),
            take("ffn_gate.weight", "ffn_up.weight"),
            take("ffn_down.weight"),
        )
        hidden, inner = sizes["embedding_length"], sizes["feed_forward_length"]
        self.heads, self.key_heads, self.scale = sizes["head_count"], sizes["head_count_kv"], scale
        self.size = hidden // self.heads
        device = self.qkv.device

        def a(count: int, width: int) -> nn.Parameter:
            made = torch.empty(count * rank, width, device=device)
            nn.init.kaiming_uniform_(made, a=math.sqrt(5))
            return nn.Parameter(made)

        b = lambda width: nn.Parameter(torch.zeros(width, rank, device=device))  # noqa: E731
        narrow = self.key_heads * self.size
        self.a_qkv, self.b_q, self.b_k, self.b_v = a(3, hidden), b(hidden), b(narrow), b(narrow)
        self.a_out, self.b_out = a(1, hidden), b(hidden)
        self.a_up, self.b_gate, self.b_up = a(2, hidden), b(inner), b(inner)
        self.a_down, self.b_down = a(1, inner), b(hidden)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, count: int) -> Tensor:
        """All places of all texts one below the other; padding follows a text, so that causal attention needs no mask."""
        mixed = before(x, self.norm1, self.qkv, self.bias, self.a_qkv, [self.b_q, self.b_k, self.b_v], self.scale)
        split = [self.heads * self.size, self.key_heads * self.size, self.key_heads * self.size]
        q, k, v = (part.view(count, -1, part.shape[-1] // self.size, self.size) for part in mixed.split(split, -1))
        q, k = _turn(q, cos, sin), _turn(k, cos, sin)
        read = functional.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=True
        )
        frozen = [self.out, self.norm2, self.up, self.down]
        changes = [self.a_out, self.b_out, self.a_up, self.b_gate, self.b_up, self.a_down, self.b_down]
        return after(x, read.transpose(1, 2).reshape(len(x), -1), frozen, changes, self.scale)


class Model(nn.Module):
    """The frozen base with its changes; it returns the log-probabilities of the three verdicts."""

    def __init__(self, folder: Path, rank: int, scale: float, device: str) -> None:
        super().__init__()
        index = json.loads((folder / "index.json").read_text())
        packed = np.memmap(folder / "weights.bin", np.uint8, "r")
        raw = {}
        for tensor in index["tensors"]:
            part = torch.from_numpy(np.array(packed[tensor["at"] : tensor["at"] + tensor["size"]])).to(device)
            value = unpack(part, tensor["type"]).view(tensor["shape"])
            raw[tensor["name"]] = value.float() if value.ndim == 1 else value.to(_HALF)
        self.head = raw.pop("output.weight").float()
        self.words, self.norm = raw.pop("token_embd.weight"), raw.pop("output_norm.weight")
        sizes = index["sizes"]
        self.layers = nn.ModuleList(Layer(raw, at, rank, sizes, scale) for at in range(sizes["block_count"]))
        self.rank, size = rank, sizes["embedding_length"] // sizes["head_count"]
        turns = torch.arange(_POSITIONS, device=device).float()[:, None] / _THETA ** (
            torch.arange(0, size, 2, device=device).float() / size
        )
        self.cos, self.sin = (torch.cat([part, part], -1)[:, None] for part in (turns.cos(), turns.sin()))

    def forward(self, ids: Tensor, last: Tensor) -> Tensor:
        """Log-probabilities of yes, no, unknown after the last token, over these three."""
        count, width = ids.shape
        x = self.words[ids.reshape(-1)]
        for layer in self.layers:
            x = layer(x, self.cos[:width], self.sin[:width], count)
        x = x.view(count, width, -1)[torch.arange(count, device=ids.device), last].float()
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + _EPSILON) * self.norm
        return functional.log_softmax(functional.linear(x, self.head), 1)

    def weights(self) -> dict[str, Tensor]:
        """The changes under llama.cpp's names, in half precision."""
        made = {}
        for number, layer in enumerate(self.layers):
            for name, (a, place, b) in _PARTS.items():
                key, rank = f"blk.{number}.{name}.weight", self.rank
                made[f"{key}.lora_a"] = (
                    getattr(layer, a)[place * rank : (place + 1) * rank].detach().half().cpu().contiguous()
                )
                made[f"{key}.lora_b"] = getattr(layer, b).detach().half().cpu().contiguous()
        return made

    @torch.no_grad()
    def load(self, given: dict[str, Tensor]) -> None:
        """Take over changes of the same rank."""
        for number, layer in enumerate(self.layers):
            for name, (a, place, b) in _PARTS.items():
                key, rank = f"blk.{number}.{name}.weight", self.rank
                getattr(layer, a)[place * rank : (place + 1) * rank] = given[f"{key}.lora_a"].float()
                getattr(layer, b).copy_(given[f"{key}.lora_b"].float())

    @torch.no_grad()
    def reduce(self, rank: int) -> None:
        """Keep the largest directions of each change; the matrices keep their shape."""
        if rank == self.rank:
            return
        for layer in self.layers:
            for a, place, b in _PARTS.values():
                own = slice(place * self.rank, (place + 1) * self.rank)
                low, high = getattr(layer, a)[own], getattr(layer, b)
                left, s, right = torch.linalg.svd(torch.linalg.qr(high)[1] @ torch.linalg.qr(low.T)[1].T)
                s = torch.where(torch.arange(len(s), device=s.device) < rank, s.sqrt(), 0.0)
                q_high, q_low = torch.linalg.qr(high)[0], torch.linalg.qr(low.T)[0]
                high.copy_((q_high @ left) * s)
                low.copy_((s[:, None] * right) @ q_low.T)


def train(model: Model, texts: Texts, rows: np.ndarray, options: argparse.Namespace, say: Clock) -> None:
    """One token's loss, with a rising, then falling rate; the clock may end it."""
    rng = np.random.default_rng(options.seed)
    todo = [batch for _ in range(options.epochs) for batch in texts.plan(rows, options.tokens, rng)]
    changes = list(model.parameters())
    optimiser = torch.optim.AdamW(
        changes, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=texts.ids.is_cuda
    )
    began, losses, seen = time.perf_counter(), [], 0
    if not todo:
        return
    say(f"{len(todo)} steps, {sum(one.numel() for one in changes) / 1e6:.1f} million weights")
    for step, chosen in enumerate(todo):
        if step == 3:  # compiled by now
            began, seen = time.perf_counter(), 0
        done = max(step / len(todo), (time.perf_counter() - began) / options.seconds)
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1.0, (done + 0.002) / 0.05, (1 - done) / 0.95)
        ids, last = texts.batch(chosen)
        index = torch.from_numpy(chosen).to(ids.device)
        loss = loss_of(model(ids, last), texts.labels[index], texts.is_match[index])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(changes, 1.0)
        optimiser.step()
        losses.append(loss.detach())
        seen += int(texts.sizes[chosen].sum())
        if step in (1, 3, 10, 50) or step % 250 == 0:
            speed = seen / max(1e-3, time.perf_counter() - began) / 1e3
            say(f"step {step}/{len(todo)} loss {torch.stack(losses[-100:]).mean():.4f}, {speed:.0f}k tokens/s")
        if step and step % 1000 == 0:
            save_file(
                model.weights(),
                options.out / "part.safetensors",
                {"rank": str(model.rank), "alpha": str(options.alpha)},
            )
    say(f"trained {step + 1} of {len(todo)} steps, loss {torch.stack(losses[-200:]).mean():.4f}")


def loss_of(logs: Tensor, labels: Tensor, is_match: Tensor) -> Tensor:
    """Labels are smoothed a little; "not supported" is no or unknown."""
    yes, no, unknown = logs.unbind(1)
    either = torch.logaddexp(no, unknown)
    support = torch.where(labels == 0, yes, torch.where(labels == 1, unknown, torch.where(labels == 2, no, either)))
    match = torch.where(labels == 1, yes, no)
    even = torch.where(is_match, (yes + no) / 2, (yes + no + unknown) / 3)
    return -(0.97 * torch.where(is_match, match, support) + 0.03 * even).mean()


@torch.no_grad()
def predict(model: Model, texts: Texts, rows: np.ndarray) -> np.ndarray:
    """Log-probabilities of yes, no, unknown."""
    found = torch.zeros((len(texts.sizes), 3), device=texts.ids.device)
    for chosen in texts.plan(rows, 65_536, None):
        ids, last = texts.batch(chosen)
        found[torch.from_numpy(chosen).to(ids.device)] = model(ids, last)
    return found.cpu().numpy()[rows]


def report(rows: list[dict[str, Any]], found: np.ndarray) -> None:
    """AUC and right verdicts of each set; sealed ones are only counted."""
    names = np.array([f"{row['set']} {row['task']}" for row in rows])
    label = np.array([row["label"] for row in rows])
    for name in dict.fromkeys(names.tolist()):
        own = names == name
        if name.startswith("sealed"):
            print(f"  {name}: {own.sum()} rows", flush=True)
            continue
        if name.endswith("match"):
            right, odds = label[own] == 1, found[own, 0] - found[own, 1]
            decided = ((odds > 0) == right).mean()
        else:
            right, odds = label[own] == 0, found[own, 0]
            three = np.array([0, 2, 1])[found[own].argmax(1)] == label[own]
            decided = three[label[own] < 3].mean() if (label[own] < 3).any() else float("nan")
        score = auc(odds, right) if 0 < right.mean() < 1 else float("nan")
        print(f"  {name}: AUC {score:.4f}, decided {decided:.4f} ({own.sum()})", flush=True)


def label(model: Model, words: Words, path: Path, out: Path, device: str) -> None:
    """The support pairs of a file with the log-probabilities of supported, not stated, contradicted as `soft`."""
    rows = read_lines(path)
    texts = Texts(words, [row if row["task"] == "support" else {**row, "task": "support"} for row in rows], device)
    asked = np.array([at for at, row in enumerate(rows) if row["task"] == "support"])
    found = predict(model, texts, asked)[:, [0, 2, 1]]
    for at, logs in zip(asked.tolist(), found, strict=True):
        rows[at]["soft"] = [round(float(one), 3) for one in logs]
    with (out / path.name.removesuffix(".xz")).open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
