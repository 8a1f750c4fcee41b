"""Random values of every type that is stored."""

import dataclasses
import types
import typing
from typing import Any, Literal

from hypothesis import strategies as st

from ragstone.data.types import Sample
from ragstone.data.verdict import Verdict

# Everything that UTF-8 can hold: no halves of surrogate pairs.
texts = st.text(st.characters(codec="utf-8"), max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
_SCALARS = {
    str: texts,
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    type(None): st.none(),
    Any: _JSON,
}


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values that an annotation allows."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(values_of, arguments))
    if origin is list:
        return st.lists(values_of(arguments[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=3)
    if annotation is Verdict:
        words, share = st.sampled_from(["entailment", "neutral", "contradiction", "unsure"]), st.floats(0, 1)
        return st.builds(Verdict, words) | st.builds(Verdict, words, share, share, counted=share)
    assert dataclasses.is_dataclass(annotation), annotation
    hints = typing.get_type_hints(annotation)
    return st.builds(annotation, **{name: values_of(hint) for name, hint in hints.items()})


samples = st.lists(values_of(Sample), max_size=5)
