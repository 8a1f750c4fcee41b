"""Metrics as values: what is printed can be read, and what cannot be read is refused in words that help."""

import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone.metrics  # noqa: F401
from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry import CATALOGUE, Catalogue, declare, metric, parse_metric, resolve_metrics
from ragstone.registry.expression import make_metric, split_metrics
from tests.registry.strategies import metrics_of, settings_of

SPECS = {spec.name: spec for spec in CATALOGUE.metrics()}


def make_catalogue() -> Catalogue:
    """Metrics with parameters of every kind."""
    fresh, before = Catalogue(), declare.CATALOGUE
    declare.CATALOGUE = fresh
    try:

        @metric("many.kinds")
        def many_kinds(
            answer,
            k: int | None = None,
            beta: float = 1.0,
            depth: int = 3,
            strict: bool = False,
            word: str = "x",
            label: str | None = None,
            level: int | float = 0,
            choice: Literal["a", "b-c", "true"] = "a",
        ): ...

        @metric("other.kinds")
        def other_kinds(answer): ...

        @metric("one")
        def one(answer): ...
    finally:
        declare.CATALOGUE = before
    return fresh


KINDS = make_catalogue()
MANY = KINDS.metric("many.kinds").spec


def message_of(text: str, catalogue: Catalogue = CATALOGUE) -> str:
    with pytest.raises(UsageError) as caught:
        parse_metric(text, catalogue)
    return str(caught.value)


@pytest.mark.parametrize("name", SPECS)
@given(data=st.data())
def test_every_metric_is_read_as_it_is_printed(name, data):
    chosen = data.draw(metrics_of(SPECS[name]))
    assert parse_metric(str(chosen)) == chosen
    assert parse_metric(f"{SPECS[name].family}.{chosen}") == chosen
    assert resolve_metrics([f" {chosen} , {chosen}"]) == [chosen]


@given(metrics_of(MANY))
def test_every_kind_of_value_is_read_as_it_is_printed(chosen):
    assert parse_metric(str(chosen), KINDS) == chosen
    assert split_metrics([f"{chosen},one"]) == [str(chosen), "one"]


@given(settings_of(MANY), st.integers(1, 2**63 - 1))
def test_the_cut_off_may_stand_anywhere(settings, k):
    settings = {name: value for name, value in settings.items() if name != "k"}
    expected = make_metric(MANY, **settings, k=k)
    rest = str(make_metric(MANY, **settings)).removeprefix("many.kinds")
    brackets = f"({rest[1:-1]}, k={k})" if rest else f"(k={k})"
    for text in (
        f"many.kinds@{k}{rest}",
        f"many.kinds{rest}@{k}",
        f"many.kinds{brackets}",
        f" many.kinds {rest} @ {k} ",
    ):
        assert parse_metric(text, KINDS) == expected


def test_settings_equal_to_their_defaults_are_not_part_of_the_metric():
    assert parse_metric("ndcg(gain=linear, k=none)") == parse_metric("ndcg")
    assert str(parse_metric("many.kinds(beta=1)", KINDS)) == "many.kinds"


def test_settings_are_printed_in_the_order_of_declaration():
    text = 'many.kinds(choice=b-c, strict=true, word="it\'s", beta=2)@3'
    assert str(parse_metric(text, KINDS)) == 'many.kinds(beta=2.0, strict=true, word="it\'s", choice=b-c)@3'


def test_signature():
    assert parse_metric("p@5(over=retrieved)").signature == "precision(over=retrieved)@5|v2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RECALL@5", "recall@5"),
        ("p@3", "precision@3"),
        ("em", "exact_match"),
        ("recip_rank", "mrr"),
        ("retrieval.ndcg@10", "ndcg@10"),
        ("recall_em", "contains"),
        ("unitxt.faithfulness", "k_precision(aggregate=max)"),
        ("unitxt.faithfulness(aggregate=joined)", "k_precision"),
        ("Unitxt.Context_Correctness@5", "mrr@5"),
    ],
)
def test_other_names(text, expected):
    assert str(parse_metric(text)) == expected


REFUSED = {
    "": "'' is not a metric: it must start with a name, as in recall@5",
    "@5": "'@5' is not a metric: it must start with a name, as in recall@5",
    "Zzz": "unknown metric 'Zzz'. `ragstone metrics` lists all of them.",
    "ndcg(gian=linear)": "unknown parameter of ndcg 'gian'. Did you mean gain? It takes: k, gain, condensed.",
    "exact_match@1": "unknown parameter of exact_match 'k'. It takes: none.",
    "ndcg(gain=expo)": "ndcg: gain must be one of linear, exponential, got 'expo'",
    'ndcg(gain="it\'s")': 'ndcg: gain must be one of linear, exponential, got "it\'s"',
    "recall@0": "recall: the cut-off k must be 1 or more, got 0",
    "recall(k=-3)": "recall: the cut-off k must be 1 or more, got -3",
    "recall@9223372036854775808": "recall: the cut-off k must be below 2^63, got 9223372036854775808",
    "recall(k=true)": "recall: k must be int, got True",
    "recall(k='5')": "recall: k must be int, got '5'",
    "recall(k=5.5)": "recall: k must be int, got 5.5",
    "recall(k=1e400)": "recall: k must be int, got inf",
    "recall@5.5": "'recall@5.5': the cut-off after @ must be a whole number, got '5.5'",
    "recall@-1": "'recall@-1': the cut-off after @ must be a whole number, got '-1'",
    "recall@five": "'recall@five': the cut-off after @ must be a whole number, got 'five'",
    "recall@": "'recall@': cannot read '@'; write name@k or name(param=value)",
    "recall@5 6": "'recall@5 6': cannot read '6'; write name@k or name(param=value)",
    "recall(k=5": "'recall(k=5': cannot read '(k=5'; write name@k or name(param=value)",
    "recall(k=5))": "'recall(k=5))': cannot read ')'; write name@k or name(param=value)",
    "recall(5)": "'recall(5)': write parameters as name=value, not '5'",
    "recall(k=)": "'recall(k=)': cannot read the value ''; put text in quotes",
    "recall(k=a b)": "'recall(k=a b)': cannot read the value 'a b'; put text in quotes",
    "recall(k={[]})": "'recall(k={[]})': cannot read the value '{[]}'; put text in quotes",
    "recall@5@6": "'recall@5@6': k is given twice",
    "recall(k=5)@5": "'recall(k=5)@5': k is given twice",
    "recall(k=5, k=6)": "'recall(k=5, k=6)': k is given twice",
    "ndcg(gain='a'b')": "'ndcg(gain='a'b')': cannot read '(gain='a'b')'; write name@k or name(param=value)",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text or "nothing")
def test_refused(text):
    assert message_of(text) == REFUSED[text]


@pytest.mark.parametrize("text", ["recall@" + "9" * 5000, f"recall(k={'9' * 5000})", f"recall(k={'(' * 500})"])
def test_absurd_input_is_refused_too(text):
    assert message_of(text).startswith("'recall")


@pytest.mark.parametrize("value", ["1e400", "-1e400", "1" + "0" * 400, "true", "none", "'1'"])
def test_only_finite_numbers(value):
    assert message_of(f"many.kinds(beta={value})", KINDS).startswith("many.kinds: beta must be float, got ")


def test_the_nearest_names_are_offered():
    expected = "unknown metric 'manykinds'. Did you mean many.kinds or many? `ragstone metrics` lists all of them."
    assert message_of("manykinds@5", KINDS) == expected
    assert message_of("fact_recal").startswith("unknown metric 'fact_recal'. Did you mean fact_recall or ")


def test_an_ambiguous_name_is_refused_with_the_candidates():
    assert message_of("kinds@5", KINDS) == "metric 'kinds' is ambiguous: say which of many.kinds, other.kinds"


@given(st.text())
def test_any_text_is_a_metric_or_refused(text):
    for candidate in (text, f"recall{text}", f"recall(k={text})"):
        try:
            found = parse_metric(candidate)
        except UsageError:
            continue
        assert parse_metric(str(found)) == found


def test_sets():
    dial = resolve_metrics(["dial"])
    assert [str(found) for found in dial] == ["fact_f1", "fact_mrr_mean", "fact_precision", "fact_recall"]
    assert "k_precision(aggregate=max)" in map(str, resolve_metrics(["unitxt"]))


@pytest.mark.parametrize("family", sorted({spec.family for spec in SPECS.values()}))
def test_a_family_is_a_set(family):
    chosen = {found.spec.name for found in resolve_metrics([family])}
    assert chosen >= {name for name, spec in SPECS.items() if spec.family == family}


def test_all():
    chosen = resolve_metrics(["all"])
    assert [str(found) for found in chosen if not found.settings] == [spec.name for spec in CATALOGUE.metrics()]
    variants = [found for found in chosen if found.settings]
    assert {found.spec.family for found in variants} == {"system"}
    assert all(dict(found.settings) in found.spec.variants for found in variants)


def test_a_quantile_is_a_parameter_with_a_fixed_meaning():
    assert str(parse_metric("latency_p95")) == "system.latency(q=0.95)"
    assert parse_metric("latency_p95").quantile == 0.95
    assert parse_metric("latency_p95").is_of_all_rows
    assert parse_metric("latency").quantile is None
    assert not parse_metric("latency").is_of_all_rows
    for wrong in ("0", "1", "1.5", "95"):
        with pytest.raises(UsageError, match="between 0 and 1"):
            parse_metric(f"system.latency(q={wrong})")


def test_plain_names_are_answered_with_candidates():
    with pytest.raises(UsageError, match=r"ambiguous: say which of .*ragas.faithfulness, ragchecker.faithfulness"):
        parse_metric("faithfulness")
    with pytest.raises(UsageError, match=r"Did you mean ragas.answer_relevancy\?"):
        parse_metric("answer_relevance")
    with pytest.raises(UsageError, match=r"Did you mean distinct_n or distinct_2 or distinct_1\?"):
        parse_metric("distinct_0")


def test_each_metric_once_in_the_order_asked_for():
    chosen = resolve_metrics(["mrr, p@5", "recall(k=5),precision@5, dial,mrr", ""])
    assert [str(found) for found in chosen][:3] == ["mrr", "precision@5", "recall@5"]
    assert len(chosen) == 3 + len(resolve_metrics(["dial"]))


def test_a_mistyped_set_is_unknown():
    with pytest.raises(UnknownNameError, match=re.escape("Did you mean traditional?")):
        resolve_metrics(["tradition"])
