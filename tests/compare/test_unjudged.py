"""A sample that no judge decided says why."""

from ragstone.compare.diagnosis import diagnose
from ragstone.compare.explain import explain_sample
from ragstone.engine.evaluate import evaluate


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
