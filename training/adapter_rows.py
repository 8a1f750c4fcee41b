"""The pairs that the adapter of the 1.5B judge is trained and measured on, as one file of JSON lines.

Each row has a `set` ("train", or the name of a measured set), a `task` (support or match), the texts, and a label: 0 supported,
1 not stated, 2 contradicted, 3 not supported; for match 1 right, 0 wrong. Whole domains, the questions of answers and some
whole languages are kept from training.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

from made_amounts import adapter_row, made_amounts
from made_tables import cells, lay_out, made_table
from natural_pairs import is_kept, read_rows

Row = dict[str, Any]

_LABELS = {"supported": 0, "not_stated": 1, "contradicted": 2}
# Languages of which nothing is trained on.
_KEPT_LANGUAGES = {"tr", "ko", "sv"}
# How many rows of a kind of pair are drawn: (family, task): rows. Written ones are all taken, so many times.
_DRAWN = {
    ("variant", "support"): 14_000,
    ("claims", "support"): 34_000,
    ("domain", "support"): 12_000,
    ("made", "support"): 10_000,
    ("made", "match"): 8_000,
    ("claims", "match"): 11_000,
}
_TIMES = {"support": 2, "match": 4}
_VERDICTS = {"yes": 0, "unknown": 1, "no": 2}
# How often the chunks of a row with its question are put in an order of their own, some with a chunk of another row.
_ORDERS = 10
_NUMBER = re.compile(r"(?<![\w.,])\d{1,4}(?:[.,:]\d{1,3})?(?![\w.,]\d)")


def main() -> None:
    """Writes the rows, shuffled, the measured ones last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pairs", type=Path, nargs="+", required=True, help="rows of synthesise.py and natural_pairs.py"
    )
    parser.add_argument("--claims", type=Path, nargs="+", required=True, help="written claims, in any language")
    parser.add_argument("--answers", type=Path, nargs="*", default=[], help="further written answers")
    parser.add_argument("--asked", type=Path, help="rows with a question, chunks and claims with verdicts")
    parser.add_argument(
        "--amounts", type=int, default=0, help="so many claims of made_amounts.py, half as many of tables"
    )
    parser.add_argument("--seed", default="adapter rows", help="another one draws other rows")
    parser.add_argument("--measure", nargs="*", default=[], help="NAME=FILE of claims, answers or full rows")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rng = Random(options.seed)  # noqa: S311
    families = read_pairs(options.pairs)
    more = [row for path in options.claims for row in read_rows(path)]
    rows = train_rows(families, more, [row for path in options.answers for row in read_rows(path)], rng)
    rows += [adapter_row(made) for made in made_amounts(options.amounts, rng)] + table_rows(options.amounts // 2, rng)
    asked = read_rows(options.asked) if options.asked else []
    rows += asked_rows([row for row in asked if not is_kept(row["domain"])], "train", _ORDERS, rng)
    rng.shuffle(rows)
    rows += kept_rows(families, more) + asked_rows(
        [row for row in asked if is_kept(row["domain"])], "kept-asked", 1, rng
    )
    for name, _, path in (item.partition("=") for item in options.measure):
        rows += measured(name, read_rows(Path(path)))
    with options.out.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    for (name, task), count in sorted(Counter((row["set"], row["task"]) for row in rows).items()):
        print(f"{count:7d} {name} {task}")


def read_pairs(paths: list[Path]) -> dict[tuple[str, str, str], list[Row]]:
    """The labelled pairs by split, family and task."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["task"] in ("support", "match") and row["label"] is not None and row["label"] >= 0:
                    found[row["split"], row["source"].split("/", 1)[0], row["task"]].append(row)
    return found


def _row(name: str, task: str, first: str | list[str], second: str, label: int, **about: str) -> Row:
    return {"set": name, "task": task, "first": first, "second": second, "label": int(label), **about}


def _from_pair(row: Row, name: str) -> Row:
    first = row["first"]
    if row["task"] == "match":
        first = first.removeprefix("question: ").rsplit(" answer: ", 1)
    return _row(name, row["task"], first, row["second"], row["label"], about=row["source"])


def _evidence(row: Row) -> str:
    return row.get("evidence") or row["chunk"]


def train_rows(
    families: dict[tuple[str, str, str], list[Row]], more: list[Row], answers: list[Row], rng: Random
) -> list[Row]:
    """Written pairs several times, samples of the others, and what is made from the written ones."""
    rows: list[Row] = []
    for (family, task), count in _DRAWN.items():
        given = families["train", family, task]
        rows += [_from_pair(row, "train") for row in rng.sample(given, min(count, len(given)))]
    written = [_from_pair(row, "train") for row in families["train", "written", "support"]]
    english = {(row["first"], row["second"]) for row in written}
    further = [
        _row("train", "support", _evidence(row), row["claim"], _LABELS[row["label"]], about=f"more/{row['domain']}")
        for row in more
        if not is_kept(row["domain"]) and row.get("lang", "en") not in _KEPT_LANGUAGES
    ]
    further = [row for row in further if (row["first"], row["second"]) not in english]
    rows += written * _TIMES["support"] + further * 3
    rows += [_from_pair(row, "train") for row in families["train", "written", "match"]] * _TIMES["match"]
    asked = [row for row in answers if not is_kept(row["question"]) and row.get("lang", "en") not in _KEPT_LANGUAGES]
    rows += [
        _row("train", "match", [row["question"], row["reference"]], row["answer"], int(row["label"]), about="more")
        for row in asked
    ] * _TIMES["match"]
    rows += together(written, 0.6, rng) + together(further, 0.8, rng)
    return rows + wrong_numbers(written + further, 6_000, rng)


def together(given: list[Row], share: float, rng: Random) -> list[Row]:
    """Evidence among other chunks, as retrieval gives it: of the same domain (not for what is not stated), and of others."""
    chunks: dict[str, list[str]] = defaultdict(list)
    for row in given:
        if row["first"] not in chunks[_domain(row)]:
            chunks[_domain(row)].append(row["first"])
    domains = sorted(chunks)
    made = []
    for row in given:
        if rng.random() > share:
            continue
        own = [text for text in chunks[_domain(row)] if text != row["first"]]
        texts = [row["first"]]
        for _ in range(rng.randint(1, 4)):
            if own and row["label"] != 1 and rng.random() < 0.5:
                text = own.pop(rng.randrange(len(own)))
            else:
                other = rng.choice(domains)
                text = "" if other == _domain(row) else rng.choice(chunks[other])
            if text:
                texts.insert(rng.randint(0, len(texts)), text)
        if len(texts) > 1:
            made.append({**row, "first": "\n\n".join(texts)})
    return made


def asked_rows(given: list[Row], name: str, orders: int, rng: Random) -> list[Row]:
    """Claims against all chunks of a row, with the question after them, as the product asks; in several orders."""
    made = []
    for row in given:
        for _ in range(orders):
            chunks = list(row["chunks"])
            if orders > 1:
                chunks += rng.sample(rng.choice(given)["chunks"], 1) if rng.random() < 0.4 else []
                rng.shuffle(chunks)
            text = "\n\n".join(dict.fromkeys(chunks)) + f"\n\nQuestion: {row['question'].strip()}"
            about = {"lang": row["lang"], "about": f"asked/{row['domain']}"}
            made += [_row(name, "support", text, claim, _VERDICTS[label], **about) for claim, label in row["claims"]]
    return made


def table_rows(count: int, rng: Random) -> list[Row]:
    """Claims about the cells of made tables, four of each."""
    tables = [made_table(rng) for _ in range(count // 4)]
    return [
        _row("train", "support", lay_out(table), claim, label, about="table/made")
        for table in tables
        for claim, label in cells(table, 4, rng)
    ]


def _domain(row: Row) -> str:
    return row["about"].split("/")[1]


def wrong_numbers(given: list[Row], count: int, rng: Random) -> list[Row]:
    """Supported claims with a number of the evidence changed into one that it does not contain: not supported."""
    made = []
    usable = [row for row in given if row["label"] == 0]
    rng.shuffle(usable)
    for row in usable:
        found = [one for one in _NUMBER.finditer(row["second"]) if one.group() in row["first"]]
        if not found:
            continue
        place = rng.choice(found)
        changed = _other_number(place.group(), rng)
        if changed not in row["first"]:
            claim = row["second"][: place.start()] + changed + row["second"][place.end() :]
            made.append({**row, "second": claim, "label": 3, "about": f"number/{_domain(row)}"})
        if len(made) == count:
            break
    return made


def _other_number(number: str, rng: Random) -> str:
    digits = [at for at, mark in enumerate(number) if mark.isdigit()]
    draw, at = rng.random(), rng.choice(digits)
    if draw < 0.25:
        return f"{rng.randint(1, 9)}{number}"
    if draw < 0.4 and number.isdigit():
        return f"{number}0"
    if draw < 0.55 and len(digits) > 1 and number[::-1] != number:
        return number[digits[-1]] + number[1 : digits[-1]] + number[0] + number[digits[-1] + 1 :]
    other = rng.choice([mark for mark in "123456789" if mark != number[at]])
    return number[:at] + other + number[at + 1 :]


def kept_rows(families: dict[tuple[str, str, str], list[Row]], more: list[Row]) -> list[Row]:
    """The written rows that training does not see, as the sets kept, test and kept-more."""
    rows = [
        _from_pair(row, {"valid": "kept", "test": "test"}[split])
        for split in ("valid", "test")
        for task in ("support", "match")
        for row in families[split, "written", task]
    ]
    seen = {(row["first"], row["second"]) for row in rows if row["task"] == "support"}
    for row in more:
        foreign = row.get("lang", "en") in _KEPT_LANGUAGES
        if (foreign or is_kept(row["domain"])) and (_evidence(row), row["claim"]) not in seen:
            language = row.get("lang", "en")
            name = "kept-more" if language == "en" else "kept-unseen-language" if foreign else "kept-language"
            rows.append(
                _row(
                    name,
                    "support",
                    _evidence(row),
                    row["claim"],
                    _LABELS[row["label"]],
                    lang=language,
                    about=f"{row['domain']}/{row['kind']}",
                )
            )
    return rows


def measured(name: str, given: list[Row]) -> list[Row]:
    """Claims (also those of full rows, against all chunks) or answers of a file."""
    rows = []
    for number, row in enumerate(given):
        about = {
            "id": str(row.get("id", number)),
            "lang": row.get("lang", "en"),
            "about": f"{row.get('domain', '')}/{row.get('kind', '')}",
        }
        if "contexts" in row:
            parts = row.get("sentences") or row["claims"]
            for part in parts:
                label = part.get("label") or part.get("verdict") or ("supported" if part["supported"] else None)
                evidence = "\n\n".join(row["contexts"])
                rows.append(
                    _row(
                        name,
                        "support",
                        evidence,
                        part.get("text") or part["claim"],
                        _LABELS.get(str(label), 3),
                        **about,
                    )
                )
        elif "answer" in row:
            rows.append(
                _row(name, "match", [row["question"], row["reference"]], row["answer"], int(row["label"]), **about)
            )
        else:
            rows.append(
                _row(name, "support", _evidence(row), row["claim"], _LABELS[row["label"].replace(" ", "_")], **about)
            )
    return rows


if __name__ == "__main__":
    main()
