"""The folder of a sweep: `<root>/sweeps/<id>/`. Every file is complete or absent, so a killed sweep continues where it was.

sweep.json         the plan, written first; results.json and sweep.html are written last
questions.parquet  the questions in the order in which they are asked
answers/           the answers of each setting, one file per block of questions
values/            the metric that decides, one file per setting and look
failed/, stops/    why a setting failed or was stopped
runs/              the run of each other setting
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragstone.data.dataset import Dataset, samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.engine.ask_system import SystemOptions, SystemQuote
from ragstone.engine.quote import quote
from ragstone.errors import RagstoneError, UsageError
from ragstone.formats import read_dataset
from ragstone.llm.budget import Budget
from ragstone.llm.cache import default_folder
from ragstone.storage.durable import Checkpoint, Journal, lock, read_journal, user_folder
from ragstone.storage.places import Place, make_private_folders, read_json
from ragstone.storage.runs import RunFolder, write_table
from ragstone.storage.scores import label_conversations
from ragstone.sweep.plan import Setting, SweepPlan
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.collect import quote_collecting
from ragstone.truth.store import TruthStore, parse_reference

_TYPICAL = "According to the documents it is what the question asks for, in a sentence or two of usual length."

FOLDER = "sweeps"


class SweepFolder:
    """One sweep in a store."""

    def __init__(self, place: Place) -> None:
        self.place = place = place.as_private()
        self.plan = place / "sweep.json"
        self.questions = place / "questions.parquet"
        self.results = place / "results.json"
        self.page = place.as_shared() / "sweep.html"
        self.looks = place / "looks"

    @classmethod
    def create(cls, root: Place, identity: Mapping[str, Any], questions: Sequence[Sample]) -> SweepFolder:
        """A new folder; names sort by time."""
        folder = cls(root / FOLDER / RunFolder.create(root).id)
        write_table(folder.questions, samples_table(questions))
        Checkpoint(folder.plan).write(identity, indent=2)
        return folder

    @classmethod
    def find(cls, root: Place, identity: Mapping[str, Any]) -> SweepFolder | None:
        """The newest sweep with the same plan, questions and systems, finished or not."""
        for place in reversed((root / FOLDER).children()):
            folder = cls(place)
            if Checkpoint(folder.plan).matches(identity):
                return folder
        return None

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.place.name

    @property
    def is_finished(self) -> bool:
        """Whether its results are written."""
        return self.results.exists()

    def owned(self) -> AbstractContextManager[None]:
        """Keep other processes on this machine away from the sweep until the block ends."""
        return lock(self.place, f"sweep {self.id}", "Wait until it has finished.")

    # Answers and values of a setting, by the number of questions at the end of the block.

    def read_answers(self, setting: int, end: int) -> list[Sample] | None:
        """The stored answers of a block, or None."""
        place = self.place / "answers" / f"{setting:03d}-{end:06d}.parquet"
        return list(read_dataset(str(place), "ragstone")) if place.exists() else None

    def write_answers(self, setting: int, end: int, samples: Sequence[Sample]) -> None:
        """Store the answers of a block."""
        write_table(self.place / "answers" / f"{setting:03d}-{end:06d}.parquet", samples_table(samples))

    def block_ends(self, setting: int) -> list[int]:
        """The ends of the stored blocks of a setting, in order."""
        names = [place.name for place in (self.place / "answers").children()]
        return [int(name[4:10]) for name in names if name.startswith(f"{setting:03d}-") and name.endswith(".parquet")]

    def all_answers(self, setting: int) -> Place:
        """The file with all answers of a setting, which its run is computed from."""
        return self.place / "answers" / f"{setting:03d}.parquet"

    def read(self, kind: str, setting: int, end: int | None = None) -> Any:
        """A small stored fact about a setting (`values`, `failed`, `stops` or `runs`), or None."""
        place = self._fact(kind, setting, end)
        return read_json(place) if place.exists() else None

    def write(self, kind: str, value: Any, setting: int, end: int | None = None) -> None:
        """Store a small fact about a setting."""
        self._fact(kind, setting, end).write_bytes(json.dumps(value).encode())

    def _fact(self, kind: str, setting: int, end: int | None) -> Place:
        return self.place / kind / (f"{setting:03d}.json" if end is None else f"{setting:03d}-{end:06d}.json")

    # Files that grow line by line must be local.

    @property
    def work(self) -> str:
        """A local folder for the answers of an unfinished block and for what was spent."""
        if self.place.is_local:
            return os.path.join(self.place.path, "work")
        is_remote = "://" in os.environ.get("RAGSTONE_CACHE", "")
        base = user_folder("cache") if is_remote else default_folder().parent
        label = hashlib.blake2b(self.place.url.encode(), digest_size=8).hexdigest()
        return str(base / "sweeps" / label)

    def journal(self, setting: int, end: int) -> str:
        """The file with the answers of an unfinished block."""
        make_private_folders(self.work)
        return os.path.join(self.work, f"{setting:03d}-{end:06d}.partial")

    def clean(self) -> None:
        """Remove what only an unfinished sweep needs; what was spent stays in the results."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.looks.remove_folder()
        (self.place / "values").remove_folder()


class RecordedBudget(Budget):
    """A budget whose expenses are written to a file at once, so that a killed sweep does not spend them again."""

    def __init__(self, limit_usd: float, path: str) -> None:
        super().__init__(limit_usd)
        make_private_folders(os.path.dirname(path))
        self._path = path
        self.spent_usd = sum(read_journal(path), 0.0)

    def settle(self, reserved_usd: float, used_usd: float) -> None:
        """Record the cost of a call and release the rest of its reservation."""
        super().settle(reserved_usd, used_usd)
        if used_usd > 0:
            with Journal(self._path, sync=False) as journal:
                journal.append([used_usd])


def read_questions(plan: SweepPlan, root: str) -> tuple[SweepPlan, list[Sample]]:
    """The questions of the plan with their ground truth, and the plan with the version of the ground truth."""
    if plan.truth is not None:
        version = TruthStore(root).read(*parse_reference(plan.truth))
        plan = replace(plan, truth=version.info.reference)
        questions = [case.as_sample() for case in version.cases[: plan.limit]]
    else:
        questions = list(read_dataset(plan.questions, plan.format, plan.columns, plan.limit))
    questions = [sample for sample in questions if sample.question]
    if not questions:
        raise UsageError("the data has no question")
    return plan, questions


def system_options(plan: SweepPlan, setting: Setting) -> SystemOptions:
    """How the system is called with one setting."""
    models = ModelOptions(**plan.models)
    return {
        "template": plan.template,
        "version": plan.version,
        "base_url": models.base_url,
        "concurrency": plan.concurrency,
        "timeout_s": models.timeout_s,
        "requests_per_minute": models.requests_per_minute,
        "tokens_per_minute": models.tokens_per_minute,
        "cache": plan.cache and models.cache,
        "parameters": setting.parameters,
        "backend": plan.backend,
        "workers": plan.workers,
    }


def shuffle_questions(plan: SweepPlan, questions: Sequence[Sample]) -> list[Sample]:
    """The questions in random order, whole conversations together; in their own order without halving."""
    if plan.halving is None:
        return list(questions)
    labels = label_questions(questions)
    units: dict[str, list[Sample]] = {}
    for position, sample in enumerate(questions):
        units.setdefault(str(position) if labels is None else labels[position], []).append(sample)
    groups = list(units.values())
    order = np.random.default_rng(plan.seed).permutation(len(groups))
    return [sample for number in order for sample in groups[number]]


def label_questions(questions: Sequence[Sample]) -> np.ndarray | None:
    """The conversation of each question; None if the data has no conversations."""
    if not any(sample.history for sample in questions):
        return None
    return label_conversations([sample.id for sample in questions], [sample.metadata for sample in questions])


@dataclass(frozen=True)
class SweepQuote:
    """The most that a sweep takes: every setting answers all questions. Settings that are stopped early take less."""

    settings: int
    questions: int
    system: str
    system_calls: float
    # None: a price is unknown.
    system_usd: float | None
    judge_calls: float
    judge_usd: float | None
    seconds: float
    # The settings that cannot be opened, with the reason.
    failed: Mapping[str, str]


def quote_sweep(plan: SweepPlan, root: str) -> SweepQuote:
    """The calls, money and time of all settings together. Cached answers cost nothing."""
    plan, questions = read_questions(plan, root)
    asked: list[SystemQuote] = []
    failed: dict[str, str] = {}
    for setting in plan.settings:
        try:
            asked.append(quote_collecting(questions, plan.target, **system_options(plan, setting)))
        except RagstoneError as error:
            failed[setting.name] = str(error).splitlines()[0]
    if not asked:
        raise UsageError(f"no setting can be opened: {next(iter(failed.values()))}")
    # The judge for one setting. The answers do not exist yet: those of the data are used, otherwise references
    rows = [_guess(sample) for sample in questions]
    metrics = [*(plan.metrics or ["quick"]), plan.objective]
    models = {**ModelOptions(**plan.models).keywords(), "budget": None}
    judged = quote(Dataset.from_samples(rows), metrics, **models).total
    return SweepQuote(
        settings=len(plan.settings),
        questions=len(questions),
        system=asked[0].system,
        system_calls=sum(one.calls for one in asked),
        system_usd=_total([one.cost_usd for one in asked]),
        judge_calls=judged.calls * len(asked),
        judge_usd=_total([judged.cost_usd] * len(asked)),
        seconds=sum(one.seconds for one in asked) + judged.seconds * len(asked),
        failed=failed,
    )


def _guess(sample: Sample) -> Sample:
    answer = sample.answer or next(iter(sample.references or ()), _TYPICAL)
    texts = sample.reference_contexts or [fact.text for fact in sample.facts or ()] or [_TYPICAL]
    return replace(sample, answer=answer, contexts=sample.contexts or [Chunk(text) for text in texts])


def _total(costs: Sequence[float | None]) -> float | None:
    return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)
