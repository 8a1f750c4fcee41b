"""The 1.5B teacher with shared beginnings: it writes claims about passages and labels many claims about one text at once.

`write` reads the examples of a prompt once for all prompts; `label` packs an evidence and all its claims into one sequence, in which
a claim sees the evidence and itself. Both are many times as fast as one prompt after the other: 700 written and 1,700 labelled claims
a second on one H200. The folder is that of teacher_weights.py, with the tokens of the texts kept in both tables.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from adapter import HEAD, TAIL, read_lines
from ragstone.text.layout import readable
from teacher_weights import Words, unpack

Row = dict[str, Any]
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]

_HALF, _EPSILON, _THETA, _POSITIONS, _HEADS, _KEYS, _SIZE = torch.bfloat16, 1e-6, 1e6, 4_096, 12, 2, 128
# The parts that the adapter changes: the matrix, and the row where the part begins.
_PARTS = {
    "attn_q": ("qkv", 0), "attn_k": ("qkv", 1536), "attn_v": ("qkv", 1792), "attn_output": ("out", 0),
    "ffn_gate": ("up", 0), "ffn_up": ("up", 8960), "ffn_down": ("down", 0),
}  # fmt: skip
_SCALE = 2.0
_PACKED = 448
_CLAIM = re.compile(r"(True|Follows|False|Not said): (.+[.!])$")
_ANSWER = re.compile(r"(Right|Wrong): (.+)$")


def main() -> None:
    """Writes passages, answers and claims, labels them and the given pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True, help="prompts.json of student_pairs.py")
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.jsonl of student_pairs.py")
    parser.add_argument("--seconds", type=float, default=170, help="for writing")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    words, device = Words(options.teacher), "cuda" if torch.cuda.is_available() else "cpu"
    written = compose(Teacher(options.teacher, device), words, json.loads(options.prompts.read_text()), options.seconds)
    teacher = Teacher(options.teacher, device, options.adapter)
    for name, rows in (("written", written), ("pairs", read_lines(options.pairs))):
        soften(teacher, words, rows)
        with (options.out / f"{name}.jsonl").open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + _EPSILON) * weight).to(_HALF)


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return (x.float() * cos + torch.cat([-right, left], -1).float() * sin).to(_HALF)


def _wide(part: Tensor) -> Tensor:
    return part.repeat_interleave(_HEADS // _KEYS, 1)


class Teacher:
    """The language model in bfloat16, with the adapter added to its matrices if there is one."""

    def __init__(self, folder: Path, device: str, adapter: Path | None = None) -> None:
        index = json.loads((folder / "index.json").read_text())
        packed, raw = np.memmap(folder / "weights.bin", np.uint8, "r"), {}
        for tensor in index["tensors"]:
            part = torch.from_numpy(np.array(packed[tensor["at"] : tensor["at"] + tensor["size"]])).to(device)
            value = unpack(part, tensor["type"]).view(tensor["shape"])
            raw[tensor["name"]] = value.float() if value.ndim == 1 else value.to(_HALF)
        self.head, self.words = raw.pop("output.weight"), raw.pop("token_embd.weight")
        self.last_norm, self.device = raw.pop("output_norm.weight"), device
        given = load_file(str(adapter)) if adapter else {}
        self.layers = [_layer(raw, given, number) for number in range(index["sizes"]["block_count"])]
        places = torch.arange(_POSITIONS, device=device).float()[:, None]
        turns = places / _THETA ** (torch.arange(0, _SIZE, 2, device=device).float() / _SIZE)
        self.cos, self.sin = (torch.cat([part, part], -1) for part in (turns.cos(), turns.sin()))

    def run(self, layer: dict[str, Tensor], x: Tensor, places: Tensor, attend: Attend) -> Tensor:
        """One layer."""
        count, length, width = x.shape
        read = functional.linear(_norm(x, layer["norm1"]), layer["qkv"], layer["bias"])
        q, k, v = (part.view(count, length, -1, _SIZE) for part in read.split([width, 256, 256], -1))
        cos, sin = self.cos[places][:, :, None], self.sin[places][:, :, None]
        q, k, v = (part.transpose(1, 2) for part in (_turn(q, cos, sin), _turn(k, cos, sin), v))
        x = x + functional.linear(attend(q, k, v).transpose(1, 2).reshape(count, length, width), layer["out"])
        gate, fed = functional.linear(_norm(x, layer["norm2"]), layer["up"]).chunk(2, -1)
        return x + functional.linear(functional.silu(gate) * fed, layer["down"])

    def scores(self, x: Tensor, head: Tensor) -> Tensor:
        """The scores of the tokens of a head."""
        return functional.linear(_norm(x, self.last_norm), head).float()


def _layer(raw: dict[str, Tensor], given: dict[str, Tensor], number: int) -> dict[str, Tensor]:
    take = lambda *names: torch.cat([raw.pop(f"blk.{number}.{name}") for name in names])  # noqa: E731
    made = {
        "norm1": take("attn_norm.weight"), "norm2": take("ffn_norm.weight"), "out": take("attn_output.weight"),
        "qkv": take("attn_q.weight", "attn_k.weight", "attn_v.weight"),
        "bias": take("attn_q.bias", "attn_k.bias", "attn_v.bias").to(_HALF),
        "up": take("ffn_gate.weight", "ffn_up.weight"), "down": take("ffn_down.weight"),
    }  # fmt: skip
    for name, (matrix, start) in _PARTS.items():
        key, whole = f"blk.{number}.{name}.weight", made[matrix]
        if f"{key}.lora_a" in given:
            low, high = (given[f"{key}.lora_{part}"].to(whole.device).float() for part in "ab")
            own = whole[start : start + len(high)]
            own.copy_((own.float() + _SCALE * (high @ low)).to(_HALF))
    return made


def soften(teacher: Teacher, words: Words, rows: list[Row]) -> None:
    """Adds the log-probabilities of supported, not stated, contradicted; the probability of a match becomes its label, or half of it."""
    asked = [row for row in rows if row["task"] != "fraction"]
    verdicts = [words.numbers(word)[0] for word in ("yes", "no", "unknown")]
    for at, logs in label(teacher, _groups(words, asked), verdicts):
        row = asked[at]
        if row["task"] == "support":
            row["soft"] = [round(float(one), 3) for one in logs[[0, 2, 1]]]
        elif row["split"] == "train":
            right = float(1 / (1 + np.exp(logs[1] - logs[0])))
            row["label"] = round(right if row["label"] < 0 else (row["label"] + right) / 2, 3)


Group = tuple[list[int], list[tuple[int, list[int]]]]


def _groups(words: Words, rows: list[Row]) -> list[Group]:
    """Each beginning with the claims that follow it, asked as adapter.py asks."""
    middles = {
        "support": (words.numbers("\n\nClaim: "), words.numbers("\n\nDoes the evidence support the claim?")),
        "match": (words.numbers("\n\nAnswer: "), words.numbers("\n\nDoes the answer agree with the reference?")),
    }
    begins = [_begin(row) for row in rows]
    known = list(dict.fromkeys([*begins, *(row["second"].strip() for row in rows)]))
    tokens = dict(zip(known, words.all_numbers(known), strict=True))
    head, tail = words.numbers(HEAD), words.numbers(TAIL)
    made: dict[str, list[tuple[int, list[int]]]] = defaultdict(list)
    for at, (row, begin) in enumerate(zip(rows, begins, strict=True)):
        before, after = middles[row["task"]]
        made[begin].append((at, [*before, *tokens[row["second"].strip()][:200], *after, *tail]))
    return [([*head, *tokens[begin][:600]], own) for begin, own in made.items()]


def _begin(row: Row) -> str:
    if row["task"] == "support":
        return f"Evidence:\n{row['first'].strip()}"
    question, reference = row["first"].removeprefix("question: ").rsplit(" answer: ", 1)
    return f"Question: {question.strip()}\nReference: {reference.strip()}"


def _packed(groups: list[Group]) -> Iterator[Group]:
    for begin, claims in groups:
        own: list[tuple[int, list[int]]] = []
        size = len(begin)
        for at, claim in claims:
            if own and size + len(claim) > max(_PACKED, len(begin) + 160):
                yield begin, own
                own, size = [], len(begin)
            own.append((at, claim))
            size += len(claim)
        yield begin, own


@torch.no_grad()
def label(
    teacher: Teacher, groups: list[Group], verdicts: list[int], tokens: int = 49_152
) -> Iterator[tuple[int, np.ndarray]]:
    """The log-probabilities of the verdicts after each claim."""
    packed = sorted(_packed(groups), key=lambda one: -len(one[0]) - sum(len(claim) for _, claim in one[1]))
    head, at, device = teacher.head[verdicts].float(), 0, teacher.device
    while at < len(packed):
        width = -(-(len(packed[at][0]) + sum(len(claim) for _, claim in packed[at][1])) // 16) * 16
        batch = packed[at : at + max(1, tokens // width)]
        at += len(batch)
        ids, places = np.zeros((len(batch), width), np.int64), np.zeros((len(batch), width), np.int64)
        part, ends, asked = np.full((len(batch), width), -1, np.int64), [], []
        for line, (begin, claims) in enumerate(batch):
            end = size = len(begin)
            ids[line, :size], places[line, :size], part[line, :size] = begin, np.arange(size), 0
            for number, (row, claim) in enumerate(claims, 1):
                own = slice(end, end + len(claim))
                ids[line, own], places[line, own], part[line, own] = claim, np.arange(size, size + len(claim)), number
                end += len(claim)
                ends.append((line, end - 1))
                asked.append(row)
        of = torch.from_numpy(part).to(device)
        seen = (of[:, :, None] == of[:, None]) | ((of[:, None] == 0) & (of[:, :, None] > 0))
        seen &= torch.ones(width, width, dtype=torch.bool, device=device).tril()
        mask = torch.zeros(seen.shape, dtype=_HALF, device=device).masked_fill_(~seen, -1e4)
        logs = _read(teacher, ids, places, mask[:, None].expand(-1, _HEADS, -1, -1), ends, head)
        yield from zip(asked, logs, strict=True)


def _read(
    teacher: Teacher, ids: np.ndarray, places: np.ndarray, mask: Tensor, ends: list[tuple[int, int]], head: Tensor
) -> np.ndarray:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return functional.scaled_dot_product_attention(q, _wide(k), _wide(v), attn_mask=mask)

    x, where = teacher.words[torch.from_numpy(ids).to(teacher.device)], torch.from_numpy(places).to(teacher.device)
    for layer in teacher.layers:
        x = teacher.run(layer, x, where, attend)
    lines, last = (torch.tensor(part, device=teacher.device) for part in zip(*ends, strict=True))
    return functional.log_softmax(teacher.scores(x[lines, last], head.to(_HALF)), 1).cpu().numpy()


class _Cache:
    """Keys and values: of the shared beginning once, of each prompt and what follows it apart."""

    def __init__(self, teacher: Teacher, begin: list[int], prompts: Sequence[list[int]], most: int) -> None:
        self.teacher, self.size, self.long = teacher, len(begin), max(map(len, prompts))
        self.sizes = torch.tensor([len(prompt) for prompt in prompts], device=teacher.device)
        shape = (len(prompts), _KEYS, self.long + most, _SIZE)
        self.keys, self.values = (
            [torch.zeros(shape, dtype=_HALF, device=teacher.device) for _ in teacher.layers] for _ in range(2)
        )
        self.shared: list[tuple[Tensor, Tensor]] = []
        x, places = teacher.words[torch.tensor([begin], device=teacher.device)], torch.arange(self.size)[None]
        for layer in teacher.layers:
            x = teacher.run(layer, x, places.to(teacher.device), self._begin)

    def _begin(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        self.shared.append((k, v))
        return functional.scaled_dot_product_attention(q, _wide(k), _wide(v), is_causal=True)

    def read(self, ids: Tensor, chunk: int = 128) -> Tensor:
        """What follows the last token of each prompt."""
        device, width = ids.device, -(-(self.size + self.long) // 16) * 16
        mask = torch.zeros(self.long, width, dtype=_HALF, device=device)
        mask[:, self.size :] = -1e4
        own = mask[:, self.size : self.size + self.long]
        own.masked_fill_(torch.ones_like(own, dtype=torch.bool).tril(), 0.0)
        last = []
        for start in range(0, len(ids), chunk):
            rows = slice(start, min(start + chunk, len(ids)))
            x, count = self.teacher.words[ids[rows]], len(ids[rows])
            places = (self.size + torch.arange(self.long, device=device))[None].expand(count, -1)
            for number, layer in enumerate(self.teacher.layers):

                def attend(q: Tensor, k: Tensor, v: Tensor, number: int = number, rows: slice = rows) -> Tensor:
                    self.keys[number][rows, :, : self.long], self.values[number][rows, :, : self.long] = k, v
                    empty = k.new_zeros(len(k), _KEYS, width - self.size - self.long, _SIZE)
                    whole = [
                        _wide(torch.cat([shared.expand(len(k), -1, -1, -1), part, empty], 2))
                        for shared, part in zip(self.shared[number], (k, v), strict=True)
                    ]
                    return functional.scaled_dot_product_attention(
                        q, *whole, attn_mask=mask.expand(len(k), _HEADS, -1, -1)
                    )

                x = self.teacher.run(layer, x, places, attend)
            last.append(x[torch.arange(count, device=device), self.sizes[rows] - 1])
        return torch.cat(last)

    def step(self, tokens: Tensor, number: int) -> Tensor:
        """What follows one more token of each."""
        count, end = len(tokens), self.long + number + 1
        slots = torch.arange(end, device=tokens.device)
        seen = (slots[None] < self.sizes[:, None]) | (slots >= self.long)[None]
        bias = torch.zeros(count, 1, 1, end, device=tokens.device).masked_fill_(~seen[:, None, None], -1e4)
        x, places = self.teacher.words[tokens][:, None], (self.size + self.sizes + number)[:, None]
        for at, layer in enumerate(self.teacher.layers):

            def attend(q: Tensor, k: Tensor, v: Tensor, at: int = at) -> Tensor:
                keys, values, (first, first_values) = self.keys[at], self.values[at], self.shared[at]
                keys[:, :, end - 1], values[:, :, end - 1] = k[:, :, 0], v[:, :, 0]
                q = q[:, :, 0].view(count, _KEYS, -1, _SIZE) * _SIZE**-0.5
                flat = lambda part: part.transpose(0, 1).reshape(_KEYS, -1, part.shape[-1])  # noqa: E731
                back = lambda part: part.view(_KEYS, count, -1, part.shape[-1]).transpose(0, 1)  # noqa: E731
                own = torch.matmul(q, keys[:, :, :end].transpose(-1, -2)).float() + bias
                shared = back(torch.matmul(flat(q), first[0].transpose(-1, -2))).float()
                weight = functional.softmax(torch.cat([shared, own], -1), -1).to(_HALF)
                found = torch.matmul(weight[..., self.size :], values[:, :, :end])
                found = found + back(torch.matmul(flat(weight[..., : self.size]), first_values[0]))
                return found.reshape(count, _HEADS, 1, _SIZE)

            x = self.teacher.run(layer, x, places, attend)
        return x[:, 0]


@torch.no_grad()
def write(
    teacher: Teacher, words: Words, begin: str, prompts: Sequence[str], most: int, heat: float = 0.9, among: int = 50
) -> list[tuple[str, bool]]:
    """A text for each prompt, and whether it came to its end."""
    asked = words.all_numbers(list(prompts))
    cache = _Cache(teacher, words.numbers(begin), asked, most)
    ids = torch.zeros(len(asked), cache.long, dtype=torch.long)
    for line, one in enumerate(asked):
        ids[line, : len(one)] = torch.tensor(one)
    x, made = cache.read(ids.to(teacher.device)), []
    ended = torch.zeros(len(asked), dtype=torch.bool, device=teacher.device)
    for number in range(most):
        scores, tokens = teacher.scores(x, teacher.head).topk(among, -1)
        drawn = torch.multinomial(functional.softmax(scores / heat, -1), 1)
        made.append(tokens.gather(1, drawn)[:, 0])
        ended |= made[-1] == words.end
        if number % 8 == 7 and float(ended.float().mean()) > 0.985:
            break
        x = cache.step(made[-1], number)
    rows = torch.stack(made, 1).cpu().numpy()
    stops = [np.flatnonzero(np.isin(row, [words.end, words.pad])) for row in rows]
    texts = words.texts([row[: stop[0]] if len(stop) else row for row, stop in zip(rows, stops, strict=True)])
    return [(text, bool(len(stop))) for text, stop in zip(texts, stops, strict=True)]


class _Rows:
    """What was written, each pair once."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], Row] = {}

    def add(self, task: str, source: str, first: str, second: str) -> None:
        row = {"task": task, "source": source, "split": "train", "first": first, "second": second, "label": -1}
        self.made.setdefault((first, second), row)

    def answers(self, asked: list[list[str]], texts: list[tuple[str, bool]]) -> None:
        for (question, reference), (text, _) in zip(asked, texts, strict=True):
            for found in filter(None, map(_ANSWER.match, text.split("\n")[:4])):
                self.add("match", f"llmmatch/{found[1]}", f"question: {question} answer: {reference}", found[2])

    def claims(self, passages: list[str], texts: list[tuple[str, bool]]) -> None:
        for passage, (text, _) in zip(passages, texts, strict=True):
            for found in filter(None, map(_CLAIM.match, text.split("\n")[:8])):
                if 3 <= len(found[2].split()) <= 30:
                    self.add("support", f"llm/{found[1].split()[0].lower()}", passage, found[2])


def compose(teacher: Teacher, words: Words, prompts: dict[str, Any], seconds: float) -> list[Row]:
    """New passages for a third of the time, answers to all questions, and claims about passages until the time is over."""
    began, rng, rows = time.perf_counter(), Random("teacher composes"), _Rows()  # noqa: S311
    texts: list[str] = []
    for batch in prompts["passages"]:
        found = write(teacher, words, batch["begin"], batch["prompts"], 176, heat=1.0)
        texts += [text.strip() for text, ended in found if ended and 35 <= len(text.split()) <= 140]
        if time.perf_counter() - began > seconds * 0.32:
            break
    for batch in prompts["answers"]:
        asked = [batch["prompt"].format(*one) for one in batch["asked"]]
        rows.answers(batch["asked"], write(teacher, words, batch["begin"], asked, 96))
    passages = [readable(text) if rng.random() < 0.75 else text for text in texts] + prompts["given"]
    rng.shuffle(passages)
    for start in range(0, len(passages), 1024):
        if time.perf_counter() - began > seconds:
            break
        own = passages[start : start + 1024]
        asked = [prompts["prompt"].replace("{passage}", one) for one in own]
        rows.claims(own, write(teacher, words, rng.choice(prompts["claims"]), asked, 152))
    made = list(rows.made.values())
    claims = [row for row in made if row["task"] == "support"]
    for row in rng.sample(claims, len(claims) // 8):
        both = [row["first"], rng.choice(passages)]
        rng.shuffle(both)
        made.append({**row, "source": "llmulti/two", "first": "\n\n".join(both)})
    print(f"{len(texts)} passages, {len(made)} rows, {time.perf_counter() - began:.0f} s", flush=True)
    return made


if __name__ == "__main__":
    main()
