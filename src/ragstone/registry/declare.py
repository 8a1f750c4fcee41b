"""The two decorators that register metrics and evidence, and the import of what they decorate.

A function that is passed to `evaluate` as a metric needs no decorator: `metric_names` makes it known by its name.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, overload

from ragstone.errors import DefinitionError, RagstoneError, UsageError, nearest
from ragstone.registry.catalogue import CATALOGUE
from ragstone.registry.specs import Corpus, Direction, EvidenceSpec, MetricSpec, Settings, Threshold, read_signature

Names = Sequence[str] | Mapping[str, Mapping[str, Any]]
Function = TypeVar("Function", bound=Callable[..., Any])
# The parts of a sample that metrics rate; tables are grouped by them.
JUDGED = ("answer", "contexts", "ranking", "question", "steps", "system")
_NAME = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*")


@overload
def metric(name: Function, /) -> Function: ...
@overload
def metric(
    name: str | None = None,
    *,
    family: str = "",
    bounds: tuple[float | None, float | None] = (0.0, 1.0),
    better: Direction = "higher",
    judges: str = "",
    against: str = "",
    misleads: str = "",
    source: str = "",
    aliases: Names = (),
    sets: Names = (),
    columnar: bool = False,
    optional: Sequence[str] = (),
    corpus: Corpus | None = None,
    slow: bool = False,
    headline: int | None = None,
    good: float | Threshold | None = None,
    advice: str = "",
    variants: Sequence[Mapping[str, Any]] = (),
    by_id: bool = False,
    version: int = 1,
) -> Callable[[Function], Function]: ...
def metric(
    name: str | Function | None = None,
    *,
    family: str = "",
    bounds: tuple[float | None, float | None] = (0.0, 1.0),
    better: Direction = "higher",
    judges: str = "",
    against: str = "",
    misleads: str = "",
    source: str = "",
    aliases: Names = (),
    sets: Names = (),
    columnar: bool = False,
    optional: Sequence[str] = (),
    corpus: Corpus | None = None,
    slow: bool = False,
    headline: int | None = None,
    good: float | Threshold | None = None,
    advice: str = "",
    variants: Sequence[Mapping[str, Any]] = (),
    by_id: bool = False,
    version: int = 1,
) -> Function | Callable[[Function], Function]:
    """Register a function as a metric: arguments without default are its needs, those with one are its parameters.

    `@metric` without brackets uses the name of the function. An alias or a set may have settings: `aliases={"unitxt.faithfulness": {"aggregate": "max"}}`. An `optional` argument may be None.
    `judges` is the rated part: answer, contexts, ranking, question, steps or system. `misleads` names cases in which the score misleads. A columnar metric takes whole columns and returns an array or `Cells`.
    A metric with a `corpus` is summarised from statistics among its needs. A slow one is computed only when it is named. `headline` is its rank among the metrics shown first. `good` is its threshold in the diagnosis, `advice` what to do below it.
    Two parameters are special: `k` cuts a ranking off; with `q` the score of a run is that quantile of its rows, not their mean. `variants` are settings that sets of metrics and the default run compute, too. With `by_id`, ids of chunks suffice: rows with unknown texts are not skipped.
    """

    def register(function: Function) -> Function:
        called = name if isinstance(name, str) else _name_of(function)
        _check_name(called)
        needs, parameters, _ = read_signature(function, optional)
        _check_arguments(called, function, optional, needs, columnar)
        spec = MetricSpec(
            *(called, function, tuple(need for need in needs if need not in optional), parameters, columnar, version),
            optional=tuple(optional),
            by_id=by_id,
            family=family or (called.split(".", maxsplit=1)[0] if "." in called else "custom"),
            bounds=bounds,
            better=better,
            judges=judges,
            against=against,
            misleads=misleads,
            source=source,
            aliases=_named_settings(aliases),
            sets=_named_settings(sets),
            corpus=corpus,
            slow=slow,
            headline=headline,
            good=Threshold(good) if isinstance(good, int | float) else good,
            advice=advice,
            variants=tuple(variants),
        )
        CATALOGUE.add_metric(_checked(spec))
        return function

    return register if name is None or isinstance(name, str) else register(name)


def metric_names(metrics: Any) -> list[str]:
    """Metrics as names. A function without `@metric` gets its own name, until another function of that name is passed."""
    listed = metrics if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    functions: dict[str, Any] = {}
    names = []
    for item in listed:
        if isinstance(item, str):
            names.append(item)
            continue
        if not callable(item):
            raise UsageError(f"a metric is a name or a function, got {item!r:.80}")
        name = CATALOGUE.name_of(item) or _add_passed(item)
        if functions.setdefault(name, item) is not item:
            raise UsageError(
                f"two functions are named '{name}'; rename one, or declare it with @metric(\"other_name\")"
            )
        names.append(name)
    return names


def _add_passed(function: Callable[..., Any]) -> str:
    """Make a plain function known as a metric from 0 to 1, higher is better; it belongs to no set of metrics."""
    name = _name_of(function)
    _check_name(name)
    needs, parameters, _ = read_signature(function)
    _check_arguments(name, function, (), needs, columnar=False)
    own = (name, function, needs, parameters, False, 1)
    CATALOGUE.add_passed(MetricSpec(*own, "custom", (0.0, 1.0), "higher", *("",) * 4, (), (), None, slow=False))
    return name


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "<unnamed>")
    if name.startswith("<"):
        raise DefinitionError(f'{name} has no name: write `def name(answer): …`, or @metric("name") above it')
    return str(name)


def _check_arguments(
    name: str, function: Callable[..., Any], optional: Sequence[str], needs: Sequence[str], columnar: bool
) -> None:
    if inspect.iscoroutinefunction(function):
        raise DefinitionError(f"metric '{name}' is async: call the model in an evidence function")
    if unknown := [need for need in optional if need not in needs]:
        raise DefinitionError(
            f"metric '{name}': '{unknown[0]}' is in `optional` but is not an argument, or its default is not None"
        )
    if optional and columnar:
        raise DefinitionError(f"metric '{name}' is columnar, so it cannot have optional arguments")


def _checked(spec: MetricSpec) -> MetricSpec:
    owner, directions = f"metric '{spec.name}'", get_args(Direction)
    if spec.better not in directions:
        raise DefinitionError(f"{owner}: better must be one of {', '.join(directions)}, got {spec.better!r}")
    if spec.judges and spec.judges not in JUDGED:
        near = " or ".join(nearest(str(spec.judges), JUDGED))
        meant = f". Did you mean {near}?" if near else ""
        raise DefinitionError(f"{owner}: judges must be one of {', '.join(JUDGED)}, got {spec.judges!r}{meant}")
    low, high = spec.bounds
    if low is not None and high is not None and low >= high:
        raise DefinitionError(f"{owner}: bounds must be (low, high), got {spec.bounds}")
    if spec.corpus and spec.corpus.statistics not in spec.needs:
        raise DefinitionError(f"{owner} must need '{spec.corpus.statistics}', from which its corpus score is made")
    if spec.good and ((low is not None and spec.good.limit < low) or (high is not None and spec.good.limit > high)):
        raise DefinitionError(f"{owner}: good must be within its bounds {spec.bounds}, got {spec.good.limit:g}")
    return spec


@overload
def evidence(function: Function, /) -> Function: ...
@overload
def evidence(
    *,
    yields: Sequence[str] | Mapping[str, Sequence[str]] = (),
    columnar: bool = False,
    transient: bool = False,
    either: Sequence[str] = (),
    prompts: Sequence[str] = (),
    replaces: str = "",
    by_id: bool = False,
    images: bool = False,
    version: int = 1,
    signature: Callable[[], str] | None = None,
) -> Callable[[Function], Function]: ...
def evidence(
    function: Function | None = None,
    /,
    *,
    yields: Sequence[str] | Mapping[str, Sequence[str]] = (),
    columnar: bool = False,
    transient: bool = False,
    either: Sequence[str] = (),
    prompts: Sequence[str] = (),
    replaces: str = "",
    by_id: bool = False,
    images: bool = False,
    version: int = 1,
    signature: Callable[[], str] | None = None,
) -> Function | Callable[[Function], Function]:
    """Register a function that derives evidence; its name is the name that others ask for.

    With `yields` one call makes several pieces and returns a mapping of them; a parameter called `wanted` is
    given the set of pieces that the plan needs. If only some pieces need something, `yields` maps each piece to its
    own needs; the function gets None for such a need if the row lacks it or no planned piece needs it, and returns None for that piece.
    Transient evidence (such as tokens) is cheap and is not stored. `prompts` names the prompt files that are sent to a model.
    Of the needs named in `either` a row must have one: the function gets None for what is not there, a columnar one
    gets `Sparse` columns, or None for what no row has.
    If `replaces` names a field, other functions get this evidence in place of the field, in rows that have it. A function that
    takes both gets the field as it was read.
    `signature` returns what else decides the values (a library's version); it becomes part of the scores' signatures. With `by_id`, ids of chunks suffice. With `images`, rows in which a chunk is an image without a text are not skipped if the tool sees images (`sees_images`). A columnar function may declare a column class with `row_type`, `to_arrow` and `from_arrow` as its return type.
    """

    def register(function: Function) -> Function:
        name = getattr(function, "__name__", "")
        pieces = tuple(yields) or (name,)
        for piece in (name, *pieces):
            _check_name(piece)
        needs, parameters, wants_pieces = read_signature(function)
        if parameters:
            raise DefinitionError(
                f"{name}: evidence has no parameters, so '{parameters[0].name}' cannot have a default; "
                "what is chosen once for a run is a tool, what belongs to one number is a parameter of the metric"
            )
        spec = EvidenceSpec(
            *(name, function, needs, (), columnar, version, pieces, transient, wants_pieces),
            signature=signature,
            either=tuple(either),
            piece_needs={piece: tuple(own) for piece, own in yields.items()} if isinstance(yields, Mapping) else {},
            prompts=tuple(prompts),
            replaces=replaces,
            by_id=by_id,
            images=images,
        )
        _check_optional_needs(spec)
        CATALOGUE.add_evidence(spec)
        return function

    return register if function is None else register(function)


def _check_optional_needs(spec: EvidenceSpec) -> None:
    own_needs = [need for own in spec.piece_needs.values() for need in own]
    for option, named in (("either", spec.either), ("yields", own_needs)):
        if unknown := [need for need in named if need not in spec.needs]:
            raise DefinitionError(f"{spec.name}: '{unknown[0]}' is in `{option}` but is not an argument")
    if spec.either and own_needs:
        raise DefinitionError(f"{spec.name}: it has both `either` and needs of single pieces; make it two functions")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise DefinitionError(f"'{name}' is not a good name: lower-case letters, digits, '_' and '.' only")


def _named_settings(names: Names) -> Settings:
    named = names if isinstance(names, Mapping) else {name: {} for name in names}
    return tuple((name.lower(), tuple(settings.items())) for name, settings in named.items())


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that a new file is registered by being there."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def import_metrics_file(path: str | Path) -> None:
    """Import a user's Python file; its decorated functions register themselves."""
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"metrics file '{path}' does not exist")
    name = f"ragstone_user_{file.resolve().stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"metrics file '{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # typing.get_type_hints looks the module up by name
    try:
        spec.loader.exec_module(module)
    except RagstoneError:
        raise
    except (Exception, SystemExit) as error:
        line = _line_in(error, spec.origin or "")
        raise DefinitionError(f"metrics file '{path}'{line}: {type(error).__name__}: {error}") from error


def _line_in(error: BaseException, file: str) -> str:
    """The last line of the user's own file that the error passed through."""
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""
