"""Scores as assertions in pytest: a fixture that evaluates, and `assert_scores` that says what does not hold.

The plugin does nothing until a test asks for it, and loads nothing before that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragstone.compare.gates import Checked
    from ragstone.storage.runs import Run

__all__ = ["Runs", "assert_scores", "ragstone_runs"]

_LIMIT = re.compile(r"\s*(?P<metric>\S.*?)\s*(?P<sign>>=|<=|≥|≤)\s*(?P<limit>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*")
_NO_WORSE = re.compile(
    r"\s*(?P<metric>\S.*?)\s+no worse than\s+(?P<run>\S.*?)(?:\s+by more than\s+(?P<limit>[\d.]+))?\s*"
)
_FORMS = "'METRIC >= 0.8', 'METRIC <= 0.1', 'METRIC no worse than RUN' or 'METRIC no worse than RUN by more than 0.02'"
# With more failed cells than this the rest need not be like the whole.
_MOST_FAILED = 0.05
_DEFAULT_ROOT = "ragstone-store"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options, and the same for the configuration file."""
    group = parser.getgroup("ragstone")
    group.addoption("--ragstone-root", metavar="ROOT", default=None, help="Where runs of tests and baselines lie.")
    group.addoption(
        "--ragstone-offline",
        action="store_true",
        help="Ask no model: take replies from the cache, and fail what is not there.",
    )
    parser.addini("ragstone_root", "Where runs of tests and baselines lie; a folder or s3:// address.", default="")
    parser.addini("ragstone_cache", "The folder of replies of models, for tests without network.", default="")


@pytest.fixture(scope="session")
def ragstone_runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Evaluates data and holds runs to conditions; replies come from the folder that `ragstone_cache` names."""
    config = request.config
    named = config.getoption("--ragstone-root") or config.getini("ragstone_root")
    baselines = _below(config, named) if named else os.environ.get("RAGSTONE_ROOT", _below(config, _DEFAULT_ROOT))
    # Runs of tests do not pile up in the store, unless a root was named.
    root = baselines if named else str(tmp_path_factory.mktemp("ragstone"))
    cache = config.getini("ragstone_cache")
    with pytest.MonkeyPatch.context() as patch:
        if cache:
            patch.setenv("RAGSTONE_CACHE", _below(config, cache))
        yield Runs(root, baselines, bool(config.getoption("--ragstone-offline")))


@dataclass(frozen=True)
class Runs:
    """What the fixture gives: `evaluate` and `assert_scores`, with the roots that pytest was told."""

    root: str
    baselines: str
    offline: bool = False

    def evaluate(self, data: Any, metrics: str | Sequence[str] | None = None, **options: Any) -> Run:
        """As `ragstone.evaluate`; with --ragstone-offline no model is asked."""
        from ragstone.engine.evaluation import evaluate  # noqa: PLC0415  (nothing heavy before it is used)

        if self.offline:
            options["offline"] = True
        return evaluate(data, metrics, options.pop("out", self.root), **options)

    def assert_scores(self, run: Run | str, *conditions: str, certain: bool = False, show: int = 3) -> None:
        """As the function of this name; baselines are looked for in the store of the project."""
        __tracebackhide__ = True
        assert_scores(run, *conditions, certain=certain, show=show, root=self.baselines)


def assert_scores(
    run: Run | str | os.PathLike[str],
    *conditions: str,
    certain: bool = False,
    show: int = 3,
    root: str | os.PathLike[str] | None = None,
) -> None:
    """Fail the test, with the worst samples, unless all conditions hold.

    `recall@5 >= 0.8` is about the mean. `recall@5 no worse than main` fails where there is evidence of a drop; `main` is
    a path, or the name or id of a run under `root`. With `certain` a condition holds only if the whole interval does.
    """
    __tracebackhide__ = True
    from ragstone.storage.runs import open_run  # noqa: PLC0415

    found = open_run(run) if isinstance(run, str | os.PathLike) else run
    if not conditions:
        raise ValueError(f"assert_scores needs a condition: {_FORMS}")
    parsed = [_parse(text) for text in conditions]
    checked = [(text, one.against, _check(found, one, root)) for text, one in zip(conditions, parsed, strict=True)]
    broken = [item for item in checked if not _holds(item[2], certain)]
    if broken:
        raise AssertionError(_story(found, checked, broken, certain, show, root))


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
    raise ValueError(f"'{text}' is no condition. Write {_FORMS}.")


def _number(text: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise ValueError(f"'{text}': {given} is not a number") from None


def _check(run: Run, condition: _Condition, root: str | os.PathLike[str] | None) -> Checked:
    from ragstone.compare.conditions import Check  # noqa: PLC0415
    from ragstone.compare.gates import check_gate  # noqa: PLC0415

    against = None if condition.against is None else _find_baseline(condition.against, run, root)
    check = Check(condition.kind, condition.metric, condition.limit)  # type: ignore[arg-type]
    [checked] = check_gate(run, [check], against, most_failed=_MOST_FAILED).checks
    return checked


def _find_baseline(wanted: str, run: Run, root: str | os.PathLike[str] | None) -> Run:
    """A path, else a run under the root by id or name, the newest first; never the run itself."""
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
    hint = f"Make one with: ragstone run DATA --name {wanted} -o {place}"
    raise UnknownNameError(f"run under {place}", wanted, known, hint)


def _holds(checked: Checked, certain: bool) -> bool:
    """Whether a test may pass; without `certain` a mean counts as it is, and a drop only if there is evidence for it."""
    if certain or checked.value is None:
        return checked.outcome == "passes"
    if checked.failed > _MOST_FAILED * (checked.rows + checked.failed):
        return False
    check = checked.check
    if check.kind == "min":
        return checked.value >= check.limit
    if check.kind == "max":
        return checked.value <= check.limit
    return checked.outcome != "fails" if checked.interval else checked.value >= -check.limit


def _story(
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
    return "\n".join([*lines, f"all of it: ragstone report {run.path}"])


def _measured(found: Checked, certain: bool) -> str:
    if found.value is None:
        return found.why or "it has no value"
    gain = found.check.kind == "max-drop"
    words = f"the gain is {found.value:+.3f}" if gain else f"the mean is {found.value:.3f}"
    if found.interval:
        form = "{:+.3f} to {:+.3f}" if gain else "{:.3f} to {:.3f}"
        words += f", 95 % interval {form.format(*found.interval)}"
    words += f", {found.rows} row{'s' if found.rows != 1 else ''}"
    if found.failed:
        words += f", {found.failed} failed"
    return f"{words}. {found.why}" if found.why and (certain or found.interval is None) else words


def _failed(run: Run, found: Checked) -> Iterator[str]:
    """Why cells have no value, where some failed."""
    if found.failed and (reason := run.summary()[found.check.metric].reason):
        yield f"      {_clean(reason)}"


def _worst(
    run: Run, found: Checked, against: str | None, show: int, root: str | os.PathLike[str] | None
) -> Iterator[str]:
    """The samples that pull a metric down: the worst values, or the largest drops."""
    from ragstone.compare.comparison import compare_runs  # noqa: PLC0415
    from ragstone.storage.scores import read_scores  # noqa: PLC0415

    metric = found.check.metric
    if found.value is None or not show:
        return
    if against is not None:
        compared = compare_runs(_find_baseline(against, run, root), run, [metric])
        lost = [sample for sample in reversed(compared.changed) if sample.gain < 0][:show]
        for sample in lost:
            old, new = next((pair[1:] for pair in sample.metrics if pair[0] == metric), (None, None))
            change = "" if old is None or new is None else f"{old:.3f} → {new:.3f}  "
            yield f"      {change}{_clean(sample.id)}  {_clean(sample.question)}"
        return
    better = next((one["better"] for one in run.info["metrics"] if one["metric"] == metric), "higher")
    values = read_scores(run, [metric])[metric].values
    low_first = found.check.kind == "min" and better != "lower"
    order = sorted((value if low_first else -value, row) for row, value in enumerate(values) if value == value)  # noqa: PLR0124
    samples = run.samples.table.select(["id", "question"]).take([row for _, row in order[:show]]).to_pylist()
    for (_, row), sample in zip(order, samples, strict=False):
        yield f"      {values[row]:.3f}  {_clean(sample['id'])}  {_clean(sample['question'] or '')}"


def _clean(text: str) -> str:
    """On one line, short, and without what a terminal would obey."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= 100 else f"{line[:99]}…"


def _below(config: pytest.Config, path: str) -> str:
    """A path of the configuration is meant from its root; an address is left as it is."""
    return path if "://" in path else str(Path(config.rootpath) / path)
