"""The causes of a world in which the fate of every claim is known by construction, judged over HTTP."""

import pyarrow.compute as pc
import pytest

import ragstone
from ragstone.analysis.causes import FIRST_FEW, find_causes
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.explain import count_items, explain_sample
from ragstone.analysis.sample_evidence import read_case, read_cases
from ragstone.registry.expression import parse_metric
from tests.oracle.language import FILLERS, Statement, say, values
from tests.oracle.server import OracleServer
from tests.oracle.world import FATES, World, make_samples, truth

# Fate: the cause for the claim of the reference, and for what the answer says in its place.
CAUSES = {
    "right": (None, None),
    "ignored": ("ignored", None),
    "missing": ("missing chunk", None),
    "own_knowledge": (None, "right, but not from the chunks"),
    "misread": ("wrong passage used", "wrong passage used"),
    "misled": ("wrong passage used", "wrong passage used"),
    "misled_twice": ("wrong passage used", "wrong passage used"),
    "made_up": ("missing chunk", "hallucinated"),
    "split": (None, None),
}
SHARES = [
    *(f"ragchecker.{name}" for name in ("precision", "recall", "claim_recall", "context_precision", "faithfulness")),
    *(f"ragchecker.{name}" for name in ("context_utilization", "hallucination", "self_knowledge")),
    *(f"ragchecker.noise_sensitivity_in_{name}" for name in ("relevant", "irrelevant")),
    *(f"ragas.{name}" for name in ("faithfulness", "context_recall", "context_entity_recall", "context_relevance")),
    "ragas.noise_sensitivity",
    "ragas.noise_sensitivity(mode=irrelevant)",
]


@pytest.fixture(scope="module")
def world():
    return make_samples(56, seed=3)


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    """Samples to a run, with the oracle for a judge."""
    folder = tmp_path_factory.mktemp("oracle")
    with pytest.MonkeyPatch.context() as patch, OracleServer() as server:
        patch.setenv("RAGSTONE_CACHE", str(folder / "cache"))
        patch.setenv("OPENAI_API_KEY", "none")
        yield lambda samples: ragstone.evaluate(
            [sample.row() for sample in samples],
            ["ragchecker", "ragas", "ragas.noise_sensitivity(mode=irrelevant)"],
            folder / "store",
            judge="openai/oracle",
            embedder="openai/oracle",
            base_url=server.base_url,
        )


@pytest.fixture(scope="module")
def run(world, evaluate):
    return evaluate(world)


@pytest.fixture(scope="module")
def cases(run):
    """With all evidence, also that which causes do not need."""
    return [read_case(run, row) for row in range(len(run.samples))]


@pytest.fixture(scope="module")
def outcomes(run):
    return [find_causes(case) for case in read_cases(run)]


def test_every_fate_has_a_cause(world):
    assert set(CAUSES) == set(FATES)
    assert {fate for sample in world for fate in sample.fates.values()} >= set(FATES)


def test_the_cause_is_the_fate(world, outcomes):
    """Attribute by attribute; a fate that leaves the claim in a chunk below all that is used is `ranked too low`."""
    checked = 0
    for sample, outcome in zip(world, outcomes, strict=True):
        if "all" in sample.fates:
            continue
        found = {
            (one.kind, one.text): one.cause.name for one in outcome.findings if one.cause.name != "beyond the reference"
        }
        wanted = {}
        for attribute, fate in sample.fates.items():
            [reference] = [one for one in sample.reference if one.meaning.attribute == attribute]
            said = [one for one in sample.answer if one.meaning and one.meaning.attribute == attribute]
            of_reference, of_answer = CAUSES[fate]
            if of_reference == "ignored":
                of_reference = _what_ignored_means(sample, reference)
            if of_reference:
                wanted["reference claim", reference.text] = of_reference
            if of_answer:
                wanted["answer claim", said[0].text] = of_answer
        assert found == wanted, sample.id
        checked += len(wanted)
    assert checked > 100


def _what_ignored_means(sample, reference):
    """By the places of the statements in the chunks, without any verdict."""
    if sample.noncommittal:
        return "wrongly refused"
    meanings = [{one.meaning for one in chunk if one.stance == "asserts"} for chunk in sample.chunks]
    rank = next(rank for rank, there in enumerate(meanings, 1) if reference.meaning in there)
    said = {one.meaning for one in sample.answer}
    used = [number for number, there in enumerate(meanings, 1) if said & there]
    return "ranked too low" if rank > FIRST_FEW and rank > max(used, default=0) else "ignored"


def test_the_special_samples(world, outcomes):
    causes = {}
    for sample, outcome in zip(world, outcomes, strict=True):
        if "all" in sample.fates:
            causes.setdefault(sample.fates["all"], []).append(outcome)
    assert set(causes) == {"noncommittal", "nothing_found", "no_reference", "wrong_and_lost"}
    for outcome in causes["noncommittal"]:
        assert {one.cause.name for one in outcome.findings} <= {"wrongly refused", "missing chunk", "split fact"}
        assert outcome.cause is not None
    assert any(outcome.cause.name == "wrongly refused" for outcome in causes["noncommittal"])
    for outcome in causes["nothing_found"]:
        assert {one.cause.name for one in outcome.failures} <= {"nothing retrieved", "hallucinated"}
    for outcome in causes["wrong_and_lost"]:
        assert {one.cause.name for one in outcome.findings} == {"missing chunk", "hallucinated"}
        assert outcome.cause.name == "missing chunk"
    for outcome in causes["no_reference"]:
        assert {one.cause.name for one in outcome.findings} <= {"unsupported"}
        assert outcome.cause is None


def test_fates_that_the_world_does_not_draw(evaluate):
    """A claim misread, one that stands too low, one split and not said: made by hand, judged by the same server."""
    ship = "Maren"
    captain, cargo, flag, port = (truth("en", ship, name) for name in ("captain", "cargo", "flag", "port"))
    country = truth("en", port.value, "country")
    wrong = captain._replace(value=next(name for name in values("en", "captain") if name != captain.value))
    filler = [Statement(FILLERS["en"][0], "nothing")]
    made = {
        "misread": ([captain], [wrong], [[captain]]),
        "ranked too low": ([captain, cargo], [cargo], [[cargo], [], [], [captain]]),
        "split fact": ([flag, cargo], [cargo], [[cargo], [port], [country]]),
    }
    samples = [
        World(
            cause,
            "en",
            ship,
            [meaning.attribute for meaning in reference],
            [say("en", meaning) for meaning in reference],
            [say("en", meaning) for meaning in answer],
            [[*(say("en", meaning, 1) for meaning in chunk), *filler] for chunk in chunks],
        )
        for cause, (reference, answer, chunks) in made.items()
    ]
    found = [find_causes(case) for case in read_cases(evaluate(samples))]
    assert [outcome.cause.name for outcome in found] == list(made)
    assert [{one.cause.name for one in outcome.findings} for outcome in found] == [{cause} for cause in made]
    assert [outcome.findings[0].chunks for outcome in found] == [(1,), (4,), ()]


@pytest.mark.parametrize("name", SHARES)
def test_what_is_counted_gives_the_score(run, cases, name):
    metric = parse_metric(name)
    cells = run.scores.filter(pc.equal(run.scores["metric"].cast("string"), str(metric)))
    scores = dict(zip(cells["sample_id"].to_pylist(), cells["value"].to_pylist(), strict=True))
    compared = 0
    for case in cases:
        counts = count_items(metric.spec.name, case, dict(metric.settings))
        score = scores[case.sample.id]
        if score is None:
            assert not counts or counts[0].value is None
        else:
            [count] = counts
            assert count.value == pytest.approx(score), case.sample.id
            compared += 1
    assert compared > 20


def test_the_diagnosis_of_the_world(run, world):
    found = diagnose(run)
    assert (found.limits, found.sure) == ("both", True)
    claims = [one for sample in world if sample.reference for one in sample.reference]
    assert found.tally.total() == len(claims)
    assert found.looked_at == found.decided == len(world)
    assert found.failing == sum(outcome.cause is not None for outcome in found.outcomes)
    assert found.blamed("retriever") + found.blamed("generator") == found.failing
    summary = {row.metric: row for row in run.summary()}
    for reading in found.readings:
        assert reading.mean == summary[reading.sign.metric].mean


def test_an_explanation_has_the_judges_words(run, world):
    found = explain_sample(run, world[0].id)
    assert {call["prompt"] for call in found.calls} >= {"claims", "verdicts", "context_verdicts", "questions"}
    assert {call["sample_id"] for call in found.calls} == {world[0].id}
    assert {cell.metric for cell in found.cells} == {metric["metric"] for metric in run.info["metrics"]}
    assert found.outcome == find_causes(found.case)


def test_an_explanation_of_a_metric_has_only_the_calls_that_it_rests_on(run, world):
    found = explain_sample(run, "2", "ragas.faithfulness")
    assert found.case.sample.id == world[1].id
    assert {call["evidence"] for call in found.calls} == {"answer_claims", "claims_in_contexts"}
    assert found.working.formula.startswith(
        "Statements of the answer that the contexts (or, in a conversation, the earlier turns) entail"
    )
    [cell] = found.cells
    assert (cell.metric, found.working.counts[0].value) == ("ragas.faithfulness", pytest.approx(cell.value))


def test_an_alias_names_the_metric(run):
    assert explain_sample(run, "1", "groundedness").cells[0].metric == "ragas.faithfulness"
