"""Random settings of a metric, from what it declares."""

from hypothesis import strategies as st

from ragstone.registry import MetricSpec, Parameter
from ragstone.registry.expression import make_metric

_KINDS = {
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    str: st.text() | st.text("'\"\\,()[]=@ a1"),
    type(None): st.none(),
}


def values_of(parameter: Parameter) -> st.SearchStrategy:
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    kinds = {**_KINDS, int: st.integers(1, 2**63 - 1)} if parameter.name == "k" else _KINDS
    if parameter.name == "q":
        kinds = {**_KINDS, float: st.floats(0, 1, exclude_min=True, exclude_max=True)}
    return st.one_of(*(kinds[kind] for kind in parameter.kinds))


def settings_of(spec: MetricSpec) -> st.SearchStrategy:
    return st.fixed_dictionaries({}, optional={item.name: values_of(item) for item in spec.parameters})


def metrics_of(spec: MetricSpec) -> st.SearchStrategy:
    return settings_of(spec).map(lambda settings: make_metric(spec, **settings))
