"""One page: each goal, the figure of now, and what moved since the last release that history.json has."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.results import Result, Unit, show

HISTORY = Path(__file__).with_name("history.json")
# The benchmarks of the page take some minutes; `--all` runs the others too: a million rows, models, the viewer.
CASES = ("imports", "texts", "retrieval", "pages", "judge", "local_judge")
MOST_ROWS = 100_000
# Repeated measurements on a busy machine differ by this much.
_NOISE = 0.1


@dataclass(frozen=True)
class Goal:
    """A line of the page: the name of a result, and what it should be."""

    name: str
    unit: Unit
    at_most: float | None = None
    at_least: float | None = None

    @property
    def words(self) -> str:
        """The goal as text."""
        sign, limit = ("≤", self.at_most) if self.at_most is not None else ("≥", self.at_least)
        return "" if limit is None else f"{sign} {show(limit, self.unit)}"

    def is_missed(self, figure: float) -> bool:
        """Whether the figure is on the wrong side of the goal."""
        return (self.at_most is not None and figure > self.at_most) or (
            self.at_least is not None and figure < self.at_least
        )


GOALS = (
    Goal("import ragstone", "×", at_most=2),
    Goal("ragstone --help", "×", at_most=8),
    Goal("ragstone run of 10 rows, CPU", "s", at_most=0.8),
    Goal("lexical: SQuAD's script takes", "×", at_least=20),
    Goal("lexical, not ASCII: SQuAD's script takes", "×"),
    Goal("lexical + k_precision: SQuAD's script takes", "×"),
    Goal("lexical: memory for Ragstone", "GB", at_most=0.1),
    Goal("lexical + k_precision: memory for Ragstone", "GB", at_most=0.1),
    Goal("ROUGE: rouge-score takes", "×", at_least=80),
    Goal("ROUGE: memory for Ragstone", "GB", at_most=0.1),
    Goal("citation facts: aidial-rag-eval takes", "×", at_least=60),
    Goal("citation facts: a plain loop takes", "×"),
    Goal("fuzzy facts: rapidfuzz with cutoff takes", "×", at_least=1),
    Goal("fuzzy facts, not ASCII: rapidfuzz with cutoff takes", "×", at_least=1),
    Goal("10,000 queries, ids of one length: pytrec_eval takes", "×", at_least=15),
    Goal("10,000 queries, ids of any length: pytrec_eval takes", "×", at_least=10),
    Goal("verdict page of 5,000 rows, CPU", "s", at_most=2),
    Goal("verdict page of 50,000 rows, CPU", "s", at_most=10),
    Goal("comparison page of 5,000 rows, CPU", "s", at_most=4),
    Goal("filling the cache: efficiency without a cache", "×", at_most=1.11),
    Goal("local judge: 1,000 rows, claims of its own, CPU of all cores", "s", at_most=180),
    Goal("local judge: 1,000 rows, claims from a chunk, CPU of all cores", "s", at_most=180),
    Goal("10,000 queries, ids of one length", "µs/row"),
    Goal("10,000 queries, ids of any length", "µs/row"),
)


@dataclass(frozen=True)
class Release:
    """The figures of a release on one machine."""

    release: str
    machine: str
    figures: Mapping[str, float]


def machine() -> str:
    """The kind of machine and the versions that matter, without names."""
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in ("numpy", "pyarrow"))
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, {versions}"


def read_history(path: Path = HISTORY) -> list[Release]:
    """All recorded releases, the oldest first."""
    rows: list[Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [Release(**row) for row in rows]


def record(release: str, results: Iterable[Result], path: Path = HISTORY) -> None:
    """Add the page's figures as those of a release; figures of the same release and machine are replaced one by one."""
    figures = _figures(results)
    here = machine()
    history = read_history(path)
    known = next((one for one in history if (one.release, one.machine) == (release, here)), None)
    new = Release(release, here, {**(known.figures if known else {}), **figures})
    kept = [new if one is known else one for one in history] + ([] if known else [new])
    rows = [{"release": one.release, "machine": one.machine, "figures": dict(one.figures)} for one in kept]
    path.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def last_release(history: Sequence[Release]) -> Release | None:
    """The newest release; of its machines this one, or else the last that was recorded."""
    newest = [one for one in history if one.release == history[-1].release]
    return next((one for one in newest if one.machine == machine()), newest[-1]) if newest else None


def page(results: Iterable[Result], before: Release | None) -> str:
    """The table of goals; a figure that was not measured has a dash."""
    figures = _figures(results)
    rows = [["what", "goal", "now", "kept", before.release if before else "before", "now ÷ before"]]
    for goal in GOALS:
        now, then = figures.get(goal.name), before.figures.get(goal.name) if before else None
        if now is None and then is None:
            continue
        kept = "" if now is None or not goal.words else "no" if goal.is_missed(now) else "yes"
        shown = ["—" if figure is None else show(figure, goal.unit) for figure in (now, then)]
        rows.append([goal.name, goal.words, shown[0], kept, shown[1], _moved(goal, now, then)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"| {' | '.join(map(str.ljust, row, widths))} |" for row in rows]
    lines.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    return "\n".join([*lines, "", *_notes(before)])


def _moved(goal: Goal, now: float | None, then: float | None) -> str:
    if now is None or not then:
        return ""
    ratio = now / then
    if abs(ratio - 1) <= _NOISE:
        return f"{ratio:.2f}"
    # "takes" is the time of another tool as a multiple of ours.
    is_better = (ratio > 1) == goal.name.endswith("takes")
    return f"{ratio:.2f} {'better' if is_better else 'WORSE'}"


def _notes(before: Release | None) -> list[str]:
    notes = [f"machine: {machine()}"]
    if before and before.machine != machine():
        notes.append(f"{before.release} was measured on another machine: {before.machine}; compare only × and GB")
    return [*notes, "— : not measured; PEERS=1 measures the other tools, pytrec_eval if it can be installed"]


def _figures(results: Iterable[Result]) -> dict[str, float]:
    names = {goal.name for goal in GOALS}
    return {one.name: float(f"{one.reached:.4g}") for one in results if one.name in names}
