"""Pairs for the teacher to label, and prompts for it to write more: what the small judge is trained on last.

Most are short, as the product splits claims, and laid out as the product lays out tables and lists: parts of written claims and of
sentences, near chunks, several chunks, changed numbers and words, cells of tables. Label -1 leaves the answer to the teacher.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

from adapter_rows import _NUMBER, _other_number, together
from made_tables import cells, lay_out, made_table, read_table
from ragstone.text.clauses import clauses
from ragstone.text.layout import readable

Row = dict[str, Any]

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])|\n+")
_CHANGES = {
    " is ": " is not ", " are ": " are not ", " may ": " may not ", " must ": " need not ", " can ": " cannot ", " not ": " ",
    " before ": " after ", " after ": " before ", " more than ": " less than ", " at least ": " at most ", " up to ": " more than ",
    " every ": " only some ", " all ": " not all ", " free of charge": " for a fee", " without ": " with ", " with ": " without ",
    " only ": " ", " no ": " any ", " always ": " sometimes ", " until ": " from ",
}  # fmt: skip
_LONGEST, _CUT = 2_400, 1_700
_TURN = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
_SYSTEM = "<|im_start|>system\n{}<|im_end|>\n"
_CLAIMS = (
    "Passage:\n{passage}\n\nWrite seven short statements about the passage, one a line: two true ones in other words, two true ones that "
    "follow from it, two false ones, one that it does not answer."
)
_ANSWERS = (
    "Question: {}\nReference: {}\n\nWrite four answers, one a line: two right ones in other words, two wrong ones."
)
_PASSAGE = "Write an excerpt of about 90 words: {}. Form: {}."
_PROSE, _TABLE, _BULLETS = (
    "a paragraph of five to seven sentences",
    "a table with a heading row and one sentence below it",
    "a list with bullet points",
)
_STEPS, _FAQ = "numbered steps", "questions and answers"
_FORMS = (_PROSE, _PROSE, _BULLETS, _TABLE, _FAQ, _STEPS, "two short paragraphs", "a letter or notice")
_FOLLOWS = {"computed", "inference", "comparison", "converse", "table_computed", "aggregate", "merged", "bound"}


def main() -> None:
    """Writes pairs.jsonl and prompts.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="natural, domain, made, labelled")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rng = Random("student")  # noqa: S311
    given = [json.loads(line) for path in options.pairs for line in path.open(encoding="utf-8")]
    made = Made(given, rng)
    rows = made.all()
    with (options.out / "pairs.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (options.out / "prompts.json").write_text(json.dumps(prompts(made, rng), ensure_ascii=False), encoding="utf-8")
    print(f"{len(rows)} pairs")


def parts(sentence: str) -> list[str]:
    """The parts of a claim; nothing if it is one."""
    found = clauses(sentence)
    return found if len(found) > 1 else []


class Made:
    """The pairs for training as they are collected."""

    def __init__(self, given: list[Row], rng: Random) -> None:
        self.rng, self.rows, self._seen = rng, list[Row](), set[tuple[str, str, str]]()
        self.of: dict[tuple[str, str], list[Row]] = defaultdict(list)
        self.kept = [row for row in given if row["split"] != "train" and row["source"].startswith("written/")]
        for row in given:
            if row["split"] == "train" and row["label"] is not None:
                self.of[row["source"].split("/")[0], row["task"]].append(row)
        self.written = self.of["written", "support"]
        self.chunks: dict[str, list[str]] = defaultdict(list)
        for row in self.written:
            own = self.chunks[row["source"].split("/")[1]]
            if row["first"] not in own:
                own.append(row["first"])

    def add(self, first: str, second: str, label: float, source: str, task: str = "support") -> None:
        """One pair, once; evidence mostly as the product reads it."""
        if task == "support" and self.rng.random() < 0.75:
            first = readable(first)
        key = (first, second, task)
        if key in self._seen or not second.strip() or len(first) > _LONGEST:
            return
        self._seen.add(key)
        first = first[:_CUT] if task == "support" else first
        self.rows.append(
            {"task": task, "source": source, "split": "train", "first": first, "second": second, "label": label}
        )

    def all(self) -> list[Row]:
        """All pairs, shuffled, those kept for validation last."""
        samples = (("claims", "support", 36_000), ("claims", "match", 9_000), ("domain", "support", 40_000),
                   ("made", "support", 7_000), ("made", "match", 6_000), ("made", "fraction", 1_000),
                   ("variant", "support", 18_000), ("written", "support", 10**9), ("written", "match", 10**9))  # fmt: skip
        for family, task, count in samples:
            own = self.of[family, task]
            for row in self.rng.sample(own, min(count, len(own))):
                self.add(row["first"], row["second"], row["label"], row["source"], task)
        self._parts()
        self._other_texts()
        self._changed()
        self._tables()
        self.rng.shuffle(self.rows)
        return self.rows + self.kept

    def _parts(self) -> None:
        for name, rows in (
            ("written", self.written),
            ("domain", self.of["domain", "support"][:24_000]),
            ("claims", self.of["claims", "support"][:12_000]),
        ):
            for row in rows:
                for part in parts(row["second"]):
                    self.add(row["first"], part, -1, f"atomic/{name}")
        for own in self.chunks.values():
            for chunk in own:
                for sentence in (text.strip("-*•# ") for text in _SENTENCE.split(chunk)):
                    if "|" in sentence or not 4 <= len(sentence.split()) <= 40:
                        continue
                    for part in parts(sentence) or [sentence]:
                        self.add(chunk, part, -1, "atomic/chunk")
                        if len(own) > 1 and self.rng.random() < 0.5:
                            self.add(self.rng.choice([one for one in own if one != chunk]), part, -1, "atomic/near")

    def _other_texts(self) -> None:
        for row in self.written:
            others = [one for one in self.chunks[row["source"].split("/")[1]] if one != row["first"]]
            if others and self.rng.random() < 0.45:
                self.add(self.rng.choice(others), row["second"], -1, "near/written")
        for row in together([{**row, "about": row["source"]} for row in self.written], 0.5, self.rng):
            self.add("\n\n".join(map(readable, row["first"].split("\n\n"))), row["second"], -1, "multi/more")

    def _changed(self) -> None:
        for row in [row for row in self.rows if row["source"].startswith(("atomic/", "written/"))]:
            claim, numbers = row["second"], list(_NUMBER.finditer(row["second"]))
            if numbers and self.rng.random() < 0.4:
                place = self.rng.choice(numbers)
                others = [one for one in _NUMBER.findall(row["first"]) if one != place.group()]
                near = others and self.rng.random() < 0.5
                other = self.rng.choice(others) if near else _other_number(place.group(), self.rng)
                self.add(row["first"], claim[: place.start()] + other + claim[place.end() :], -1, "changed/number")
            words = [word for word in _CHANGES if word in claim]
            if words and self.rng.random() < 0.3:
                word = self.rng.choice(words)
                self.add(row["first"], claim.replace(word, _CHANGES[word], 1), -1, "changed/word")

    def _tables(self) -> None:
        texts = [chunk for own in self.chunks.values() for chunk in own]
        for chunk in texts:
            if grid := read_table(chunk):
                for claim, _ in cells(grid, 14, self.rng, compare=False):
                    self.add(chunk, claim, -1, "table/written")
        for _ in range(2_600):
            grid = made_table(self.rng)
            pieces = [lay_out(grid), *([readable(self.rng.choice(texts))[:700]] if self.rng.random() < 0.5 else [])]
            self.rng.shuffle(pieces)
            for claim, label in cells(grid, 5, self.rng):
                self.add("\n\n".join(pieces), claim, label, "table/made")


def prompts(made: Made, rng: Random) -> dict[str, Any]:
    """Prompts for passages, claims and answers, with written ones as examples."""
    passages = [text for name in ("domain", "made") for text in _middling(made.of[name, "support"], rng)]
    hand = [chunk for own in made.chunks.values() for chunk in own for _ in range(4)]
    given = [readable(text) if rng.random() < 0.75 else text for text in hand] + passages
    rng.shuffle(given)
    shown = _shown_claims(made.written, rng)
    return {
        "passages": [_passage_prompts(made, rng) for _ in range(14)],
        "claims": [
            _SYSTEM.format("You write short statements about a passage.") + "".join(rng.sample(shown, 3))
            for _ in range(40)
        ],
        "prompt": _TURN.format(_CLAIMS),
        "given": given,
        "answers": _answer_prompts(made, rng),
    }


def _middling(rows: list[Row], rng: Random) -> list[str]:
    texts = sorted({row["first"] for row in rows if 250 < len(row["first"]) < 900})
    return rng.sample(texts, min(4_500, len(texts)))


def _shown_claims(written: list[Row], rng: Random) -> list[str]:
    """Chunks with short written claims of each kind, as a request and its reply."""
    by: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in written:
        if len(row["second"].split()) <= 15 and len(row["first"]) < 1_000:
            true = "Follows" if row["source"].split("/")[2] in _FOLLOWS else "True"
            by[row["first"]][(true, "Not said", "False")[row["label"]]].append(row["second"])
    counts = {"True": 2, "Follows": 2, "False": 2, "Not said": 1}
    shown = []
    for chunk, own in by.items():
        if all(len(own[name]) >= count for name, count in counts.items()):
            lines = [f"{name}: {one}" for name, count in counts.items() for one in rng.sample(own[name], count)]
            shown.append(_TURN.format(_CLAIMS.replace("{passage}", chunk)) + "\n".join(lines) + "<|im_end|>\n")
    return shown


def _form(chunk: str) -> str:
    marks = (("|", _TABLE), ("\n- ", _BULLETS), ("\nQ", _FAQ), ("\n2. ", _STEPS))
    return next((form for mark, form in marks if mark in chunk), _PROSE)


def _passage_prompts(made: Made, rng: Random) -> dict[str, Any]:
    topics = (Path(__file__).parent / "topics.txt").read_text(encoding="utf-8").splitlines()
    chunks = [(name, chunk) for name, own in made.chunks.items() for chunk in own if 350 < len(chunk) < 900]
    forms = [rng.choice([one for one in chunks if _form(one[1]) == form]) for form in (_TABLE, _BULLETS)]
    examples = [*forms, rng.choice(chunks), rng.choice(chunks)]
    rng.shuffle(examples)
    begin = _SYSTEM.format(
        "You write documents with invented but exact details: names, amounts, times, conditions and exceptions."
    )
    for name, chunk in examples:
        begin += _TURN.format(_PASSAGE.format(name, _form(chunk))) + chunk + "<|im_end|>\n"
    asked = [rng.choice(topics) if rng.random() < 0.85 else rng.choice(sorted(made.chunks)) for _ in range(1024)]
    return {"begin": begin, "prompts": [_TURN.format(_PASSAGE.format(one, rng.choice(_FORMS))) for one in asked]}


def _answer_prompts(made: Made, rng: Random) -> list[dict[str, Any]]:
    by: dict[tuple[str, ...], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for row in made.of["written", "match"]:
        if "\n" not in row["second"] and len(row["second"]) < 220:
            by[_asked(row["first"])][row["label"] != 1].append(row["second"])
    both = [one for one, (right, wrong) in by.items() if right and wrong]
    others = sorted({row["first"] for row in made.of["claims", "match"]})
    asked = [*by] * 4 + [_asked(one) for one in rng.sample(others, min(2_500, len(others)))]
    asked = [one for one in asked if len(one) == 2 and max(map(len, one)) < 400]
    rng.shuffle(asked)
    made_prompts = []
    for start in range(0, len(asked), 1024):
        begin = _SYSTEM.format("You write answers to a question for a test.")
        for one in rng.sample(both, 6):
            lines = [
                f"{name}: {text}"
                for name, own in zip(("Right", "Wrong"), by[one], strict=True)
                for text in rng.sample(own, min(2, len(own)))
            ]
            begin += _TURN.format(_ANSWERS.format(*one)) + "\n".join(lines) + "<|im_end|>\n"
        made_prompts.append({"begin": begin, "prompt": _TURN.format(_ANSWERS), "asked": asked[start : start + 1024]})
    return made_prompts


def _asked(first: str) -> tuple[str, ...]:
    return tuple(first.removeprefix("question: ").rsplit(" answer: ", 1))


if __name__ == "__main__":
    main()
