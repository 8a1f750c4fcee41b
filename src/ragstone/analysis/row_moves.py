"""The rows that a second run fixes and breaks, by the probabilities that they are wrong in both runs.

A judge rates the same good answer differently in other words, so a row moves only if its probability changes by at least the
tolerance. Rows that may have moved are unclear. The rule is the same in both directions:
if two versions are equally good, a row is as likely to be fixed as to fail newly, which `p` tests. What a person said of the
first answer says nothing about another one: if only that is labelled, the judge's word on both is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ragstone.analysis.alignment import Alignment, align, name_some
from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.comparison import differing_signatures
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.differences import Settings
from ragstone.analysis.gate_conditions import Check, Checked
from ragstone.analysis.row_status import limits
from ragstone.number_format import p_value
from ragstone.stats.paired import sign_flip_test, sign_test
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids, read_labels
from ragstone.text.questions import MADE_ID

# Chosen on pairs of labelled answers (docs/comparing.md has the figures): a harmless rewording rarely changes more.
TOLERANCE = 0.35
# A row that is not clearly wrong in either run has not moved: at 0.5, twice as many harmless rewordings failed newly.
_RATHER_WRONG = 0.65
# The evidence that says whether a row is wrong, by the part of the data that it needs.
_JUDGED_BY = {
    "chunks": {"answer_claims_in_contexts"},
    "references": {"answer_claims_in_reference", "reference_matches"},
}
FEW_CAN_FAIL = "without right answers few rows can fail"
JudgedRow = Outcome | RowLabel
MoveKind = Literal["newly failing", "fixed", "still failing", "unclear"]
# In the order of lists; sentences start with the fixed rows.
MOVES: tuple[MoveKind, ...] = ("newly failing", "fixed", "still failing", "unclear")


def kind_of_move(before: float, after: float) -> MoveKind | None:
    """How a row moved, by the probabilities that it is wrong; None if it is fine in both runs."""
    fine, wrong = limits()
    low, high = sorted((before, after))
    if high < fine:
        return None
    if high - low >= TOLERANCE and high >= _RATHER_WRONG:
        return "newly failing" if after > before else "fixed"
    return "still failing" if high >= wrong and low >= fine else "unclear"


def wrong_in_both(old: JudgedRow, new: JudgedRow) -> tuple[float | None, float | None]:
    """The probabilities to compare. With a label of the old row alone, that of label and judge which is nearer to the new one."""
    now, known = new.wrong, [one for one in (old.wrong, old.judged_wrong) if one is not None]
    if now is not None and known and old.labelled_by and not new.labelled_by:
        return min(known, key=lambda one: abs(one - now)), now
    return old.wrong, now


class Move(NamedTuple):
    """A row that is not fine in both runs: its id in the second, its pair, and both probabilities that it is wrong."""

    id: str
    pair: int
    kind: MoveKind
    before: float
    after: float


@dataclass(frozen=True)
class Moves:
    """The rows that are `fixed`, `newly_failing` and `still_failing`, by their ids in the second run.

    `unclear` rows may be wrong in one of the runs: the judge is not sure, and their probability changed too little.
    """

    rows: tuple[Move, ...]
    pairs: int
    # The pairs that have a judgement in both runs.
    judged: int
    # The ids of the rows that have a judgement only in the first run.
    lost: tuple[str, ...] = ()
    # Exact sign test: if as many rows were fixed as broken in truth, how often would the counts differ so much?
    p: float = 1.0

    @classmethod
    def of(
        cls, after: Run, pairs: Alignment, judged: tuple[Sequence[JudgedRow], Sequence[JudgedRow]], settings: Settings
    ) -> Moves:
        """Sort the pairs by the probabilities that the rows of both runs are wrong; the rows may end early."""
        ids, found, lost, known, (old, new) = read_ids(after), [], [], 0, judged
        for pair, (row, other) in enumerate(zip(pairs.before.tolist(), pairs.after.tolist(), strict=True)):
            was, now = wrong_in_both(old[row], new[other]) if row < len(old) and other < len(new) else (None, None)
            if was is None or now is None:
                lost += [] if was is None else [ids[other]]
                continue
            known += 1
            if kind := kind_of_move(was, now):
                found.append(Move(ids[other], pair, kind, was, now))
        # The largest rise first, of fixed rows the largest fall; equal changes in the order of the pairs.
        found.sort(key=lambda m: (MOVES.index(m.kind), (m.after - m.before) * (1 if m.kind == "fixed" else -1)))
        return cls(tuple(found), len(pairs), known, tuple(lost), _test(after, pairs, found, settings))

    def having(self, kind: MoveKind) -> list[str]:
        """The ids of the rows of a kind."""
        return [move.id for move in self.rows if move.kind == kind]

    @property
    def fixed(self) -> list[str]:
        """The rows that were wrong or doubtful and clearly improved."""
        return self.having("fixed")

    @property
    def newly_failing(self) -> list[str]:
        """The rows that are wrong or doubtful and were clearly better before."""
        return self.having("newly failing")

    @property
    def still_failing(self) -> list[str]:
        """The rows that are wrong in one run and not clearly better in the other."""
        return self.having("still failing")

    @property
    def unclear(self) -> list[str]:
        """The other rows that are not fine in both runs."""
        return self.having("unclear")

    def leaning(self, sign: int) -> list[Move]:
        """The unclear rows that changed by half the tolerance: with sign 1 those that are perhaps wrong now."""
        unclear = (move for move in self.rows if move.kind == "unclear")
        return [move for move in unclear if sign * (move.after - move.before) >= TOLERANCE / 2]

    @property
    def counted(self) -> str:
        """`60 rows`, or `50 judged rows (60 in all)`."""
        every = f"{self.pairs:,} rows"
        return every if self.judged == self.pairs else f"{self.judged:,} judged rows ({self.pairs:,} in all)"

    def __str__(self) -> str:
        """`11 fixed, 2 newly failing, 3 still failing, 4 unclear of 60 rows (p = 0.022)`."""
        kinds: tuple[MoveKind, ...] = ("fixed", "newly failing", "still failing")
        counts = [f"{len(self.having(kind))} {kind}" for kind in kinds]
        unclear = [f"{len(self.unclear)} unclear"] if self.unclear else []
        p = p_value(self.p)
        chance = f"(p {p if p.startswith('<') else f'= {p}'})"
        return f"{', '.join([*counts, *unclear])} of {self.counted} {chance}".replace(") (", "; ")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        ids = {kind.replace(" ", "_"): self.having(kind) for kind in MOVES}
        more = {"pairs": self.pairs, "judged": self.judged, "lost": list(self.lost), "p": self.p}
        return {**ids, **more, "tolerance": TOLERANCE}


def _test(run: Run, pairs: Alignment, moves: Sequence[Move], settings: Settings) -> float:
    """The two-sided p of fixed against newly failing rows; rows of a cluster move together."""
    changes = np.zeros(len(pairs))
    for move in moves:
        changes[move.pair] = {"fixed": 1.0, "newly failing": -1.0}.get(move.kind, 0.0)
    if not settings.cluster or not changes.any():
        return sign_test(changes)
    labels = read_labels(run, settings.cluster)[pairs.after]
    return float(sign_flip_test(changes[:, None], labels, settings.resamples, settings.seed)[0])


def unlike_judgements(before: Run, after: Run, names: tuple[str, str] = ("the baseline", "this run")) -> str:
    """Why the probabilities of the rows of two runs cannot be compared; empty if they can. `names` are those of the runs."""
    for name, change in differing_signatures(before, after).items():
        metric = after.info.metric(name)
        if metric and (metric.signature.llms or metric.signature.is_local):
            return f"the judges differ: {change}"
    # A file without chunks looks less wrong, one with references more.
    for one, other, words in ((before, after, names), (after, before, names[::-1])):
        gone = set(one.info.evidence) - set(other.info.evidence)
        if parts := [part for part, names in _JUDGED_BY.items() if gone & names]:
            present = other.info["dataset"].get("present") or {}
            hint = (
                " (add -m ragchecker)"
                if all({"chunks": "contexts"}.get(part, part) in present for part in parts)
                else ""
            )
            return f"{words[0]} was judged by its {' and '.join(parts)}, {words[1]} was not{hint}"
    return ""


def _name_of(move: Move, pairs: Alignment) -> str:
    """The id of a row in the second run; its number if the data has no ids."""
    return f"row {pairs.after[move.pair] + 1}" if MADE_ID.fullmatch(move.id) else move.id


def tendency_text(moves: Moves, pairs: Alignment, most: int) -> str:
    """`look at q3, q7: perhaps wrong now; q5: perhaps fixed`: the unclear rows that changed by half the tolerance."""
    signs = {"perhaps wrong now": 1, "perhaps fixed": -1}
    found = {words: tuple(_name_of(one, pairs) for one in moves.leaning(sign)) for words, sign in signs.items()}
    texts = [f"{name_some(names, most)}: {words}" for words, names in found.items() if names]
    return f"look at {'; '.join(texts)}" if texts else ""


def check_new_failures(check: Check, before: Run, after: Run, settings: Settings) -> Checked:
    """Counts the rows that fail newly. Those that lost their judgement may be some of them."""
    unlike = unlike_judgements(before, after)
    if unlike.startswith("the judges differ"):
        return Checked(check, "cannot tell", unlike)
    pairs = align(before, after)
    old, new = (diagnose(run, texts=False).outcomes for run in (before, after))
    moves = Moves.of(after, pairs, (old, new), settings)
    if unlike:
        lost = len(pairs) if unlike.startswith("the baseline") else 0
        return Checked(check, "cannot tell", f"{unlike}: rows cannot be compared", rows=moves.judged, lost=lost)
    lost = len(moves.lost) + len(pairs.only_before) + len(pairs.renamed)
    count, doubtful = len(moves.newly_failing), tuple(move.id for move in moves.leaning(1))
    found = Checked(check, "cannot tell", "", float(count), None, moves.judged, 0, lost, perhaps_wrong=doubtful)
    found = replace(found, failing=tuple(moves.newly_failing))
    if not moves.judged:
        return replace(found, value=None, why="no row is judged in both runs: run both with -m ragchecker")
    why = [f"{len(moves.fixed)} fixed"] if moves.fixed else []
    failing = tuple(_name_of(move, pairs) for move in moves.rows if move.kind == "newly failing")
    why = [f"{name_some(failing, 5)} newly failing", *why] if failing else why
    if [part for part, names in _JUDGED_BY.items() if names & set(after.info.evidence)] == ["chunks"]:
        why.append(FEW_CAN_FAIL)
    limit = len(moves.fixed) if check.is_test else check.limit
    if count <= limit < count + lost and not check.is_test:
        why.append(f"{lost} of the baseline's rows have no judgement now: they may fail")
        return replace(found, why="; ".join(why))
    return replace(found, outcome="fails" if count > limit else "passes", why="; ".join(why))
