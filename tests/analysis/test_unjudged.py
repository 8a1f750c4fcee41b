"""A sample that no judge decided says why."""

from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.explain import explain_sample
from ragstone.engine.evaluate import evaluate
from ragstone.errors import Skip
from ragstone.report.brief import explanation_brief
from ragstone.tools.local_judges import LocalChecker


def test_a_text_in_another_language_is_named(tmp_path, monkeypatch):
    """By the shipped judge, which reads English."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    rows = [
        {
            "id": "de",
            "question": "Was ist eine Parkverbotszone?",
            "answer": "Das ist ein roter Bereich, in dem man die Räder nicht abstellen darf.",
            "contexts": ["In den roten Bereichen dürfen die Räder nicht abgestellt werden."],
            "references": ["Ein roter Bereich, in dem man keine Räder abstellen darf."],
        },
        {
            "id": "empty",
            "question": "How do I delete my account?",
            "answer": "",
            "contexts": ["To delete the account, open Settings, Account, Delete.", "Helmets are recommended."],
            "references": ["Open Settings, Account, Delete, after paying open invoices."],
        },
    ]
    run = evaluate(rows, "ragchecker", tmp_path)
    found = diagnose(run)
    [reason] = found.undecided
    assert "not English" in reason
    assert explain_sample(run, "de").outcome.undecided == reason
    # The local judge finds no chunk with the claim, but an empty answer is a fact.
    empty = explain_sample(run, "empty").outcome
    assert (empty.cause.name, empty.findings[0].probability) == ("no answer", None)


def test_a_sample_with_a_part_of_its_verdicts_is_not_examined(tmp_path, monkeypatch):
    """It has no fault that anybody could see, so it is neither fixed nor correct."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    whole = LocalChecker.in_text

    async def half(self, question, claims, text):
        if "train" in question:
            raise Skip("the second call failed")
        return await whole(self, question, claims, text)

    monkeypatch.setattr(LocalChecker, "in_text", half)
    rows = [
        {
            "id": name,
            "question": f"When does the {name} leave?",
            "answer": text,
            "contexts": [text],
            "references": [text],
        }
        for name in ("boat", "train")
        for text in [f"The last {name} leaves at nine in the evening."]
    ]
    run = evaluate(rows, "ragchecker", tmp_path)
    found = diagnose(run)
    assert [(one.sample_id, one.cause, one.undecided) for one in found.outcomes] == [
        ("boat", None, ""),
        ("train", None, "the second call failed"),
    ]
    assert (found.decided, found.looked_at) == (1, 2)
    assert "no judgement: the second call failed" in explanation_brief(explain_sample(run, "train"))


def test_an_answer_is_not_read_because_its_reference_is_english(tmp_path, monkeypatch):
    """The chunks are still searched for the claims of the reference."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    text = "A single ticket costs 5.50 euros for adults, and it is valid for two hours on the day of purchase."
    row = {"id": "de", "question": "What does a ticket cost?", "contexts": [text], "references": [text]}
    run = evaluate([row | {"answer": "Eine Einzelkarte kostet 5,50 Euro."}], "ragchecker", tmp_path)
    means = {one.metric: one.mean for one in run.summary()}
    assert (means["ragchecker.faithfulness"], means["ragchecker.claim_recall"]) == (None, 1.0)
    assert "not English" in explain_sample(run, "de").outcome.undecided
