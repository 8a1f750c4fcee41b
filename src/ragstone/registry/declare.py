"""The two decorators. Nothing else registers a metric or a kind of evidence."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args, overload

from ragstone.errors import DefinitionError
from ragstone.registry.catalogue import CATALOGUE
from ragstone.registry.specs import Corpus, Direction, EvidenceSpec, MetricSpec, Settings, read_signature

Names = Sequence[str] | Mapping[str, Mapping[str, Any]]
Function = TypeVar("Function", bound=Callable[..., Any])
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
    corpus: Corpus | None = None,
    slow: bool = False,
    version: int = 1,
) -> Callable[[Function], Function]:
    """Register a function as a metric: arguments without default are its needs, those with one are its parameters.

    An alias or a set may stand for settings: `aliases={"unitxt.faithfulness": {"aggregate": "max"}}`.
    `judges` and `against` place it on the map of what is judged against what; `misleads` says when not to trust it.
    A columnar metric takes whole columns and returns one array or `Cells`. A metric with a `corpus` is summarised from its
    rows' statistics, which must be among its needs. A slow one is only computed when it is named. The version goes up when values change.
    """

    def register(function: Function) -> Function:
        _check_name(name)
        if inspect.iscoroutinefunction(function):
            raise DefinitionError(f"metric '{name}' is async: a metric is pure; whatever waits for a model is evidence")
        needs, parameters, _ = read_signature(function)
        if better not in get_args(Direction):
            raise DefinitionError(
                f"metric '{name}': better must be one of {', '.join(get_args(Direction))}, got {better!r}"
            )
        low, high = bounds
        if low is not None and high is not None and low >= high:
            raise DefinitionError(f"metric '{name}': bounds must be (low, high), got {bounds}")
        if corpus and corpus.statistics not in needs:
            raise DefinitionError(
                f"metric '{name}' must need '{corpus.statistics}', from which its corpus score is made"
            )
        CATALOGUE.add_metric(
            MetricSpec(
                name=name,
                function=function,
                needs=needs,
                parameters=parameters,
                columnar=columnar,
                version=version,
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
            )
        )
        return function

    return register


@overload
def evidence(function: Function, /) -> Function: ...
@overload
def evidence(
    *,
    yields: Sequence[str] = (),
    columnar: bool = False,
    transient: bool = False,
    either: Sequence[str] = (),
    version: int = 1,
    signature: Callable[[], str] | None = None,
) -> Callable[[Function], Function]: ...
def evidence(
    function: Function | None = None,
    /,
    *,
    yields: Sequence[str] = (),
    columnar: bool = False,
    transient: bool = False,
    either: Sequence[str] = (),
    version: int = 1,
    signature: Callable[[], str] | None = None,
) -> Function | Callable[[Function], Function]:
    """Register a function that derives evidence; its name is the name that others ask for.

    With `yields` one call makes several pieces and returns a mapping of them; a parameter called `wanted` is
    given the set of pieces that somebody needs. Transient evidence (tokens, say) is cheap and is not stored.
    Of the needs named in `either` a row must have one: the function gets None for what is not there, a columnar one
    gets `Sparse` columns, or None for what no row has.
    What else decides the values (a library's version) is what `signature` returns; scores carry it.
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
        if strangers := [need for need in either if need not in needs]:
            raise DefinitionError(f"{name}: '{strangers[0]}' stands in `either`, but it is no argument")
        CATALOGUE.add_evidence(
            EvidenceSpec(
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
            )
        )
        return function

    return register if function is None else register(function)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise DefinitionError(f"'{name}' is not a good name: lower-case letters, digits, '_' and '.' only")


def _named_settings(names: Names) -> Settings:
    named = names if isinstance(names, Mapping) else {name: {} for name in names}
    return tuple((name.lower(), tuple(settings.items())) for name, settings in named.items())
