"""RAGChecker's metrics: matrices worked out by hand, the laws of METRICS.md, and what has no value."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.verdict import Verdict
from ragstone.errors import Skip
from ragstone.metrics import ragchecker
from ragstone.registry import CATALOGUE, parse_metric, resolve_metrics
from tests.metrics.claims import ledgers, matrix, verdicts

FUNCTIONS = {spec.name.partition(".")[2]: spec.function for spec in CATALOGUE.metrics() if spec.family == "ragchecker"}
GROUPS = {
    "overall": {"precision", "recall", "f1"},
    "retriever": {"claim_recall", "context_precision"},
    "generator": {
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
        "self_knowledge",
        "faithfulness",
    },
}
# Five answer claims, four reference claims, three chunks; the first and the second chunk are relevant.
LEDGER = {
    "answer": "An answer.",
    "answer_claims_in_reference": verdicts("eencn"),
    "reference_claims_in_answer": verdicts("eenc"),
    "answer_claims_in_contexts": matrix("enn", "nnc", "nee", "nne", "cnn"),
    "reference_claims_in_contexts": matrix("een", "nen", "ncn", "nnn"),
}


def value(name, ledger):
    """A metric of a row of verdicts; None where it is skipped."""
    try:
        return compute(name, ledger)
    except Skip:
        return None


def compute(name, ledger):
    function = FUNCTIONS[name]
    needs = [name for name, item in inspect.signature(function).parameters.items() if item.default is item.empty]
    return function(**{need: ledger.get(need, "An answer.") for need in needs})


def reason(name, **ledger):
    with pytest.raises(Skip) as skipped:
        compute(name, ledger)
    return str(skipped.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("precision", 2 / 5),
        ("recall", 2 / 4),
        ("f1", 2 * 0.4 * 0.5 / 0.9),
        ("claim_recall", 2 / 4),
        ("context_precision", 2 / 3),
        ("context_utilization", 2 / 2),
        # The third answer claim is wrong and stands in the second chunk, which is relevant, and in the third, which is not.
        ("noise_sensitivity_in_relevant", 1 / 5),
        # The fourth stands in the third chunk only.
        ("noise_sensitivity_in_irrelevant", 1 / 5),
        ("hallucination", 1 / 5),
        ("self_knowledge", 1 / 5),
        ("faithfulness", 3 / 5),
    ],
)
def test_by_hand(name, expected):
    assert value(name, LEDGER) == pytest.approx(expected)


def test_every_metric_is_worked_out_by_hand():
    [mark] = test_by_hand.pytestmark
    assert {name for name, _ in mark.args[1]} == FUNCTIONS.keys() == set().union(*GROUPS.values())


def test_a_contradiction_is_no_support():
    assert ragchecker.precision(verdicts("cccc"), "An answer.") == 0
    assert ragchecker.faithfulness(matrix("cn", "nc")) == 0


def test_nothing_right_or_nothing_said():
    assert ragchecker.f1(verdicts("nn"), verdicts("e")) == 0
    assert ragchecker.f1(verdicts("e"), verdicts("n")) == 0


def test_nothing_retrieved():
    """Claims but no chunks: rows without columns."""
    ledger = {**LEDGER, "answer_claims_in_contexts": [[]] * 5, "reference_claims_in_contexts": [[]] * 4}
    assert value("claim_recall", ledger) == value("faithfulness", ledger) == 0
    assert value("noise_sensitivity_in_relevant", ledger) == value("noise_sensitivity_in_irrelevant", ledger) == 0
    assert (value("self_knowledge", ledger), value("hallucination", ledger)) == (2 / 5, 3 / 5)
    assert reason("context_precision", **ledger) == "nothing was retrieved"
    assert reason("context_utilization", **ledger) == "no chunk supports a claim of the reference"


def test_an_answer_without_claims():
    ledger = {**LEDGER, "answer_claims_in_reference": [], "answer_claims_in_contexts": []}
    affected = GROUPS["generator"] - {"context_utilization"} | {"precision"}
    assert {reason(name, **ledger) for name in affected} == {"the answer makes no claims"}
    ledger["reference_claims_in_answer"] = ["neutral"] * len(ledger["reference_claims_in_answer"])
    assert value("f1", ledger) == value("recall", ledger) == 0  # a refusal is not left out of the mean
    assert all(value(name, ledger) is not None for name in FUNCTIONS.keys() - affected)


def test_an_empty_answer_is_not_precise():
    ledger = {**LEDGER, "answer": " ", "answer_claims_in_reference": [], "answer_claims_in_contexts": []}
    assert value("precision", ledger) == value("f1", ledger) == 0


def test_probabilities_count_with_their_expected_value():
    sure, unsure, unlikely = (
        Verdict("entailment", 0.9, 0.0, counted=0.8),
        Verdict("unsure", 0.5, 0.1, counted=0.6),
        Verdict("neutral", 0.1, 0.2),
    )
    ledger = {
        "answer_claims_in_reference": [sure, unsure],
        "reference_claims_in_answer": [unsure, "entailment"],
        "answer_claims_in_contexts": [[sure, unlikely], [unlikely, unlikely]],
        "reference_claims_in_contexts": [[unsure, unlikely], [unlikely, "neutral"]],
    }
    assert value("precision", ledger) == pytest.approx((0.8 + 0.6) / 2)
    assert value("recall", ledger) == pytest.approx((0.6 + 1) / 2)
    assert value("faithfulness", ledger) == pytest.approx((0.8 + 0.1) / 2)
    assert value("claim_recall", ledger) == pytest.approx((0.6 + 0.1) / 2)
    assert value("context_precision", ledger) == pytest.approx((0.6 + 0.1) / 2)
    assert value("context_utilization", ledger) == pytest.approx((0.6 * 0.6 + 0.1) / (0.6 + 0.1))
    assert value("hallucination", ledger) == pytest.approx((0.2 * 0.2 + 0.4 * 0.9) / 2)
    assert value("self_knowledge", ledger) == pytest.approx((0.8 * 0.2 + 0.6 * 0.9) / 2)
    assert value("noise_sensitivity_in_relevant", ledger) == pytest.approx((0.2 * 0.8 * 0.6 + 0.4 * 0.1 * 0.6) / 2)
    unlikely_only = {**ledger, "reference_claims_in_contexts": [[unlikely, unlikely]] * 2}
    assert reason("context_utilization", **unlikely_only) == "no chunk supports a claim of the reference"


def test_a_reference_without_claims():
    ledger = {**LEDGER, "reference_claims_in_answer": [], "reference_claims_in_contexts": []}
    affected = {"recall", "f1", "claim_recall", "context_precision", "context_utilization"}
    assert {reason(name, **ledger) for name in affected} == {"the reference makes no claims"}
    assert value("noise_sensitivity_in_relevant", ledger) == 0
    assert value("noise_sensitivity_in_irrelevant", ledger) == pytest.approx(2 / 5)


def test_verdicts_that_do_not_belong_together_give_no_number():
    with pytest.raises(ValueError, match="shorter"):
        ragchecker.hallucination(verdicts("ee"), matrix("e"))


@given(ledgers(least_answer=1))
def test_every_claim_is_faithful_or_known_or_made_up(ledger):
    parts = [value(name, ledger) for name in ("faithfulness", "hallucination", "self_knowledge")]
    assert sum(parts) == pytest.approx(1)


@given(ledgers(least_answer=1))
def test_every_claim_is_right_or_noise_or_made_up(ledger):
    noise = ["noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"]
    parts = [value(name, ledger) for name in ("precision", *noise, "hallucination")]
    assert sum(parts) == pytest.approx(1)


@given(ledgers())
def test_bounds(ledger):
    for name in FUNCTIONS:
        found = value(name, ledger)
        assert found is None or 0 <= found <= 1, name


@given(ledgers(least_answer=1, least_reference=1, least_chunks=1))
def test_a_full_row_has_all_values_but_one(ledger):
    missing = {name for name in FUNCTIONS if value(name, ledger) is None}
    assert missing == ({"context_utilization"} if value("claim_recall", ledger) == 0 else set())


@given(ledgers(least_answer=1, least_reference=1))
def test_f1_lies_between(ledger):
    exact, complete, both = (value(name, ledger) for name in ("precision", "recall", "f1"))
    if exact and complete:
        assert min(exact, complete) - 1e-12 <= both <= max(exact, complete) + 1e-12
    else:
        assert both == 0


@given(ledgers(), st.randoms(use_true_random=False))
def test_the_order_of_claims_and_chunks_does_not_matter(ledger, random):
    mixed = {}
    for side in ("answer", "reference"):
        other = "reference" if side == "answer" else "answer"
        single, crossed = f"{side}_claims_in_{other}", f"{side}_claims_in_contexts"
        order = random.sample(range(len(ledger[single])), len(ledger[single]))
        mixed[single] = [ledger[single][claim] for claim in order]
        mixed[crossed] = [ledger[crossed][claim] for claim in order]
    chunks = max((len(row) for name in mixed if name.endswith("contexts") for row in mixed[name]), default=0)
    order = random.sample(range(chunks), chunks)
    for name in ("answer_claims_in_contexts", "reference_claims_in_contexts"):
        mixed[name] = [[row[chunk] for chunk in order] for row in mixed[name]]
    for name in FUNCTIONS:
        assert value(name, mixed) == pytest.approx(value(name, ledger)), name


@given(ledgers(least_answer=1), st.data())
def test_one_more_supporting_chunk_makes_no_answer_less_faithful(ledger, data):
    extra = data.draw(st.lists(st.sampled_from(["entailment", "neutral"]), min_size=6, max_size=6))
    more = {
        **ledger,
        "answer_claims_in_contexts": [[*row, extra[at]] for at, row in enumerate(ledger["answer_claims_in_contexts"])],
    }
    assert value("faithfulness", more) >= value("faithfulness", ledger)
    assert value("hallucination", more) <= value("hallucination", ledger)


@pytest.mark.parametrize("group", GROUPS)
def test_groups_are_sets(group):
    chosen = {str(metric) for metric in resolve_metrics([f"ragchecker.{group}"])}
    assert chosen == {f"ragchecker.{name}" for name in GROUPS[group]}


def test_the_family_is_a_set_of_eleven():
    assert len(resolve_metrics(["ragchecker"])) == len(resolve_metrics(["ragchecker.overall", "ragchecker"])) == 11


def test_names():
    assert parse_metric("claim_recall").spec.name == "ragchecker.claim_recall"
    assert parse_metric("ragchecker.recall").spec.name == "ragchecker.recall"
    # The older owner of the bare name keeps it.
    assert parse_metric("recall").spec.name == "recall"


def test_directions():
    lower = {name for name in FUNCTIONS if parse_metric(f"ragchecker.{name}").spec.better == "lower"}
    assert lower == {"noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"}
    none = {name for name in FUNCTIONS if parse_metric(f"ragchecker.{name}").spec.better == "none"}
    assert none == {"self_knowledge"}


def test_claims_of_unequal_length_count_by_their_words():
    long, short = Verdict("entailment", words=9), Verdict("neutral", words=3)
    found = ragchecker.precision([long, short], "An answer.")
    assert found == 0.75
    assert found.counts[0].sums == (9.0, 12.0)
    assert found.counts[0].plural == "words in answer claims"
    # Verdicts without words, such as stored ones of 0.1.0, count equally.
    assert ragchecker.precision([long, Verdict("neutral")], "An answer.") == 0.5
    assert ragchecker.faithfulness([[long, long], [short, short]]) == 0.75
    assert ragchecker.context_utilization([[long], [short]], [long, short]) == 1.0
