"""The declaration of a decorated function: its needs, its parameters, its shape."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ragstone.data.types import Gaps
from ragstone.errors import DefinitionError, UsageError

Direction = Literal["higher", "lower", "none"]
# The one parameter name that is neither a need nor a setting: the pieces that an evidence function should make.
WANTED = "wanted"
# A name and its settings: `unitxt.faithfulness` is `k_precision` with its maximum over contexts.
Settings = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


@dataclass(frozen=True)
class Parameter:
    """A setting of a metric: a keyword argument with a default."""

    name: str
    default: Any
    kinds: tuple[type, ...]
    choices: tuple[Any, ...] = ()

    def accept(self, value: Any, metric: str) -> Any:
        """The value as the function takes it, or a UsageError with the allowed values."""
        if self.choices:
            if value in self.choices:
                return value
            choices = ", ".join(map(str, self.choices))
            raise UsageError(f"{metric}: {self.name} must be one of {choices}, got {value!r}")
        if value is None and type(None) in self.kinds:
            return None
        if isinstance(value, bool) and bool not in self.kinds:
            raise self._wrong(value, metric)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and int not in self.kinds and float in self.kinds and abs(value) <= sys.float_info.max:
            value = float(value)
        if not isinstance(value, self.kinds):
            raise self._wrong(value, metric)
        if isinstance(value, float) and not math.isfinite(value):
            raise self._wrong(value, metric)
        if self.name == "k" and isinstance(value, int) and not 1 <= value < 2**63:
            limit = "1 or more" if value < 1 else "below 2^63"
            raise UsageError(f"{metric}: the cut-off k must be {limit}, got {value}")
        if self.name == "q" and isinstance(value, float) and not 0 < value < 1:
            raise UsageError(f"{metric}: the quantile q must be between 0 and 1, as in q=0.95, got {value:g}")
        return value

    def _wrong(self, value: Any, metric: str) -> UsageError:
        names = " or ".join(kind.__name__ for kind in self.kinds if kind is not type(None))
        return UsageError(f"{metric}: {self.name} must be {names}, got {value!r}")


@dataclass(frozen=True)
class FunctionSpec:
    """The properties that the engine needs to call a function."""

    name: str
    function: Callable[..., Any]
    needs: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    columnar: bool
    version: int
    # Needs of which one is enough.
    either: tuple[str, ...] = field(default=(), kw_only=True)
    # Arguments that may be None: for rows without a value, or for all rows if the value cannot be made.
    optional: tuple[str, ...] = field(default=(), kw_only=True)
    # Whether chunks with an unknown text suffice: the function reads their ids.
    by_id: bool = field(default=False, kw_only=True)
    # Whether its tool may see the images of chunks.
    images: bool = field(default=False, kw_only=True)

    @property
    def is_async(self) -> bool:
        """Whether a call must be awaited."""
        return inspect.iscoroutinefunction(self.function)

    @property
    def meaning(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())

    @property
    def details(self) -> str:
        """The rest of the docstring."""
        return "\n\n".join((inspect.getdoc(self.function) or "").split("\n\n")[1:])

    @property
    def home(self) -> tuple[str, str]:
        """Where the function is defined: re-running the same definition replaces it."""
        return self.function.__module__, self.function.__qualname__


@dataclass(frozen=True)
class EvidenceSpec(FunctionSpec):
    """A function that derives evidence."""

    yields: tuple[str, ...]
    transient: bool
    wants_pieces: bool
    # What else decides the values (a library's version, its settings); called when a run is planned, not at import.
    signature: Callable[[], str] | None = None
    # Needs that only one piece has.
    piece_needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The prompt files that it sends to a model; their hashes are part of the signature.
    prompts: tuple[str, ...] = ()
    # The field in whose place other functions get this evidence.
    replaces: str = ""

    @property
    def stamp(self) -> str:
        """Its part of the signature of every score that depends on it."""
        return f"{self.name}/{self.version}" + (f"({self.signature()})" if self.signature else "")

    def needs_of(self, pieces: Iterable[str]) -> tuple[str, ...]:
        """The needs of these pieces."""
        own = {need for needs in self.piece_needs.values() for need in needs}
        wanted = {need for piece in pieces for need in self.piece_needs.get(piece, ())}
        return tuple(need for need in self.needs if need not in own or need in wanted)

    def annotation_of(self, piece: str) -> Any:
        """The Python type of one row's value."""
        column = self.column_type(piece)
        return self._returns(piece) if column is None else column.row_type

    def column_type(self, piece: str) -> Any:
        """The column class that the function declares as its return type, or None.

        Such a class has a `row_type`, a method `to_arrow` and a class method `from_arrow`.
        """
        returns = self._returns(piece)
        if typing.get_origin(returns) is Gaps:
            [returns] = typing.get_args(returns)
        return returns if hasattr(returns, "row_type") and hasattr(returns, "from_arrow") else None

    def _returns(self, piece: str) -> Any:
        """The return annotation; for several pieces that of one key of the TypedDict."""
        returns = _type_hints(self.function).get("return")
        if self.yields == (self.name,):
            return returns
        return _type_hints(returns)[piece] if isinstance(returns, type) else None


@functools.lru_cache(maxsize=2_048)
def _type_hints(declared: Any) -> dict[str, Any]:
    """The annotations of a function or class; every plan asks for them."""
    return typing.get_type_hints(declared)


@dataclass(frozen=True)
class Corpus:
    """How a corpus metric is made from all rows together, not as a mean of their scores.

    `statistics` names stored evidence with a few numbers per row. `score` turns their sum (the last axis of an array) into
    the score or, if the score is not a function of a sum (`additive=False`), the list of all rows' numbers. `high_end` gives,
    from the sum, the number of rows and that of independent ones, what the upper end of the interval is at least.
    `undefined` says why there is no score if it is not finite.
    """

    statistics: str
    score: Callable[[Any], Any]
    additive: bool = True
    high_end: Callable[[Any, int, int], float] | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Threshold:
    """The threshold of a good value, and the role of the metric in the diagnosis.

    The diagnosis lists metrics by `order`. If the metric `decides`, a bad value makes its part of the system the limiting
    one; otherwise it only adds advice. The metric is left out if the run has one of the metrics in `unless`.
    With `share_of_chunks`, the limit is at most half of what the retrieved number of chunks allows.
    """

    limit: float
    order: int = 100
    decides: bool = True
    unless: tuple[str, ...] = ()
    share_of_chunks: bool = False


@dataclass(frozen=True)
class MetricSpec(FunctionSpec):
    """A function that turns fields and evidence into a score, and its documentation."""

    family: str
    bounds: tuple[float | None, float | None]
    better: Direction
    judges: str
    against: str
    misleads: str
    source: str
    aliases: Settings
    sets: Settings
    corpus: Corpus | None
    # Computed only if it is named: it is slower than all quick metrics together, or rarely informative.
    slow: bool
    # Position among the headline metrics; None if it is not one of them.
    headline: int | None = None
    good: Threshold | None = None
    # What to do if the value is not good.
    advice: str = ""
    # Further settings that sets of metrics compute, too.
    variants: tuple[Mapping[str, Any], ...] = ()

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, if there is one."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


def read_signature(
    function: Callable[..., Any], optional: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[Parameter, ...], bool]:
    """Needs (no default, or optional), parameters (with a default), and whether the function takes the pieces to make."""
    needs: list[str] = []
    parameters: list[Parameter] = []
    wants_pieces = False
    for name, item in inspect.signature(function).parameters.items():
        if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD, item.POSITIONAL_ONLY):
            raise DefinitionError(
                f"{function.__qualname__}: '{item}' is not a name that can be filled in; name each need"
            )
        if name == WANTED:
            wants_pieces = True
        elif item.default is item.empty or (name in optional and item.default is None):
            needs.append(name)
        else:
            parameters.append(_read_parameter(function, name, item))
    return tuple(needs), tuple(parameters), wants_pieces


def _read_parameter(function: Callable[..., Any], name: str, item: inspect.Parameter) -> Parameter:
    annotation = item.annotation
    if isinstance(annotation, str):
        annotation = eval(annotation, function.__globals__)  # noqa: S307  (our own source, as typing.get_type_hints does)
    if annotation is item.empty:
        annotation = type(item.default)
    if typing.get_origin(annotation) is Literal:
        return Parameter(name, item.default, (), typing.get_args(annotation))
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    kinds = typing.get_args(annotation) if union else (annotation,)
    if not all(isinstance(kind, type) for kind in kinds):
        raise DefinitionError(f"{function.__qualname__}: parameter '{name}' needs a simple type, got {annotation!r}")
    return Parameter(name, item.default, kinds)
