"""Runs that are made for the tests of the viewer: many rows, long chunks, Markdown and other scripts."""

import json
import random
from importlib import resources

import pytest

import ragstone
from ragstone.data.verdict import Verdict

_WORDS = (
    "harbour ferry quay boat crane tide pilot anchor cargo deck rope buoy lighthouse customs crew berth channel winch"
)


def _filler(draw, count):
    """Sentences of about twelve words, `count` words in all."""
    words = [draw.choice(_WORDS.split()) for _ in range(count)]
    parts = [words[at : at + 12] for at in range(0, count, 12)]
    return " ".join(f"The {' '.join(part)}.".replace("The the", "The") for part in parts)


YES, NO, SILENT = "entailment", "contradiction", "neutral"


def _row(rank=0, verdict=SILENT):
    return [verdict if place == rank else SILENT for place in range(1, 11)]


def long_rows(count, start=0, repeat=1):
    """Samples with 10 chunks of 200 words. Chunk 3 supports the first claim, chunk 7 contradicts the second one.

    `start` moves the number in every second answer, so that gains differ; `repeat` makes answers, references and chunks longer.
    """
    draw = random.Random(7)
    pool = [_filler(draw, 190) for _ in range(40)]
    for number in range(count):
        hour = number % 9 + 1
        said = (hour + start * (number % 2) - 1) % 9 + 1
        chunks = [draw.choice(pool) for _ in range(10)]
        half = len(chunks[2]) // 2
        at = chunks[2].index(". ", half) + 2
        chunks[2] = (
            f"{chunks[2][:at]}The night ferry {number} leaves from pier {hour} at the old quay. {chunks[2][at:]}"
        )
        at = chunks[6].index(". ", half) + 2
        chunks[6] = (
            f"{chunks[6][:at]}A return ticket for ferry {number} costs {hour + 20} euros on weekdays. {chunks[6][at:]}"
        )
        answer = [
            f"The night ferry {number} leaves from pier {said}.",
            f"A return ticket costs {hour + 40} euros.",
        ]
        answer.append("Children under six travel free of charge.")
        truth = [
            answer[0].replace(f"pier {said}", f"pier {hour}"),
            f"A return ticket for ferry {number} costs {hour + 20} euros.",
        ]
        yield {
            "id": f"long-{number}",
            "question": f"From which pier does the night ferry {number} leave, and what does a return ticket cost?",
            "answer": " ".join(answer * repeat),
            "references": [" ".join(truth * repeat)],
            "contexts": [
                {"id": f"doc-{number}-{rank}", "text": " ".join([text] * repeat)} for rank, text in enumerate(chunks, 1)
            ],
            "facts": [f"ferry {number} leaves from pier {hour}", "Children under six travel free"],
            "answer_claims": [{"text": text} for text in answer],
            "reference_claims": [{"text": text} for text in truth],
            "answer_claims_in_reference": [YES, NO, SILENT],
            "reference_claims_in_answer": [YES, NO],
            "answer_claims_in_contexts": [_row(3, YES), _row(7, NO), _row()],
            "reference_claims_in_contexts": [_row(3, YES), _row(7, YES)],
        }


def long_run(root, count=5_000, name="long chunks", **more):
    file = root / "long-chunks.jsonl"
    with file.open("w") as stream:
        for row in long_rows(count, **more):
            stream.write(json.dumps(row) + "\n")
    metrics = ["ragchecker", "token_f1", "fact_recall", "fact_precision", "rouge_l"]
    return ragstone.evaluate(file, metrics, root, name=name)


MARKDOWN = """## Opening hours

The **west gate** opens at `09:00`. See [the site](https://example.org/x) and <b>this</b>.

| day | opens | closes |
|-----|:-----:|-------:|
| Monday | 9 | 17 |
| **Sunday** | – | – |

1. Walk to pier *two*.
2. Show the ticket:
   - on paper, or
   - on the phone

```python
open = hour >= 9 and hour < 17
```

> Dogs are welcome.
"""


def text_rows():
    """Markdown, right-to-left, Chinese and empty texts."""
    arabic = "تغادر العبارة الليلية من الرصيف رقم 7 في الساعة 22:30. ثمن التذكرة 12 يورو."
    chinese = "夜间渡轮于晚上十点半从七号码头出发。往返票价为十二欧元。儿童免费。"
    return [
        _plain(
            "markdown",
            "When does the west gate open?",
            MARKDOWN,
            [MARKDOWN, "The ferry leaves at ten."],
            "The **west gate** opens at `09:00`.",
        ),
        _plain(
            "arabic",
            "متى تغادر العبارة؟",
            arabic,
            [arabic, "The ferry leaves at ten."],
            "تغادر العبارة الليلية من الرصيف رقم 7",
        ),
        _plain(
            "chinese",
            "夜间渡轮从哪里出发？",
            chinese,
            [chinese, "The ferry leaves at ten."],
            "夜间渡轮于晚上十点半从七号码头出发",
        ),
        _plain(
            "empty", "Where is the office?", "  ", ["", "The office is in the tower."], "The office is in the tower"
        ),
        _plain(
            "split",
            "How long is the pier?",
            "It is long.",
            ["The old stone pier is", "four hundred metres long and open."],
            "The old stone pier is four hundred metres long",
        ),
    ]


def _plain(name, question, answer, chunks, fact):
    return {
        "id": name,
        "question": question,
        "answer": answer,
        "references": [answer],
        "contexts": chunks,
        "facts": [fact],
    }


def text_run(root):
    file = root / "texts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in text_rows()))
    return ragstone.evaluate(file, ["fact_recall", "fact_precision", "token_f1", "exact_match"], root, name="texts")


def judged_run(root):
    """The shipped example, judged by the local judge: verdicts with probabilities, some unsure."""
    file = resources.files("ragstone.examples") / "harbour" / "worse.jsonl"
    return ragstone.evaluate(str(file), ["ragchecker", "fact_recall", "fact_precision", "recall"], root, name="judged")


async def _check(claims, texts):
    """A checker that is unsure of every claim with an odd number of characters."""
    return [
        [Verdict("unsure", 0.5, 0.1) if len(one) % 2 else Verdict("entailment", 0.9, 0.02) for _ in texts]
        for one in claims
    ]


def unsure_run(root, count=14):
    """Verdicts of which some are unsure, latencies and slices; claims are extracted by rules. No model is loaded."""
    file = resources.files("ragstone.examples") / "harbour" / "worse.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()][:count]
    for number, row in enumerate(rows):
        measured = {} if number == 3 else {"latency_s": number / 2}
        row["metadata"] = (row.get("metadata") or {}) | {"top k": number % 3, **measured}
    target = root / "unsure.jsonl"
    target.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
        metrics = ["ragchecker", "token_f1", "fact_recall", "system.latency"]
        return ragstone.evaluate(target, metrics, root, name="unsure", checker=_check)
