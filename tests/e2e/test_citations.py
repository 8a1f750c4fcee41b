"""Citations and facts by a judge end to end: with a judge that is always right, and with the local judge."""

from collections import Counter

import pytest

import ragstone
from ragstone.engine.quote import quote
from ragstone.engine.rescore import rescore
from tests.e2e.judged import calls, cells, judging, rows
from tests.oracle.expected import claims
from tests.oracle.server import OracleServer
from tests.oracle.verdicts import verdict
from tests.oracle.world import make_samples

SAMPLES = [sample for sample in make_samples(40, seed=3) if sample.language != "zh"]
CITATIONS = ["citation_recall", "citation_precision", "uncited_claims"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def entails(chunk, statement):
    return verdict(statement.meaning, chunk) == "entailment"


def cite(sample):
    """The sample with a citation of the first chunk after each statement but the second; and the right values."""
    row, marked, right, uncited = sample.row(), [], [], 0
    seen = set()
    for number, statement in enumerate(sample.answer):
        is_cited = number != 1
        marked.append(f"{statement.text[:-1]} [1]{statement.text[-1]}" if is_cited else statement.text)
        if statement.stance == "asserts" and statement.meaning not in seen:
            seen.add(statement.meaning)
            uncited += not is_cited
            right.append(is_cited and bool(sample.chunks) and entails(sample.chunks[0], statement))
    return {**row, "answer": " ".join(marked)}, right, uncited


def test_citations_of_the_world(tmp_path):
    made = {sample.id: cite(sample) for sample in SAMPLES if len(sample.answer) == len(set(sample.answer))}
    with OracleServer() as server:
        run = ragstone.evaluate(
            [row for row, *_ in made.values()], metrics=CITATIONS, out=tmp_path, exam=False, **judging(server)
        )
    assert server.problems == []
    found = cells(run.path)
    for name, (_, right, uncited) in made.items():
        recall = found[name, "citation_recall"]
        assert recall["value"] == (pytest.approx(sum(right) / len(right)) if right else None), name
        assert found[name, "uncited_claims"]["value"] == (pytest.approx(uncited / len(right)) if right else None), name


def test_citations_add_no_call(tmp_path):
    data = [cite(sample)[0] for sample in SAMPLES[:8]]
    with OracleServer() as server:
        options = judging(server, exam=False, cache=False)
        without = ragstone.evaluate(data, metrics="ragas.faithfulness", out=tmp_path / "a", **options)
        with_them = ragstone.evaluate(data, metrics=["ragas.faithfulness", "citations"], out=tmp_path / "b", **options)
    count = [Counter((call["sample_id"], call["prompt"]) for call in calls(run.path)) for run in (without, with_them)]
    assert count[0] == count[1]
    assert count[0]


@pytest.mark.parametrize("verdicts", ["json", "tokens"])
def test_facts_by_a_language_model(tmp_path, verdicts):
    data = [row for row in rows(SAMPLES) if "facts" in row]
    known = {sample.id: sample for sample in SAMPLES}
    with OracleServer() as server:
        options = judging(server, exam=False, verdicts=verdicts)
        run = ragstone.evaluate(data, "fact_recall", tmp_path, matcher="judge", **options)
        asked = quote(
            data, "fact_recall", matcher="judge", **judging(server, exam=False, verdicts=verdicts, cache=False)
        )
    assert server.problems == []
    found = cells(run.path)
    for row in data:
        sample = known[row["id"]]
        there = [any(entails(chunk, statement) for chunk in sample.chunks) for statement in claims(sample.reference)]
        assert found[row["id"], "fact_recall"]["value"] == pytest.approx(sum(there) / len(there)), row["id"]
    made = [call for call in calls(run.path) if not call["error"]]
    assert {call["evidence"] for call in made} == {"fact_matches"}
    assert asked.total.calls == pytest.approx(asked.metrics[0].calls)
    if verdicts == "json":
        assert asked.total.calls == len(made)


ROW = {
    "id": "q",
    "question": "When does the harbour open?",
    "answer": "At nine.",
    "contexts": [
        "Welcome to Arden. The harbour opens every day at nine in the morning.",
        "Ferries depart from the north pier at ten o'clock.",
        "The harbour closes at five.",
    ],
    "facts": [
        "The harbour is open from nine.",
        "A ferry leaves at ten.",
        "The harbour closes at five.",
        "The lighthouse is red.",
    ],
}


def test_facts_by_the_local_judge(tmp_path):
    run = ragstone.evaluate([ROW], ["facts"], tmp_path, matcher="judge", judge="local")
    [matches] = run.evidence("fact_matches")["value"].to_pylist()
    assert [(one["fact"], one["chunk"], one["matcher"]) for one in matches] == [
        (0, 0, "judge"),
        (1, 1, "judge"),
        (2, 2, "judge"),
    ]
    assert [ROW["contexts"][one["chunk"]][one["start"] : one["end"]] for one in matches] == [
        "The harbour opens every day at nine in the morning.",
        "Ferries depart from the north pier at ten o'clock.",
        "The harbour closes at five.",
    ]
    assert 0.5 < matches[0]["confidence"] < 1.0
    assert matches[2]["confidence"] == 1.0
    assert run.summary()["fact_recall"].mean == 0.75
    assert run.summary()["fact_precision"].mean == 1.0
    again = rescore(run)
    assert again.summary()["fact_recall"].mean == 0.75
    signatures = [{row["signature"] for row in one.scores.to_pylist()} for one in (run, again)]
    assert signatures[0] == signatures[1]
    assert all("matcher:judge/2" in signature and "checker:" in signature for signature in signatures[0])


ACQUIRED = (
    "On November 30, 2021, the Company completed the acquisition of the remaining 1.31% of Emakina Group SA's outstanding "
    "shares for a purchase price of $1.7 million in cash."
)
BEFORE = "Emakina: On November 3, 2021, the Company completed the acquisition of 98.69% for $143.4 million in cash. "
# DIAL's example of a split that loses the fact: the date is in one chunk, what happened in the next.
SPLIT = [
    BEFORE + "On November 30, 2021, the Company",
    ACQUIRED.partition("Company ")[2] + " The table has the estimated fair values as of December 31, 2022:",
]


def agrees_always(claims, texts):
    return [[1.0 for _ in texts] for _ in claims]


@pytest.mark.parametrize("options", [{"judge": "local"}, {"checker": agrees_always}])
@pytest.mark.parametrize(("contexts", "recall"), [([BEFORE + ACQUIRED], 1.0), (SPLIT, 0.0), (SPLIT[1:], 0.0)])
def test_a_chunk_without_the_date_does_not_state_the_fact(tmp_path, options, contexts, recall):
    row = {"question": "When was the acquisition of Emakina completed?", "contexts": contexts, "facts": [ACQUIRED]}
    run = ragstone.evaluate([row], "fact_recall", tmp_path, matcher="judge", **options)
    assert run.summary()["fact_recall"].mean == recall


def test_numbers_in_other_words_and_those_of_the_question_are_there(tmp_path):
    row = {
        "question": "What did the ferry line earn in 2021?",
        "contexts": ["The ferry line had a profit of two million crowns that year."],
        "facts": ["In 2021 the ferry line earned 2 million crowns."],
    }
    run = ragstone.evaluate([row], "fact_recall", tmp_path, matcher="judge", checker=agrees_always)
    assert run.summary()["fact_recall"].mean == 1.0


def test_a_fact_without_a_word_is_skipped_and_a_failing_judge_fails_the_row(tmp_path):
    def broken(prompts):
        raise RuntimeError("no answer")

    data = [{**ROW, "facts": ["?!"]}, {**ROW, "id": "r"}]
    run = ragstone.evaluate(data, "fact_recall", tmp_path, matcher="judge", judge=broken, cache=False)
    assert [(row["status"]) for row in run.scores.to_pylist()] == ["skipped", "failed"]


def test_the_judge_matcher_needs_a_run():
    with pytest.raises(ragstone.RagstoneError, match="asks a model"):
        ragstone.match_facts(["x"], ["x y"], matcher="judge")


def test_a_default_run_has_citation_metrics_only_if_the_data_cites(tmp_path):
    cited = {**ROW, "answer": "The harbour opens at nine [1]."}

    def names(*data, metrics="quick"):
        summary = ragstone.evaluate(list(data), metrics, matcher="exact").summary()
        return {row.metric for row in summary} & {*CITATIONS, "unresolved_citations"}

    assert names(ROW) == set()
    assert names(ROW, metrics="all") == set()
    assert names({**ROW, "answer": "It is [sic] my_rows[1] in [1999]."}) == set()
    # Without a judge there are no claims.
    assert names(cited) == {"unresolved_citations"}
    assert names({**ROW, "citations": []}) == set()
    assert names({**ROW, "citations": [{"chunk": 1}]}) == {"unresolved_citations"}
    assert names(ROW, metrics="citations") == {*CITATIONS, "unresolved_citations"}
