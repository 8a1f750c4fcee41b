"""The manifest of a run, run.json, as typed data: parsed when a run is opened, checked before it is written.

Both records can also be read as the JSON objects that they are stored as (`info["dataset"]`), so that fields which this
version does not know are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.data.signature import Signature, ToolSignature
from ragstone.errors import DamagedError, StorageError
from ragstone.stats.judge_error import JudgeError
from ragstone.storage.places import Place, damage_errors, read_json

# The layout of a run's files; another number means files that this code cannot read.
LAYOUT = 1
_DIRECTIONS = ("higher", "lower", "none")
# The fields that every version has written, with their JSON types.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "created_at": str,
    "finished_at": str,
    "dataset": dict,
    "metrics": (list, tuple),
    "skipped": dict,
    "evidence": (list, tuple),
    "versions": dict,
    "totals": dict,
}
# Fields that may be absent or null.
_OPTIONAL = (
    *("params", "judge", "judge_error", "tools", "prompts", "code", "truth", "rescored", "judge_check"),
    "token_judges",
)


class _Record(Mapping[str, Any]):
    """A dataclass over the JSON object in `raw`."""

    raw: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.raw[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


@dataclass(frozen=True, eq=False)
class MetricInfo(_Record):
    """One metric of a run: its canonical name, how it was made, and how to read its values."""

    raw: Mapping[str, Any]
    metric: str
    signature: Signature
    family: str
    better: str
    bounds: tuple[float | None, float | None]

    @property
    def is_judged(self) -> bool:
        """Whether a judge gives the scores: a language model, the local judge or a trained one."""
        signature = self.signature
        return bool(signature.llms or signature.uses_local_judge or signature.trained_judge)

    @classmethod
    def declare(
        cls,
        name: str,
        signature: str = "",
        family: str = "",
        better: str = "higher",
        bounds: tuple[float | None, float | None] = (0.0, 1.0),
        **more: Any,
    ) -> MetricInfo:
        """A metric that is not in a stored run, such as the predictions of a judge that is being trained."""
        raw = {"metric": name, "signature": signature, "family": family, "better": better, "bounds": list(bounds)}
        return cls.from_json({**raw, **more}, f"metric '{name}'")

    @classmethod
    def from_json(cls, raw: Any, where: str) -> MetricInfo:
        """Read one entry of `metrics`; `where` names it in errors."""
        if not isinstance(raw, Mapping):
            raise StorageError(f"{where} is not an object: {raw!r}")
        for name in ("metric", "signature", "family", "better"):
            if not isinstance(raw.get(name), str):
                raise StorageError(f"{where}: field '{name}' {_fault(raw, name)}; it must be a string")
        if raw["better"] not in _DIRECTIONS:
            raise StorageError(f"{where}: field 'better' is {raw['better']!r}; it must be one of {_DIRECTIONS}")
        bounds = raw.get("bounds")
        if not isinstance(bounds, list | tuple) or len(bounds) != 2 or {*map(type, bounds)} - {int, float, type(None)}:
            raise StorageError(f"{where}: field 'bounds' {_fault(raw, 'bounds')}; it must be two numbers or nulls")
        signature = Signature.parse(raw["signature"])
        return cls(raw, raw["metric"], signature, raw["family"], raw["better"], (bounds[0], bounds[1]))


@dataclass(frozen=True, eq=False)
class RunInfo(_Record):
    """The content of run.json: data, metrics, tools, times and costs of a run."""

    raw: Mapping[str, Any]
    name: str
    rows: int
    metrics: tuple[MetricInfo, ...]
    skipped: Mapping[str, str]
    evidence: tuple[str, ...]
    params: Mapping[str, Any]
    # The signature of each tool that asked a model.
    judge: Mapping[str, ToolSignature]
    # The measured error of the local judge's means, by metric.
    judge_error: Mapping[str, JudgeError]

    @classmethod
    def from_json(cls, raw: Any, source: str) -> RunInfo:
        """Check and parse the content of run.json; `source` names it in errors."""
        layout = raw.get("layout") if isinstance(raw, Mapping) else None
        if layout != LAYOUT:
            raise StorageError(
                f"cannot read {source}: its layout is {layout}, this version of Ragstone reads {LAYOUT}. "
                "Upgrade Ragstone, or check the path."
            )
        try:
            return cls._from_checked(raw)
        except StorageError as error:
            raise StorageError(f"cannot read {source}: {error}. Run the evaluation again.") from None

    @classmethod
    def _from_checked(cls, raw: Mapping[str, Any]) -> RunInfo:
        for name, kind in _FIELDS.items():
            if not isinstance(raw.get(name), kind):
                raise StorageError(f"field '{name}' {_fault(raw, name)}")
        for name in _OPTIONAL:
            if not isinstance(raw.get(name), Mapping | None):
                raise StorageError(f"field '{name}' {_fault(raw, name)}; it must be an object or null")
        rows = raw["dataset"].get("rows")
        if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
            raise StorageError(f"field 'dataset.rows' {_fault(raw['dataset'], 'rows')}; it must be a count")
        metrics = [MetricInfo.from_json(each, f"metrics[{place}]") for place, each in enumerate(raw["metrics"])]
        return cls(
            raw={**raw, "metrics": metrics},
            name=raw["name"],
            rows=rows,
            metrics=tuple(metrics),
            skipped=raw["skipped"],
            evidence=tuple(raw["evidence"]),
            params=raw.get("params") or {},
            judge={tool: ToolSignature(str(text)) for tool, text in (raw.get("judge") or {}).items()},
            judge_error=_read_errors(raw.get("judge_error") or {}),
        )

    def metric(self, name: str) -> MetricInfo | None:
        """The metric of this name, if the run has it."""
        return next((metric for metric in self.metrics if metric.metric == name), None)

    @property
    def branch(self) -> str:
        """The git branch of the evaluated code; empty if unknown, as in runs of earlier versions."""
        return str((self.raw.get("code") or {}).get("branch") or "")

    @property
    def commit(self) -> str:
        """The git commit of the evaluated code; empty if unknown."""
        return str((self.raw.get("code") or {}).get("commit") or "")

    @property
    def judge_warnings(self) -> list[str]:
        """The warnings about the judge of claims, from its exam and its verdicts."""
        return [str(warning) for warning in (self.raw.get("judge_check") or {}).get("warnings", ())]

    @property
    def doubts_judge(self) -> bool:
        """Whether the language model that checked claims is at chance, or goes by positions."""
        return bool((self.raw.get("judge_check") or {}).get("is_doubted"))

    @property
    def judge_languages(self) -> tuple[str, ...]:
        """Two-letter codes of the languages that the local judge was measured on; runs that do not store them: English."""
        return tuple(map(str, self.raw.get("judge_languages") or ("en",)))

    @property
    def uses_local_judge(self) -> bool:
        """Whether any metric was made with the packaged local judge."""
        return any(metric.signature.uses_local_judge for metric in self.metrics)


def _read_errors(raw: Mapping[str, Any]) -> dict[str, JudgeError]:
    try:
        return {name: JudgeError.from_json(part) for name, part in raw.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"field 'judge_error' cannot be read: {type(error).__name__} {error}") from None


def _fault(raw: Mapping[str, Any], name: str) -> str:
    return f"is {raw[name]!r}"[:120] if name in raw else "is missing"


def read_run_info(place: Place) -> RunInfo:
    """The manifest of a finished run. One of another version of Ragstone is not damaged."""
    with damage_errors(place):
        raw = read_json(place)
    layout = raw.get("layout") if isinstance(raw, Mapping) else None
    try:
        return RunInfo.from_json(raw, str(place))
    except (StorageError, AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, StorageError) and isinstance(layout, int) and layout != LAYOUT:
            raise
        raise DamagedError(place, str(error) if isinstance(error, StorageError) else "it has other fields") from error


def write_run_info(place: Place, content: Mapping[str, Any]) -> None:
    """Write run.json, complete or not at all; content that could not be read back is an error."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    RunInfo.from_json(json.loads(text), str(place))
    place.write_bytes(text.encode() + b"\n")
