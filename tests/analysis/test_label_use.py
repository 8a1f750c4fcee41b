"""Labels of people in the status, the causes, the comparison and the gate."""

import pytest

import ragstone
from ragstone.analysis.cause_texts import status_text
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.diagnosis import diagnose, update_rows
from ragstone.analysis.label_use import claim_targets, with_claim_labels
from ragstone.analysis.sample_evidence import read_cases
from ragstone.data.types import Chunk, Claim, Sample
from ragstone.storage.human_labels import HumanLabel, HumanLabels, answer_key, write_label
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from ragstone.views.comparison import ComparisonView

YES, NO, SILENT = "entailment", "contradiction", "neutral"


def rows(wrong=(), count=8):
    """Answers of one claim, supported by chunk and reference; those of the `wrong` rows are contradicted."""
    for at in range(count):
        verdict = NO if at in wrong else YES
        yield {
            "id": f"r{at}",
            "question": f"When does ferry {at} leave?",
            "answer": f"At {at + (5 if at in wrong else 0)}.",
            "references": [f"At {at}."],
            "contexts": [{"id": "c", "text": f"Ferry {at} leaves at {at}."}],
            "answer_claims": [{"text": "It leaves then."}],
            "reference_claims": [{"text": "It leaves so."}],
            "answer_claims_in_reference": [verdict],
            "reference_claims_in_answer": [verdict],
            "answer_claims_in_contexts": [[verdict]],
            "reference_claims_in_contexts": [[YES]],
        }


@pytest.fixture
def store(tmp_path):
    return tmp_path


def evaluate(store, wrong=(), name="run"):
    return open_run(ragstone.evaluate(list(rows(wrong)), "ragchecker", str(store), name=name).path)


def say(store, run, row, value, author="Ana"):
    sample = list(run.samples)[row]
    key = answer_key(sample.question, sample.answer)
    write_label(open_place(store), HumanLabel(key, "answer", author, value))


def newly_failing(old, new):
    view = ComparisonView.diagnosed(compare_runs(old, new))
    return [name for move in view.moves.rows if move.kind == "newly failing" for name in [move.id]]


def test_labels_decide_the_status(store):
    run = evaluate(store, wrong=(1, 2))
    before = diagnose(run)
    assert [one.status for one in before.outcomes[:4]] == ["fine", "wrong", "wrong", "fine"]
    say(store, run, 0, "wrong")
    say(store, run, 1, "right")
    say(store, run, 3, "partly")
    say(store, run, 4, "right")
    say(store, run, 4, "wrong", "Bo")
    say(store, run, 5, "skipped")
    found = diagnose(run)
    assert [status_text(one) for one in found.outcomes[:6]] == [
        "wrong (labelled by Ana)",
        "fine (labelled by Ana)",
        "wrong (90 %)",
        "look (labelled by Ana)",
        "look (labelled by Ana and Bo)",
        "fine (wrong: 5 %)",
    ]
    assert found.outcomes[0].cause.name == "wrong answer"
    assert found.outcomes[1].cause is None
    assert sum(count.main for count in found.causes) == 2
    assert found.failing == 2


def test_only_labelled_rows_are_read_again(store, monkeypatch):
    run = evaluate(store, wrong=(1,))
    before = diagnose(run, texts=False)
    say(store, run, 1, "right")
    say(store, run, 6, "wrong")
    assert update_rows(run, before, [1, 6, 99]) == diagnose(run, texts=False)


def test_a_new_failure_that_is_labelled_right_passes_the_gate(store):
    old, new = evaluate(store, name="old"), evaluate(store, wrong=(3,), name="new")
    assert not ragstone.gate(new, against=old, max_new_failures=0)
    say(store, new, 3, "right")
    assert ragstone.gate(new, against=old, max_new_failures=0)
    assert newly_failing(old, new) == []


def test_a_fine_row_that_is_labelled_wrong_is_newly_failing(store):
    old = evaluate(store, name="old")
    # Row 3 is fine by the judge in both runs, in other words: a label of the same answer would apply to both.
    made = [{**row, "answer": "Then."} if row["id"] == "r3" else row for row in rows()]
    new = open_run(ragstone.evaluate(made, "ragchecker", str(store), name="new").path)
    assert newly_failing(old, new) == []
    assert ragstone.gate(new, against=old, max_new_failures=0)
    say(store, new, 3, "wrong")
    assert newly_failing(old, new) == ["r3"]
    assert not ragstone.gate(new, against=old, max_new_failures=0)


def test_a_label_of_a_claim_replaces_the_verdict_of_the_judge(store):
    run = evaluate(store, wrong=(2,))
    case = list(read_cases(run))[2]
    targets = {(one.whose, one.against): one for one in claim_targets(case.sample, case.evidence)}
    assert {key: one.judged for key, one in targets.items()} == {
        ("answer", "reference"): NO,
        ("answer", "chunks"): NO,
        ("reference", "answer"): NO,
        ("reference", "chunks"): YES,
    }
    for key in (("answer", "reference"), ("answer", "chunks"), ("reference", "answer")):
        label = HumanLabel(targets[key].key, "claim", "Ana", YES, claim="x", against=key[1], judged=NO)
        write_label(open_place(store), label)
    changed = list(read_cases(run))[2]
    assert changed.verdicts("answer_claims_in_reference") == [YES]
    assert changed.matrix("answer_claims_in_contexts") == [[YES]]
    assert changed.matrix("answer_claims_in_contexts")[0][0].source == "labelled by Ana"
    assert changed.judged["answer_claims_in_reference"] == [NO]
    assert diagnose(run).outcomes[2].status == "fine"
    # People who are divided leave the verdict of the judge.
    for key in targets.values():
        write_label(open_place(store), HumanLabel(key.key, "claim", "Bo", SILENT))
    assert list(read_cases(run))[2].verdicts("answer_claims_in_reference") == [NO]


def test_the_key_of_a_claim_has_all_that_was_judged():
    def key(against, claim="c", question="q", texts=("x", "y")):
        chunks = [Chunk(text=text) for text in texts]
        sample = Sample(id="1", question=question, answer="a", references=list(texts), contexts=chunks)
        evidence = {"answer_claims": [Claim(claim)], "answer_claims_in_reference": [YES]}
        evidence["answer_claims_in_contexts"] = [[YES] * len(texts)]
        [found] = [one.key for one in claim_targets(sample, evidence) if one.against == against]
        return found

    keys = {
        key("chunks"),
        key("chunks", texts=["xy"]),
        key("reference"),
        key("chunks", claim="d"),
        key("chunks", question="p"),
        answer_key("q", "a"),
        answer_key("q", "a", ["earlier"]),
    }
    assert len(keys) == 7


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((SILENT, NO, SILENT), SILENT), ((SILENT, NO), YES), ((), YES), ((NO,), NO), ((NO, SILENT, YES, NO), NO)],
)
def test_most_people_decide(values, verdict):
    sample = Sample(id="1", question="q", answer="a", references=["r"])
    evidence = {"answer_claims": [Claim("c")], "answer_claims_in_reference": [YES]}
    [target] = claim_targets(sample, evidence)
    labels = [HumanLabel(target.key, "claim", f"person {at}", value) for at, value in enumerate(values)]
    found = with_claim_labels(sample, evidence, HumanLabels(tuple(labels)))
    assert found["answer_claims_in_reference"] == [verdict]
