"""Reasons of verdicts: asked for if a prompt of the user's shows them, stored with the verdict, and never compared."""

import pickle

import pytest

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.analysis.sample_evidence import read_case
from ragstone.data.verdict import Verdict
from ragstone.llm.prompts import PromptBook
from ragstone.report.explain import evidence_json
from ragstone.tools.llm_judges import asks_for_reasons, strongest_of, with_reason
from ragstone.views.judged_items import judged_groups
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

ROWS = [sample.row() for sample in make_samples(6, seed=3) if sample.reference and sample.answer]


def own_prompts(folder, *names):
    """The packaged prompts, with a reason before each verdict."""
    folder.mkdir()
    for name in names:
        text = PromptBook().get(name).text
        text = text.replace('"claim": 1, "', '"claim": 1, "reason": "...", "', 1)
        (folder / f"{name}.md").write_text(text)
    return folder


def add_reasons(prompt, body, reply):
    if prompt in ("verdicts", "context_verdicts"):
        schema = body["response_format"]["json_schema"]["schema"]["properties"]["verdicts"]["items"]["properties"]
        if "reason" in schema:
            assert list(schema)[:2] == ["claim", "reason"], "the reason comes before the verdict"
            for item in reply["verdicts"]:
                item["reason"] = f"because of\nclaim {item['claim']}"
    return reply


def evaluate(tmp_path, **options):
    with OracleServer(alter=add_reasons) as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, **options}
        names = ["ragchecker.precision", "ragas.faithfulness"]
        return ragstone.evaluate(ROWS, names, tmp_path / "runs", **options), server


def test_reasons_are_kept_and_change_no_score(tmp_path):
    prompts = own_prompts(tmp_path / "prompts", "verdicts", "context_verdicts")
    plain, few = evaluate(tmp_path)
    run, server = evaluate(tmp_path, prompts=prompts)
    assert server.replies == few.replies
    values = [[row["value"] for row in one.scores.to_pylist()] for one in (plain, run)]
    assert values[0] == values[1]
    case = read_case(run, 0)
    assert {verdict.reason for verdict in case.verdicts("answer_claims_in_reference")} >= {"because of claim 1"}
    assert case.verdicts("answer_claims_in_all_contexts")[0].reason == "because of claim 1"
    titles = {group.title for group in judged_groups(case)}
    assert titles == {"Reasons: claims of the answer by the reference", "Reasons: claims of the answer by the chunks"}
    assert judged_groups(read_case(plain, 0)) == ()
    counts = explain_sample(run, ROWS[0]["id"], "ragchecker.precision").working.counts
    assert counts[0].value == values[0][0]


@pytest.mark.parametrize("numbers", [(), (0.52, 0.03, 0.61)])
def test_a_verdict_is_stored_with_its_reason(numbers):
    verdict = (
        Verdict("neutral", *numbers[:2], reason="It says 1.5, not 2. ", counted=numbers[2])
        if numbers
        else with_reason("neutral", type("Item", (), {"reason": "It says 1.5,\nnot 2."}))
    )
    again = Verdict.from_text(verdict.to_text())
    assert again == verdict == "neutral"
    assert (again.reason, again.support, again.counted) == (verdict.reason, verdict.support, verdict.counted)
    assert pickle.loads(pickle.dumps(verdict)).reason == verdict.reason
    assert evidence_json(verdict)["reason"] == verdict.reason


def test_a_verdict_without_reason_is_stored_as_before():
    assert Verdict("neutral").to_text() == "neutral"
    assert with_reason("neutral", object()) == "neutral"
    assert strongest_of([]) == "neutral"
    assert strongest_of(["neutral", Verdict("entailment", reason="x")]).reason == "x"
    assert not asks_for_reasons(PromptBook().get("verdicts"))
