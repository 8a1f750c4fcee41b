"""pytest plugin: a fixture that evaluates data, and `assert_scores` for conditions on scores.

The plugin imports Ragstone only if a test uses it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ragstone.number_format import interval_text, number, places_for, signed, signed_interval

if TYPE_CHECKING:
    from ragstone.analysis.gate_conditions import Checked
    from ragstone.api.public_run import Run as PublicRun
    from ragstone.storage.runs import Run

__all__ = ["Runs", "assert_scores", "ragstone_runs"]

_LIMIT = re.compile(r"\s*(?P<metric>\S.*?)\s*(?P<sign>>=|<=|≥|≤)\s*(?P<limit>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*")
_NO_WORSE = re.compile(
    r"\s*(?P<metric>\S.*?)\s+no worse than\s+(?P<run>\S.*?)(?:\s+by more than\s+(?P<limit>[\d.]+))?\s*"
)
_FORMS = "'METRIC >= 0.8', 'METRIC <= 0.1', 'METRIC no worse than RUN' or 'METRIC no worse than RUN by more than 0.02'"
# With a larger share of failed cells, the other cells may not be representative.
_MOST_FAILED = 0.05
_DEFAULT_ROOT = "ragstone-store"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the command-line options and the settings of the configuration file."""
    group = parser.getgroup("ragstone")
    group.addoption(
        "--ragstone-root", metavar="ROOT", default=None, help="Store of the runs of tests and of baselines."
    )
    group.addoption(
        "--ragstone-offline",
        action="store_true",
        help="Call no model: use cached replies only, and fail if a reply is not cached.",
    )
    parser.addini("ragstone_root", "Store of the runs of tests and of baselines: a folder or an s3:// URL.", default="")
    parser.addini("ragstone_cache", "Folder of cached model replies, for tests without a network.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """A folder of the command line is relative to where pytest was started. Workers of xdist get the full path."""
    if named := config.getoption("--ragstone-root"):
        config.option.ragstone_root = named if "://" in named else str(config.invocation_params.dir / named)


@pytest.fixture(scope="session")
def ragstone_runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Evaluates data and checks conditions. Model replies come from the folder named by `ragstone_cache`."""
    config = request.config
    named = config.getoption("--ragstone-root") or config.getini("ragstone_root")
    baselines = _below(config, named) if named else os.environ.get("RAGSTONE_ROOT", _below(config, _DEFAULT_ROOT))
    # Without a named root, runs of tests go to a temporary folder.
    root = baselines if named else str(tmp_path_factory.mktemp("ragstone"))
    cache = config.getini("ragstone_cache")
    with pytest.MonkeyPatch.context() as patch:
        if cache:
            patch.setenv("RAGSTONE_CACHE", _below(config, cache))
        yield Runs(root, baselines, bool(config.getoption("--ragstone-offline")))


@dataclass(frozen=True)
class Runs:
    """The value of the fixture: `evaluate` and `assert_scores` with the configured stores."""

    root: str
    baselines: str
    offline: bool = False

    def evaluate(self, data: Any, metrics: str | Sequence[str] | None = None, **options: Any) -> PublicRun:
        """Like `ragstone.evaluate`; with --ragstone-offline no model is called."""
        from ragstone.api.functions import evaluate  # noqa: PLC0415  (slow to import)
        from ragstone.tools.judging_options import as_judge  # noqa: PLC0415

        if self.offline:
            options["judge"] = as_judge(options.get("judge"), offline=True)
        return evaluate(data, metrics, options.pop("out", self.root), **options)

    def assert_scores(self, run: Run | str, *conditions: str, certain: bool = False, show: int = 3) -> None:
        """Like the function `assert_scores`; baselines come from the store of the project."""
        __tracebackhide__ = True
        assert_scores(run, *conditions, certain=certain, show=show, root=self.baselines)


def assert_scores(
    run: Run | str | os.PathLike[str],
    *conditions: str,
    certain: bool = False,
    show: int = 3,
    root: str | os.PathLike[str] | None = None,
) -> None:
    """Fails the test and lists the worst samples unless all conditions hold.

    `recall@5 >= 0.8` checks the mean. `recall@5 no worse than main` fails if there is evidence of a drop; `main` is a
    path, or the name or id of a run under `root`. With `certain`, the whole confidence interval must meet the condition.
    """
    __tracebackhide__ = True
    from ragstone.errors import RagstoneError  # noqa: PLC0415
    from ragstone.storage.runs import open_run  # noqa: PLC0415

    found = open_run(run) if isinstance(run, str | os.PathLike) else run
    if not conditions:
        raise ValueError(f"assert_scores needs a condition: {_FORMS}")
    parsed = [_parse(text) for text in conditions]
    drops = sum(one.against is not None for one in parsed)
    try:
        checked = [
            (text, one.against, _check(found, one, root, drops)) for text, one in zip(conditions, parsed, strict=True)
        ]
    except RagstoneError as error:  # its message says what to do; where it was raised does not help
        raise error.with_traceback(None) from None
    broken = [item for item in checked if not _holds(item[2], certain)]
    if broken:
        raise AssertionError(_describe_failure(found, checked, broken, certain, show, root))


@dataclass(frozen=True)
class _Condition:
    kind: str
    metric: str
    limit: float
    against: str | None = None


def _parse(text: str) -> _Condition:
    if match := _LIMIT.fullmatch(text):
        kind = "min" if match["sign"] in (">=", "≥") else "max"
        return _Condition(kind, match["metric"], _number(text, match["limit"]))
    if match := _NO_WORSE.fullmatch(text):
        return _Condition("max-drop", match["metric"], _number(text, match["limit"] or "0"), match["run"])
    raise ValueError(f"'{text}' is not a condition. Write {_FORMS}.")


def _number(text: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise ValueError(f"'{text}': {given} is not a number") from None


def _check(run: Run, condition: _Condition, root: str | os.PathLike[str] | None, drops: int) -> Checked:
    from ragstone.analysis.gate_conditions import Check  # noqa: PLC0415
    from ragstone.analysis.gates import check_gate  # noqa: PLC0415

    against = None if condition.against is None else _find_baseline(condition.against, run, root)
    check = Check(condition.kind, condition.metric, condition.limit)  # type: ignore[arg-type]
    [checked] = check_gate(run, [check], against, most_failed=_MOST_FAILED, conditions=drops).checks
    return checked


def _find_baseline(wanted: str, run: Run, root: str | os.PathLike[str] | None) -> Run:
    """A run by path, otherwise the newest other run under the root with this id or name."""
    from ragstone.errors import UnknownNameError  # noqa: PLC0415
    from ragstone.storage.places import open_place  # noqa: PLC0415
    from ragstone.storage.runs import RunFolder, finished_runs, open_run  # noqa: PLC0415

    if RunFolder(open_place(wanted)).manifest.exists():
        return open_run(wanted)
    place = os.fspath(root) if root is not None else os.environ.get("RAGSTONE_ROOT", _DEFAULT_ROOT)
    known: list[str] = []
    for other in finished_runs(open_place(place)):
        if wanted in (other.id, other.name) and other.id != run.id:
            return other
        known += [other.id, other.name]
    hint = f"Create one with: ragstone run DATA --name {wanted} -o {place}"
    raise UnknownNameError(f"run under {place}", wanted, known, hint)


def _holds(checked: Checked, certain: bool) -> bool:
    """Whether the condition holds. Without `certain`, the mean decides; a drop needs evidence."""
    if certain or checked.value is None:
        return checked.outcome == "passes"
    if checked.failed > _MOST_FAILED * (checked.rows + checked.failed):
        return False
    check = checked.check
    if check.kind == "min":
        return checked.value >= check.limit
    if check.kind == "max":
        return checked.value <= check.limit
    return checked.outcome != "fails" if checked.interval else (checked.gain or 0.0) >= -check.limit


def _describe_failure(
    run: Run,
    checked: Sequence[tuple[str, str | None, Checked]],
    broken: Sequence[tuple[str, str | None, Checked]],
    certain: bool,
    show: int,
    root: str | os.PathLike[str] | None,
) -> str:
    count = f"{len(broken)} of {len(checked)} condition{'s' if len(checked) != 1 else ''}"
    lines = [f"{count} on run {_clean(run.name)} do{'es' if len(broken) == 1 else ''} not hold"]
    for item in checked:
        text, against, found = item
        lines.append(f"  {'✗' if item in broken else '✓'} {text}: {_measured(found, certain)}")
        if item in broken:
            lines += _failed(run, found)
            lines += _worst(run, found, against, show, root)
    return "\n".join([*lines, f"full report: ragstone report {run.path}"])


def _measured(found: Checked, certain: bool) -> str:
    if found.value is None:
        return found.why or "no value"
    drop = found.check.kind == "max-drop"
    places = places_for(found.value, ends=found.interval or ())
    words = f"the difference is {signed(found.value, places)}" if drop else f"the mean is {number(found.value, places)}"
    if found.interval:
        ends = signed_interval(*found.interval, places) if drop else interval_text(*found.interval, places, " to ")
        words += f", 95 % interval {ends}"
    words += f", {found.rows} row{'s' if found.rows != 1 else ''}"
    if found.failed:
        words += f", {found.failed} failed"
    return f"{words}. {found.why}" if found.why and (certain or found.interval is None) else words


def _failed(run: Run, found: Checked) -> Iterator[str]:
    """The most common reason, if cells failed."""
    if found.failed and (reason := run.summary()[found.check.metric].reason):
        yield f"      {_clean(reason)}"


def _worst(
    run: Run, found: Checked, against: str | None, show: int, root: str | os.PathLike[str] | None
) -> Iterator[str]:
    """The samples with the worst values or the largest drops."""
    from ragstone.analysis.comparison import compare_runs  # noqa: PLC0415
    from ragstone.storage.scores import read_scores  # noqa: PLC0415

    metric = found.check.metric
    if found.value is None or not show:
        return
    if against is not None:
        compared = compare_runs(_find_baseline(against, run, root), run, [metric])
        lost = [sample for sample in reversed(compared.changed) if sample.gain < 0][:show]
        for sample in lost:
            old, new = next((pair[1:] for pair in sample.metrics if pair[0] == metric), (None, None))
            change = "" if old is None or new is None else f"{number(old)} → {number(new)}  "
            yield f"      {change}{_clean(sample.id)}  {_clean(sample.question)}"
        return
    values = read_scores(run, [metric])[metric].values
    info = run.info.metric(metric)
    low_first = found.check.kind == "min" and (info is None or info.better != "lower")
    order = sorted((value if low_first else -value, row) for row, value in enumerate(values) if value == value)  # noqa: PLR0124
    samples = run.samples.table.select(["id", "question"]).take([row for _, row in order[:show]]).to_pylist()
    for (_, row), sample in zip(order, samples, strict=False):
        yield f"      {number(float(values[row]))}  {_clean(sample['id'])}  {_clean(sample['question'] or '')}"


def _clean(text: str) -> str:
    """One short line without control characters."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= 100 else f"{line[:99]}…"


def _below(config: pytest.Config, path: str) -> str:
    """Resolves a path relative to the root of the configuration; URLs stay unchanged."""
    return path if "://" in path else str(Path(config.rootpath) / path)
