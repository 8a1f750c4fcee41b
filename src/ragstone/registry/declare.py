"""The two decorators. Nothing else registers a metric or a kind of evidence.

Find what is registered: every module of a package, and a user's own file.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, overload

from ragstone.errors import DefinitionError, RagstoneError, UsageError, nearest
from ragstone.registry.catalogue import CATALOGUE
from ragstone.registry.specs import Corpus, Direction, EvidenceSpec, Good, MetricSpec, Settings, read_signature

Names = Sequence[str] | Mapping[str, Mapping[str, Any]]
Function = TypeVar("Function", bound=Callable[..., Any])
# The parts of a sample that metrics rate; tables are grouped by them.
JUDGED = ("answer", "contexts", "ranking", "question", "steps", "system")
_NAME = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*")


def metric(
    name: str,
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
    good: float | Good | None = None,
    advice: str = "",
    variants: Sequence[Mapping[str, Any]] = (),
    version: int = 1,
) -> Callable[[Function], Function]:
    """Register a function as a metric: arguments without default are its needs, those with one are its parameters.

    An alias or a set may have settings: `aliases={"unitxt.faithfulness": {"aggregate": "max"}}`. An `optional` argument may be None.
    `judges` is the rated part: answer, contexts, ranking, question, steps or system. `misleads` names cases in which the score misleads. A columnar metric takes whole columns and returns an array or `Cells`.
    A metric with a `corpus` is summarised from statistics among its needs. A slow one is computed only when it is named.
    `headline` is its rank among the metrics shown first. `good` is its threshold in the diagnosis, `advice` what to do below it.
    Two parameters are special: `k` cuts a ranking off; with `q` the score of a run is that quantile of its rows, not their mean.
    `variants` are settings that sets of metrics and the default run compute, too.
    """
    _refuse_bare(name)

    def register(function: Function) -> Function:
        _check_name(name)
        needs, parameters, _ = read_signature(function, optional)
        _check_arguments(name, function, optional, needs, columnar)
        spec = MetricSpec(
            *(name, function, tuple(need for need in needs if need not in optional), parameters, columnar, version),
            optional=tuple(optional),
            family=family or (name.split(".", maxsplit=1)[0] if "." in name else "custom"),
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
            good=Good(good) if isinstance(good, int | float) else good,
            advice=advice,
            variants=tuple(variants),
        )
        CATALOGUE.add_metric(_checked(spec))
        return function

    return register


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


def _refuse_bare(name: Any) -> None:
    if not isinstance(name, str):
        called = getattr(name, "__name__", "mine")
        raise DefinitionError(f'@metric needs a name in brackets: write @metric("{called}") above def {called}')


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
    version: int = 1,
    signature: Callable[[], str] | None = None,
) -> Function | Callable[[Function], Function]:
    """Register a function that derives evidence; its name is the name that others ask for.

    With `yields` one call makes several pieces and returns a mapping of them; a parameter called `wanted` is
    given the set of pieces that the plan needs. If only some pieces need something, `yields` maps each piece to its
    own needs; the function gets None for such a need if the row lacks it or no planned piece needs it, and returns None for that piece.
    Transient evidence (tokens, say) is cheap and is not stored. `prompts` names the prompt files that a model is asked with.
    Of the needs named in `either` a row must have one: the function gets None for what is not there, a columnar one
    gets `Sparse` columns, or None for what no row has.
    If `replaces` names a field, other functions get this evidence in place of the field, in rows that have it. A function that
    takes both gets the field as it was read.
    `signature` returns what else decides the values (a library's version); it becomes part of the scores' signatures.
    A columnar function may declare a column class with `row_type`, `to_arrow` and `from_arrow` as its return type.
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
            name=name,
            function=function,
            needs=needs,
            parameters=(),
            columnar=columnar,
            version=version,
            yields=pieces,
            transient=transient,
            wants_pieces=wants_pieces,
            signature=signature,
            either=tuple(either),
            piece_needs={piece: tuple(own) for piece, own in yields.items()} if isinstance(yields, Mapping) else {},
            prompts=tuple(prompts),
            replaces=replaces,
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
    except Exception as error:
        line = _line_in(error, spec.origin or "")
        raise DefinitionError(f"metrics file '{path}'{line}: {type(error).__name__}: {error}") from error


def _line_in(error: Exception, file: str) -> str:
    """The last line of the user's own file that the error passed through."""
    lines = []
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""
