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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragstone.data.dataset import samples_table
from ragstone.data.types import Sample
from ragstone.errors import StorageError
from ragstone.formats import read_dataset
from ragstone.llm.budget import Budget
from ragstone.llm.cache import default_folder
from ragstone.storage.places import Place, make_private_folders, private_opener, read_json
from ragstone.storage.runs import RunFolder, write_table

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
        folder.plan.write_bytes(json.dumps(identity, indent=2).encode())
        return folder

    @classmethod
    def find(cls, root: Place, identity: Mapping[str, Any]) -> SweepFolder | None:
        """The newest sweep with the same plan, questions and systems, finished or not."""
        for place in reversed((root / FOLDER).children()):
            folder = cls(place)
            if folder.plan.exists() and read_json(folder.plan) == json.loads(json.dumps(identity)):
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

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Mark the sweep as owned by this process; an error if another process on this machine owns it."""
        with RunFolder(self.place).owned():
            yield

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
        cache = os.fspath(default_folder())
        base = (
            Path.home() / ".cache" / "ragstone" if "://" in os.environ.get("RAGSTONE_CACHE", "") else Path(cache).parent
        )
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
        self.spent_usd = _read_spent(path)

    def settle(self, reserved_usd: float, used_usd: float) -> None:
        """Record the cost of a call and release the rest of its reservation."""
        super().settle(reserved_usd, used_usd)
        if used_usd > 0:
            try:
                with open(self._path, "a", encoding="ascii", opener=private_opener) as stream:
                    stream.write(f"{used_usd!r}\n")
            except OSError as error:
                raise StorageError(f"cannot write {self._path}: {error.strerror}") from None


def _read_spent(path: str) -> float:
    """The sum of the complete lines of a file."""
    try:
        text = Path(path).read_text(encoding="ascii")
    except FileNotFoundError:
        return 0.0
    return sum(float(line) for line in text[: text.rfind("\n") + 1].split())
