"""The teacher, before it is tuned, writes single sentences: in other words, or made wrong by a small change.

The sentences are those of passages and the hand-written claims. Labels come from the tuned teacher (teacher_label.py), so
what was asked for is only the source of the row.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from random import Random

import numpy as np
import torch

from teacher_weights import Words, load

_SYSTEM = "You rewrite sentences. You reply with one sentence and nothing else."
_TASKS = {
    "reword": (
        "Say the same in completely different words, as an assistant would in an answer. Keep names, numbers and meaning.",
        [
            (
                "Visitors are not admitted to the ward before 2 pm unless the sister in charge has agreed.",
                "Until two in the afternoon nobody may come to see a patient, except with the head nurse's permission.",
            ),
            (
                "The committee elects the chair for three years.",
                "A chair serves a three-year term and is chosen by the committee.",
            ),
        ],
    ),
    "short": (
        "Say the main point in a few other words.",
        [
            (
                "Orders placed after noon on Friday leave our warehouse on the following Monday.",
                "Friday-afternoon orders ship on Monday.",
            ),
            ("You must not use the lift if the alarm sounds.", "No lift during an alarm."),
        ],
    ),
    "wrong": (
        "Change the meaning so that it becomes wrong, by one small change: who does what, a name, a number, a time, a condition or "
        "not. Use other words elsewhere.",
        [
            (
                "The landlord pays for repairs that cost more than 80 euros.",
                "Repairs above 80 euros are paid for by the tenant.",
            ),
            (
                "The library opens at 9 am on weekdays.",
                "From Monday to Friday the library does not open until 10 in the morning.",
            ),
            ("Do not rinse the filter with hot water.", "The filter should be rinsed with hot water."),
        ],
    ),
    "more": (
        "Say the same in other words and add one plausible detail.",
        [
            (
                "The pass is valid for 90 minutes.",
                "A pass lasts an hour and a half, and you can change lines as often as you like.",
            ),
            (
                "Employees may work from home on two days a week.",
                "Staff can stay at home two days a week once their manager has agreed.",
            ),
        ],
    ),
}


def main() -> None:
    """Writes JSON lines with first, second, source, split, label."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, required=True, help="JSON lines with evidence and sentence")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--limit-seconds", type=float, default=1e9)
    parser.add_argument("--shard", default="0/1", help="which part of the prompts, for several processes side by side")
    options = parser.parse_args()
    began = time.perf_counter()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shard, shards = (int(part) for part in options.shard.split("/"))
    torch.manual_seed(shard)
    words, model = Words(options.teacher), load(options.teacher, device)
    model.generation_config.pad_token_id = words.pad
    given = [json.loads(line) for line in options.sentences.open(encoding="utf-8")][shard::shards]
    prompts = _prompts(given)
    tokens = words.all_numbers([_chat(sentence, task) for _, sentence, task in prompts])
    print(f"{len(prompts)} prompts, ready after {time.perf_counter() - began:.0f} s", flush=True)
    count = 0
    with options.out.open("w", encoding="utf-8") as out:
        for at in range(0, len(prompts), options.batch):
            if time.perf_counter() - began > options.limit_seconds:
                break
            batch = range(at, min(at + options.batch, len(prompts)))
            replies = words.texts(_generate(model, [tokens[number] for number in batch], words, options.tokens, device))
            for number, reply in zip(batch, replies, strict=True):
                evidence, sentence, task = prompts[number]
                line = reply.strip().strip('"')
                if 3 <= len(line.split()) <= 60 and "\n" not in line and line[-1] in ".!" and line != sentence:
                    row = {
                        "task": "support",
                        "source": f"llm/{task}",
                        "split": "train",
                        "first": evidence,
                        "second": line,
                    }
                    out.write(json.dumps({**row, "label": -1}, ensure_ascii=False) + "\n")
                    count += 1
            out.flush()
            print(f"{batch.stop} of {len(prompts)}: {count} sentences, {time.perf_counter() - began:.0f} s", flush=True)


def _prompts(given: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    """Evidence, sentence and task; blocks of sentences of about the same length, so that little is padded."""
    rng = Random("teacher writes")  # noqa: S311
    asked = [
        (row["evidence"], row["sentence"], task)
        for row in given
        for task in rng.sample(list(_TASKS), 2 if row.get("twice") else 1)
    ]
    rng.shuffle(asked)
    blocks = [sorted(asked[at : at + 4096], key=lambda one: len(one[1])) for at in range(0, len(asked), 4096)]
    return [one for block in blocks for one in block]


def _chat(sentence: str, task: str) -> str:
    order, examples = _TASKS[task]
    turn = "<|im_start|>user\n{}\n\n{}<|im_end|>\n<|im_start|>assistant\n"
    shown = "".join(turn.format(order, one) + other + "<|im_end|>\n" for one, other in examples)
    return f"<|im_start|>system\n{_SYSTEM}<|im_end|>\n{shown}" + turn.format(order, sentence)


@torch.no_grad()
def _generate(model: torch.nn.Module, rows: list[list[int]], words: Words, most: int, device: str) -> list[list[int]]:
    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), words.pad)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, width - len(row) :] = torch.tensor(row)
        mask[number, width - len(row) :] = 1
    made = model.generate(
        input_ids=ids.to(device),
        attention_mask=mask.to(device),
        max_new_tokens=most,
        do_sample=True,
        temperature=0.8,
        top_k=40,
        top_p=1.0,
        eos_token_id=[words.end, words.pad],
        pad_token_id=words.pad,
    )[:, width:].cpu()
    ended = np.isin(made.numpy(), [words.end, words.pad])
    return [
        row[: int(stop.argmax()) if stop.any() else len(row)].tolist() for row, stop in zip(made, ended, strict=True)
    ]


if __name__ == "__main__":
    main()
