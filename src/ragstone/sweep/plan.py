"""The plan of a sweep, read from a TOML file: the system, the questions, the settings, and what decides."""

from __future__ import annotations

import hashlib
import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

import ragstone.metrics  # noqa: F401  (fills the catalogue)
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.llm.user_code import split_file_name
from ragstone.registry import Metric, parse_metric
from ragstone.tools.model_options import ModelOptions

MOST_SETTINGS = 500
_NAME = re.compile(r"[A-Za-z_]\w*")
# These are passed with every question.
_RESERVED = ("question", "contexts", "documents", "history")
_KEYS = ("name", "objective", "metrics", "seed", "halving", "system", "data", "settings", "setting", "models")
_SYSTEM_KEYS: dict[str, type] = {"target": str, "template": str, "version": str, "concurrency": int, "cache": bool}
_DATA_KEYS: dict[str, type] = {"questions": str, "truth": str, "format": str, "map": dict, "limit": int}
_KINDS = {str: "a text", int: "a whole number of 1 or more", bool: "true or false", dict: "a table", float: "a number"}
# Longer values are cut in the names of settings.
_LONGEST = 40
# Keys of [models] that are spelled as on the command line.
_SPELLED = {"timeout": "timeout_s", "deadline": "deadline_s", "rpm": "requests_per_minute", "tpm": "tokens_per_minute"}


@dataclass(frozen=True)
class Setting:
    """One set of parameter values."""

    name: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Halving:
    """When settings are compared and may be stopped: after `first` questions, then after `growth` times as many each time.

    `alpha` is the largest chance that the best setting is ever stopped.
    """

    alpha: float = 0.05
    first: int | None = None
    growth: float = 1.5

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 0.5:
            raise UsageError(f"halving: alpha must be more than 0 and at most 0.5, got {self.alpha}")
        if not self.growth > 1:
            raise UsageError(f"halving: growth must be more than 1, got {self.growth}")
        if self.first is not None and self.first < 2:
            raise UsageError(f"halving: first must be 2 or more, got {self.first}")


@dataclass(frozen=True)
class SweepPlan:
    """A checked plan."""

    name: str
    target: str
    settings: tuple[Setting, ...]
    objective: str
    metrics: tuple[str, ...] = ()
    questions: str | None = None
    truth: str | None = None
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    template: str | None = None
    version: str | None = None
    concurrency: int = 8
    cache: bool = True
    halving: Halving | None = field(default_factory=Halving)
    seed: int = 0
    # Fields of ModelOptions.
    models: Mapping[str, Any] = field(default_factory=dict)
    # Where the system runs and answers are scored: local, or on the workers of ray.
    backend: str = "local"
    workers: int | None = None

    @property
    def metric(self) -> Metric:
        """The metric that decides."""
        return parse_metric(self.objective)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters, in the order of the file."""
        return tuple(dict.fromkeys(name for setting in self.settings for name in setting.parameters))

    def check_objective(self) -> None:
        """Raise if the metric that decides has no better direction or is not a mean of rows, or lacks bounds for halving."""
        spec = self.metric.spec
        if spec.better == "none" or self.metric.is_of_all_rows:
            raise UsageError(
                f"objective = '{self.objective}': choose a metric of single rows that has a better direction"
            )
        if self.halving and None in spec.bounds:
            raise UsageError(
                f"objective = '{self.objective}' has no bounds, so no setting can be stopped early. "
                "Choose another objective, or write halving = false."
            )


def read_plan(path: str) -> SweepPlan:
    """Read and check a file. Relative paths in it are relative to its folder."""
    try:
        with open(path, "rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from None
    name = os.path.splitext(os.path.basename(path))[0]
    try:
        return _make_plan(table, os.path.dirname(path), name)
    except UnknownNameError as error:
        raise UsageError(f"{path}: {error}") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _make_plan(table: Mapping[str, Any], folder: str, name: str) -> SweepPlan:
    _check_keys(table, _KEYS, "key")
    system, data = _table(table, "system", _SYSTEM_KEYS), _table(table, "data", _DATA_KEYS)
    if not isinstance(system.get("target"), str):
        raise UsageError('[system] needs a target, for example target = "rag.py:answer"')
    if ("questions" in data) == ("truth" in data):
        raise UsageError('[data] needs either questions = "file.jsonl" or truth = "name"')
    _check_kinds({name: table[name] for name in ("name", "seed") if name in table}, {"name": str, "seed": int}, "")
    if not isinstance(table.get("objective"), str):
        raise UsageError('the file needs the metric that decides, for example objective = "token_f1"')
    parse_metric(table["objective"])  # raises with the nearest names
    metrics = table.get("metrics", [])
    if not isinstance(metrics, str) and not (
        isinstance(metrics, list) and all(isinstance(one, str) for one in metrics)
    ):
        raise UsageError(f'metrics must be a list of names, for example ["token_f1", "quick"], got {metrics!r}')
    plan = SweepPlan(
        name=str(table.get("name", name)),
        target=_near(system["target"], folder),
        settings=tuple(_read_settings(table)),
        objective=str(parse_metric(table["objective"])),
        metrics=tuple([metrics] if isinstance(metrics, str) else metrics),
        questions=_path(data.get("questions"), folder),
        truth=data.get("truth"),
        format=data.get("format"),
        columns=dict(data.get("map", {})),
        limit=data.get("limit"),
        template=_path(system.get("template"), folder),
        version=system.get("version"),
        concurrency=int(system.get("concurrency", 8)),
        cache=bool(system.get("cache", True)),
        halving=_read_halving(table.get("halving", True)),
        seed=int(table.get("seed", 0)),
        models=_read_models(_table(table, "models", None)),
    )
    plan.check_objective()
    return plan


def with_options(plan: SweepPlan, models: Mapping[str, Any], **changes: Any) -> SweepPlan:
    """The plan with options of the command line, which win over the file; None and empty values change nothing."""
    given = {name: value for name, value in changes.items() if value not in (None, (), "")}
    return replace(plan, models={**plan.models, **models}, **given)


def _read_settings(table: Mapping[str, Any]) -> list[Setting]:
    grid, listed = table.get("settings"), table.get("setting")
    if (grid is None) == (listed is None):
        raise UsageError("write either [settings] with a list per parameter, or one [[setting]] per setting")
    if grid is None and not isinstance(listed, list):
        raise UsageError("write [[setting]] with two brackets for each setting")
    settings = _expand(grid) if grid is not None else [_read_setting(one) for one in listed or ()]
    if len(settings) < 2:
        raise UsageError("a sweep needs two settings or more")
    if len(settings) > MOST_SETTINGS:
        raise _too_many(len(settings))
    seen: dict[str, str] = {}
    for setting in settings:
        content = repr(sorted(setting.parameters.items()))
        if content in seen:
            raise UsageError(f"the settings '{seen[content]}' and '{setting.name}' are the same")
        seen[content] = setting.name
    names = [setting.name for setting in settings]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two settings have the name '{twice}'")
    return settings


def _too_many(count: int) -> UsageError:
    return UsageError(
        f"{count:,} settings are too many; the most is {MOST_SETTINGS}. Vary fewer parameters at a time, or fewer values."
    )


def _expand(grid: Any) -> list[Setting]:
    """Every combination of the values."""
    if not isinstance(grid, Mapping) or not grid:
        raise UsageError("[settings] needs a parameter with a list of values: top_k = [2, 4, 8]")
    lists = {name: value if isinstance(value, list) else [value] for name, value in grid.items()}
    if empty := next((name for name, values in lists.items() if not values), None):
        raise UsageError(f"[settings] {empty} has no value")
    if (count := math.prod(map(len, lists.values()))) > MOST_SETTINGS:  # before they are made
        raise _too_many(count)
    varied = [name for name, values in lists.items() if len(values) > 1]
    settings = []
    for combination in product(*lists.values()):
        parameters = dict(zip(lists, combination, strict=True))
        settings.append(Setting(_describe({name: parameters[name] for name in varied}), _checked(parameters)))
    return settings


def _read_setting(item: Any) -> Setting:
    if not isinstance(item, Mapping):
        raise UsageError("[[setting]] must be a table of parameters")
    parameters = {name: value for name, value in item.items() if name != "name"}
    return Setting(str(item.get("name", _describe(parameters))), _checked(parameters))


def _describe(parameters: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_short(value)}" for name, value in parameters.items())


def _short(value: Any) -> str:
    """A value on one line. The end of a long text is replaced by a hash, so that names differ if values do."""
    text = " ".join(str(value).split())
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 8].rstrip()}…{hashlib.blake2b(str(value).encode(), digest_size=3).hexdigest()}"


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in parameters.items():
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise UsageError(
                f"'{name}' cannot be a parameter. Use letters, digits and _, and none of {', '.join(_RESERVED)}"
            )
        if not isinstance(value, str | int | float | bool) or (isinstance(value, float) and not math.isfinite(value)):
            raise UsageError(f"the value of {name} must be a text, a number, true or false, got {value!r}")
    return dict(parameters)


def _read_halving(value: Any) -> Halving | None:
    if isinstance(value, bool):
        return Halving() if value else None
    if not isinstance(value, Mapping):
        raise UsageError("halving must be true, false or a table")
    _check_keys(value, [item.name for item in fields(Halving)], "key of [halving]")
    _check_kinds(value, {"alpha": float, "first": int, "growth": float}, "[halving] ")
    return Halving(**value)


def _read_models(table: Mapping[str, Any]) -> dict[str, Any]:
    known = {item.name for item in fields(ModelOptions)}
    options = {_SPELLED.get(name, name): value for name, value in table.items()}
    _check_keys(options, known, "key of [models]")
    ModelOptions(**options)  # checks values
    return options


def _table(table: Mapping[str, Any], name: str, keys: Mapping[str, type] | None) -> Mapping[str, Any]:
    inner = table.get(name, {})
    if not isinstance(inner, Mapping):
        raise UsageError(f"{name} must be a table: [{name}]")
    if keys is not None:
        _check_keys(inner, list(keys), f"key of [{name}]")
        _check_kinds(inner, keys, f"[{name}] ")
    return inner


def _check_keys(table: Mapping[str, Any], known: Sequence[str] | set[str], kind: str) -> None:
    for name in table:
        if name not in known:
            raise UnknownNameError(kind, name, known, f"Choose from: {', '.join(sorted(known))}.")


def _check_kinds(table: Mapping[str, Any], kinds: Mapping[str, type], where: str) -> None:
    for name, value in table.items():
        kind = kinds[name]
        is_right = isinstance(value, (int, float) if kind is float else kind)
        is_right &= kind is bool or not isinstance(value, bool)
        if not is_right or (kind is int and name != "seed" and value < 1):
            raise UsageError(f"{where}{name} must be {_KINDS[kind]}, got {value!r}")


def _near(target: str, folder: str) -> str:
    """A target with its file relative to the folder of the plan."""
    in_file = split_file_name(target.strip())
    return f"{_path(in_file[0], folder)}:{in_file[1]}" if in_file else target


def _path(path: str | None, folder: str) -> str | None:
    if path is None or "://" in path or os.path.isabs(path) or not folder:
        return path
    return os.path.join(folder, path)
