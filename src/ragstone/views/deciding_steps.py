"""Commands that would decide which part limits quality, to paste, the cheapest first."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.part_metrics import LEAST_ROWS
from ragstone.storage.run_info import RunInfo

_LARGE = "judge-1.5b"


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
    measured = any(one.decides for one in diagnosis.readings)
    if diagnosis.sure or info.rows < LEAST_ROWS or (measured and not doubted):
        return []
    data, present = str(info["dataset"].get("path") or "DATA"), info["dataset"].get("present") or {}
    steps = []
    if {"references", "contexts"} <= present.keys() and "facts" not in present:
        steps.append(Step(("run", data, "--facts"), "finds facts in the references, which decide it"))
    if "answer" in present:
        labelled = any(outcome.labelled_by for outcome in diagnosis.outcomes)
        labels = ("agree", "latest", "--calibrate") if labelled else ("view",)
        what = (
            "calibrates the judge with your labels"
            if labelled
            else "opens the viewer: label some answers, keys 1, 2, 3"
        )
        steps.append(Step(labels, what))
        judges = [name for metric in info.metrics for name in metric.signature.llms]
        if any(_LARGE in name for name in judges):
            quote = ("run", data, "--judge", "openai/gpt-4o-mini", "--quote")
            steps.append(Step(quote, "estimates what a language model would cost"))
        elif not judges:
            steps.append(Step(("models", "pull", _LARGE), "installs a larger judge (1.1 GB); then run again"))
    return steps
