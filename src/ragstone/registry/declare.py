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
    yields: Sequence[str] | Mapping[str, Sequence[str]] = (),
    columnar: bool = False,
    transient: bool = False,
    either: Sequence[str] = (),
    prompts: Sequence[str] = (),
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
    version: int = 1,
    signature: Callable[[], str] | None = None,
) -> Function | Callable[[Function], Function]:
    """Register a function that derives evidence; its name is the name that others ask for.

    With `yields` one call makes several pieces and returns a mapping of them; a parameter called `wanted` is
    given the set of pieces that somebody needs. Where only some pieces need something, `yields` maps each piece to
    what it needs beyond the rest; the function gets None for what a row lacks or nobody asked for, and returns None for that piece.
    Transient evidence (tokens, say) is cheap and is not stored. `prompts` names the prompt files that a model is asked with.
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
        piece_needs = {piece: tuple(own) for piece, own in yields.items()} if isinstance(yields, Mapping) else {}
        own_needs = [need for own in piece_needs.values() for need in own]
        for where, named in (("either", either), ("yields", own_needs)):
            if strangers := [need for need in named if need not in needs]:
                raise DefinitionError(f"{name}: '{strangers[0]}' stands in `{where}`, but it is no argument")
        if either and own_needs:
            raise DefinitionError(f"{name}: it has both `either` and needs of single pieces; make it two functions")
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
                piece_needs=piece_needs,
                prompts=tuple(prompts),
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
