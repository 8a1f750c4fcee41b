"""Commands that would decide which part limits quality, to paste, the cheapest first."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.part_metrics import LEAST_ROWS
from ragstone.models.large_judge import NAME as LARGE
from ragstone.models.large_judge import is_switched_off
from ragstone.models.store import Store
from ragstone.stats.ppi import LEAST_LABELS
from ragstone.storage.run_info import RunInfo


@dataclass(frozen=True)
class Step:
    """A command without the program's name, and what it is for."""

    words: tuple[str, ...]
    purpose: str

    @property
    def command(self) -> str:
        """The command as it is typed."""
        return shlex.join(["ragstone", *self.words])


def deciding_steps(diagnosis: Diagnosis, info: RunInfo) -> list[Step]:
    """Facts, labels, a stronger judge; empty if the verdict is sure, or if only more rows can help."""
    doubted = any(one.local or one.guessed or one.unknown or one.doubted for one in diagnosis.readings)
    if diagnosis.sure or info.rows < LEAST_ROWS or (not doubted and any(one.decides for one in diagnosis.readings)):
        return []
    about = info["dataset"]
    # Runs of 0.1.0 have only the path.
    data, present = about.get("arguments") or [str(about.get("path") or "DATA")], about.get("present") or {}
    facts = Step(("run", *data, "--facts"), "finds facts in the references: whether their chunks were retrieved")
    lacks_facts = {"references", "contexts"} <= present.keys() and "facts" not in present and "--facts" not in data
    steps = [facts] if lacks_facts else []  # They change fewer statuses than labels do.
    if "answer" in present:
        if sum(bool(outcome.labelled_by) for outcome in diagnosis.outcomes) >= LEAST_LABELS:
            steps.insert(0, Step(("agree", info.name, "--calibrate"), "calibrates the judge with your labels"))
        else:
            steps.insert(0, Step(("view",), "opens the viewer: label some answers, keys 1, 2, 3"))
        judges = [name for metric in info.metrics for name in metric.signature.llms]
        if any(LARGE in name for name in judges):
            quote = ("run", *data, "--judge", "openai/gpt-4o-mini", "--quote")
            steps.append(Step(quote, "estimates what a language model would cost"))
        elif not judges and not is_switched_off() and Store().find(LARGE) is None:
            steps.append(Step(("models", "pull", LARGE), "installs a larger judge (1.1 GB); then run again"))
    return steps
