"""Measures the error of the judge's means between domains and writes it into its card: what people would probably say.

Every group is a domain that was not trained on, read by the product's own tools: sentences of full RAG rows and the kept and
test claims (claims against chunks), the claims of long answers against the reference and back, and whole answers against
references. `ragstone.stats.judge_error` has the model. Each domain is checked by the error of all others: with its own rows,
and with rows drawn so that people accept a tenth, half, nine tenths or all of them.

calibrate.py calls it; alone it only renews "error" in a card: PYTHONPATH=src python training/judge_error.py --judge FOLDER ...
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from natural_pairs import read_rows
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import best_supports, supports
from ragstone.models.local_judge import Judgements, LocalJudge, Pair, read_card
from ragstone.models.store import Installed
from ragstone.stats.judge_error import JudgeError, Labelled, fit_error, word_coverage
from ragstone.text.layout import readable
from ragstone.text.overlap import covered
from ragstone.tools.local_judges import LocalChecker, LocalGrader
from ragstone.tools.protocols import InContext, Joint, Whole, check_text

# The means that each kind of group stands for.
# Each metric with the evidence whose verdicts tell the word coverage of a run.
METRICS = {
    "claims in chunks": {
        **dict.fromkeys(("ragchecker.faithfulness", "ragas.faithfulness"), "answer_claims_in_all_contexts"),
        **dict.fromkeys(("ragchecker.claim_recall", "ragas.context_recall"), "reference_claims_in_all_contexts"),
    },
    "answer claims in the reference": {"ragchecker.precision": "answer_claims_in_reference"},
    "reference claims in the answer": {"ragchecker.recall": "reference_claims_in_answer"},
    "whole answers": {"answer_match": ""},
}  # fmt: skip
# Kinds of sets by the words that their claims share with their texts.
_KINDS = {"few words shared": (0.0, 0.4), "everyday": (0.4, 0.85), "near-verbatim": (0.85, 1.01)}
_FOLDS = 8
# A domain with fewer rows has no mean worth checking.
_LEAST_ROWS = 3
# A domain with fewer rows of a kind is not drawn from.
_LEAST_DRAWN = 8
_DRAWN = 60
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


class SavedJudge(LocalJudge):
    """Keeps the outputs of the model in a file, so that an interrupted measurement goes on and a repeated one is quick."""

    def __init__(self, model: Installed, card: Any, path: Path | None) -> None:
        super().__init__(model, card)
        self._path, self._known, self._unsaved = path, {}, 0
        self.asked: set[str] = set()
        self._sha = card.files["model.onnx"][1]
        if path and path.exists():
            saved = np.load(path)
            if "model" not in saved or str(saved["model"]) == self._sha:
                self._known: dict[str, np.ndarray] = dict(zip(saved["key"].tolist(), saved["out"], strict=True))

    def run(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        """The outputs, from the file where it has them."""
        self.asked.update(map(_key, pairs))
        for start in range(0, len(pairs), 256):
            missing = [pair for pair in pairs[start : start + 256] if _key(pair) not in self._known]
            for pair, out in zip(missing, super().run(missing) if missing else [], strict=True):
                self._known[_key(pair)] = out
            self._unsaved += len(missing)
            if self._unsaved >= 1000:
                self.save()
        return [self._known[_key(pair)] for pair in pairs]

    def save(self) -> None:
        """Write the file."""
        if self._path and self._unsaved:
            np.savez(self._path, model=self._sha, key=list(self._known), out=np.array(list(self._known.values())))
            self._unsaved = 0


def _key(pair: Pair) -> str:
    return hashlib.blake2b("\x00".join(pair).encode(), digest_size=12).hexdigest()


def open_saved(folder: Path, outputs: Path | None) -> SavedJudge:
    """The judge of a folder with a card."""
    card = read_card(folder)
    return SavedJudge(Installed("local-judge", folder, str(folder), dict(card.files)), card, outputs)


class Row(NamedTuple):
    """The judge's values for the parts of one row, and which of them people accept."""

    values: list[float]
    accepted: list[bool]
    coverage: list[float]


Domains = dict[tuple[str, str], list[Row]]
Groups = dict[str, Domains]


class Reader:
    """Reads labelled rows with the tools of the product, into groups by kind, source and domain."""

    def __init__(self, judge: LocalJudge) -> None:
        judgements = Judgements(judge)
        self.checker = LocalChecker(judgements, judge.card, "")
        self.grader = LocalGrader(judgements, self.checker, "")
        self.groups: Groups = {kind: {} for kind in METRICS}

    def _add(
        self, kind: str, source: str, domain: str, values: Sequence[float], accepted: Sequence[bool], said: Any = ()
    ) -> None:
        """`said` are the verdicts that tell the word coverage, or the coverage itself."""
        weight = self.checker.card.coverage_weight
        coverage = [
            one if isinstance(one, float) else word_coverage(one.support, one.counted, weight) for one in said
        ] or [0.0] * len(values)
        if values:
            self.groups[kind].setdefault((source, domain), []).append(Row(list(values), list(accepted), coverage))

    async def _in_chunks(
        self, question: str, claims: list[str], text: str, chunks: list[str]
    ) -> tuple[list[Any], list[Any]]:
        """The verdicts of each chunk, and those of all together, on claims of a text."""
        rows = await self.checker.check(question, InContext.of(claims, question, text), [*chunks, Joint.of(chunks)])
        return [row[:-1] for row in rows], [row[-1] for row in rows]

    async def rag(self, row: dict[str, Any]) -> None:
        """The sentences of an answer against its chunks, and the answer against the references."""
        asked, domain, parts = row["question"], row["domain"], row["sentences"]
        verdicts, _ = await self._in_chunks(asked, [part["text"] for part in parts], row["answer"], row["contexts"])
        chunks = readable("\n\n".join(row["contexts"]))
        shared = [covered(part["text"], chunks) for part in parts]
        accepted = [bool(part["supported"]) for part in parts]
        self._add("claims in chunks", "rag", domain, best_supports(verdicts), accepted, shared)
        matches = await self.grader.matches(asked, row["answer"], row["references"])
        self._add("whole answers", "rag", domain, [max(matches)], [bool(row["correct"])])

    async def long(self, row: dict[str, Any]) -> None:
        """The claims of two long answers against the reference, and its claims against the answers."""
        for one in "ab":
            claims = row[f"claims_{one}"]
            texts = [claim["text"] for claim in claims]
            said = await check_text(self.checker, row["question"], texts, Whole(row["reference"]))
            right = [claim["in_reference"] == "supported" for claim in claims]
            self._add("answer claims in the reference", "long", row["domain"], supports(said), right, said)
            answer = Whole(row[f"answer_{one}"])
            found = await check_text(self.checker, row["question"], row["claims_reference"], answer)
            self._add(
                "reference claims in the answer", "long", row["domain"], supports(found), row[f"covered_{one}"], found
            )

    async def pair(self, row: dict[str, Any]) -> None:
        """One kept pair of natural_pairs.py."""
        *_, domain, _kind = ("", *row["source"].split("/"))
        if row["task"] == "support":
            [[verdict]] = await self.checker.weigh([row["second"]], [row["first"]])
            self._add(
                "claims in chunks",
                "pairs",
                domain,
                supports([verdict]),
                [row["label"] == 0],
                [covered(row["second"], readable(row["first"]))],
            )
        elif domain != "written":
            question, reference = row["first"].removeprefix("question: ").rsplit(" answer: ", 1)
            matches = await self.grader.matches(question, row["second"], [reference])
            self._add("whole answers", "pairs", domain, matches, [bool(row["label"])])


async def _all(read: Callable[[dict[str, Any]], Awaitable[None]], rows: Sequence[dict[str, Any]]) -> None:
    """Many rows at once, so that the model gets batches; rows that the judge does not read are left out."""
    for start in range(0, len(rows), 100):
        some = await asyncio.gather(*map(read, rows[start : start + 100]), return_exceptions=True)
        for error in some:
            if error is not None and not isinstance(error, Skip):
                raise error


def read_groups(judge: LocalJudge, natural: Path, rag: Sequence[Path], long: Sequence[Path]) -> Groups:
    """All labelled rows, read by the judge."""
    reader = Reader(judge)
    pairs = [
        row
        for row in map(json.loads, natural.open(encoding="utf-8"))
        if row["split"] != "train" and row["source"].startswith("written/")
    ]

    async def work() -> None:
        await _all(reader.pair, pairs)
        await _all(reader.rag, [row for path in rag for row in read_rows(path)])
        await _all(reader.long, [row for path in long for row in read_rows(path)])

    asyncio.run(work())
    return reader.groups


def _labelled(rows: Sequence[Row]) -> Labelled:
    values, accepted, coverage = (np.concatenate([row[at] for row in rows]) for at in range(3))
    return Labelled(values, accepted.astype(bool), coverage)


def fit(groups: Domains, without: str = "") -> JudgeError | None:
    """The error over all domains but one.

    If the judge's levels on written pairs, where words mislead, are not those on full RAG rows, data may be of either kind.
    Without word coverage, only RAG rows give the levels, and their spread between domains is at least that of the pairs.
    """
    kept = {key: rows for key, rows in groups.items() if key[1] != without}
    if is_fair(groups):
        return _fit(kept)
    rag, pairs = (_fit(_from(kept, source)) for source in ("rag", "pairs"))
    if rag is None or pairs is None:
        return rag
    if rag.coverage:
        return between_kinds(rag, pairs)
    yes, no = (
        replace(mine, between=max(mine.between, other.between))
        for mine, other in ((rag.accepted, pairs.accepted), (rag.refused, pairs.refused))
    )
    return replace(rag, accepted=yes, refused=no, covariance=0.0)


def between_kinds(one: JudgeError, other: JudgeError) -> JudgeError:
    """The error for data of either of two kinds, at the word coverage of the first: half their differences are spread."""
    sides = []
    for mine, theirs in ((one.accepted, other.accepted), (one.refused, other.refused)):
        there = theirs.mean + theirs.slope * (one.coverage - other.coverage)
        between = float(np.hypot(max(mine.between, theirs.between), (mine.mean - there) / 2))
        slope, spread = (mine.slope + theirs.slope) / 2, abs(mine.slope - theirs.slope) / 2
        mean = (mine.mean + there) / 2
        sides.append(replace(mine, mean=mean, between=between, slope=slope, slope_spread=spread))
    return replace(one, accepted=sides[0], refused=sides[1], covariance=0.0)


def _fit(groups: Domains) -> JudgeError | None:
    error = fit_error([_labelled(rows) for rows in groups.values()])
    return replace(error, evidence="known" * bool(error.coverage)) if error else None


def _from(groups: Domains, source: str) -> Domains:
    return {key: rows for key, rows in groups.items() if key[0] == source}


def is_fair(groups: Domains) -> bool:
    """Whether written pairs, if there are any, are a fair stand-in: the judge's levels do not differ from RAG rows."""
    levels = sources(groups)
    if "rag" not in levels or "pairs" not in levels:
        return True
    rag, pairs = np.array(levels["rag"]), np.array(levels["pairs"])
    return bool((np.abs(rag[::2] - pairs[::2]) / np.hypot(rag[1::2], pairs[1::2])).max() < 2)


def _covers(error: JudgeError, values: np.ndarray, share: float, coverage: float) -> tuple[bool, float, float, float]:
    """Whether the interval covers, its width, and how far the corrected and the plain mean are off.

    Coverage counts where a run knows it: see METRICS.
    """
    reach = 1.96 * values.std(ddof=1) / len(values) ** 0.5
    known = coverage if error.evidence else None
    people = error.people(values.mean(), values.mean() - reach, values.mean() + reach, known)
    low, high = people.interval()
    return low - 1e-9 <= share <= high + 1e-9, high - low, people.mean - share, values.mean() - share


def check(groups: Domains) -> dict[str, Any]:
    """Leave one domain out: how often its interval covers what people say, as it is and with other shares."""
    random, own, drawn = np.random.default_rng(0), [], []
    fair = is_fair(groups)
    for (source, domain), rows in groups.items():
        if source == "pairs" and not fair:
            continue
        error = fit(groups, domain)
        if error is None:
            return {}
        if len(rows) >= _LEAST_ROWS:
            share = float(np.mean([np.mean(row.accepted) for row in rows]))
            coverage = float(np.mean([np.mean(row.coverage) for row in rows]))
            own.append(_covers(error, np.array([np.mean(row.values) for row in rows]), share, coverage))
        drawn += _draw(random, error, _labelled(rows))
    return {"domains": _summary(own), **({"drawn shares": _summary(drawn)} if drawn else {}), **check_kinds(groups)}


def _draw(random: np.random.Generator, error: JudgeError, rows: Labelled) -> list[tuple[bool, float, float, float]]:
    """Sets of rows drawn so that people accept a given share of them."""
    yes, no = np.flatnonzero(rows.accepted), np.flatnonzero(~rows.accepted)
    if min(len(yes), len(no)) < _LEAST_DRAWN:
        return []
    checked = []
    for share in _SHARES:
        many = round(share * _DRAWN)
        at = np.concatenate([random.choice(yes, many), random.choice(no, _DRAWN - many)])
        checked.append(_covers(error, rows.values[at], share, float(rows.coverage[at].mean())))
    return checked


def check_kinds(groups: Domains) -> dict[str, Any]:
    """The same for sets of one kind, by the words shared, drawn from an eighth of the domains that are left out together."""
    if not any(row.coverage[0] for rows in groups.values() for row in rows):
        return {}
    random, names = np.random.default_rng(1), sorted({domain for _, domain in groups})
    found: dict[str, list[tuple[bool, float, float, float]]] = {kind: [] for kind in _KINDS}
    for fold in range(_FOLDS):
        apart = set(names[fold::_FOLDS])
        error = fit({key: rows for key, rows in groups.items() if key[1] not in apart})
        inside = [row for key, rows in groups.items() if key[1] in apart for row in rows]
        if error is None or not inside:
            continue
        rows = _labelled(inside)
        for kind, (low, high) in _KINDS.items():
            own = (rows.coverage >= low) & (rows.coverage < high)
            found[kind] += _draw(random, error, Labelled(*(column[own] for column in rows)))
    return {kind: _summary(checked) for kind, checked in found.items() if checked}


def _summary(checked: Sequence[tuple[bool, float, float, float]]) -> dict[str, float]:
    covered, width, corrected, plain = np.array(checked, dtype=float).T
    found = {"covered": covered.mean(), "width": width.mean(), "off": (corrected**2).mean() ** 0.5, "judge_off": (plain**2).mean() ** 0.5}  # fmt: skip
    return {"checked": len(covered), **{name: round(float(value), 3) for name, value in found.items()}}


def sources(groups: Domains) -> dict[str, list[float]]:
    """The judge's levels by source, each with its error: accepted, refused."""
    found = {}
    for source in sorted({source for source, _ in groups}):
        error = _fit(_from(groups, source))
        if error:
            levels = (error.accepted, error.refused)
            found[source] = [round(value, 3) for level in levels for value in (level.mean, level.error)]
    return found


def measure_errors(groups: Groups) -> dict[str, Any]:
    """The section "error" of a card."""
    section = {}
    for kind, metrics in METRICS.items():
        error = fit(groups[kind])
        both = error is not None and (is_fair(groups[kind]) or error.coverage)
        used = groups[kind] if both else _from(groups[kind], "rag")
        if error is not None:
            numbers = json.loads(
                json.dumps(replace(error, evidence="").as_dict()), parse_float=lambda text: round(float(text), 5)
            )
            section[kind] = {
                "metrics": metrics, **numbers, "rows": sum(map(len, used.values())), "left out": check(groups[kind]), "levels": sources(groups[kind]),
            }  # fmt: skip
    return section


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that calibrate.py shares."""
    parser.add_argument("--natural", type=Path, required=True)
    parser.add_argument("--rag", type=Path, nargs="*", default=[])
    parser.add_argument("--rag-test", type=Path, nargs="*", default=[])
    parser.add_argument("--long", type=Path, nargs="*", default=[], help="long answers with labelled claims")
    parser.add_argument("--outputs", type=Path, help="file that keeps the outputs of the model (.npz)")


def write_errors(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure the judge of a folder and renew its card."""
    judge = open_saved(folder, options.outputs)
    groups = read_groups(judge, options.natural, [*options.rag, *options.rag_test], options.long)
    judge.save()
    print(f"{len(judge.asked):,} pairs for the errors of means", file=sys.stderr)
    section = measure_errors(groups)
    path = folder / "card.json"
    card = json.loads(path.read_text(encoding="utf-8")) | {"error": section}
    path.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    return section


def main() -> None:
    """Renews "error" in the card of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--judge", type=Path, required=True, help="folder with model.onnx, tokenizer.json and card.json"
    )
    add_options(parser)
    options = parser.parse_args()
    print(json.dumps(write_errors(options.judge, options), indent=1))


if __name__ == "__main__":
    main()
