"""The worst rows in two lines each."""

from types import SimpleNamespace

from ragstone.analysis.cause_names import IGNORED, Finding, Outcome
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Claim, Sample
from ragstone.data.verdict import Verdict
from ragstone.engine.evaluate import evaluate
from ragstone.views.sample import sample_view
from ragstone.views.worst import row_views, worst_views

CHUNK = "The tower has 187 steps. Dogs are not allowed in the tower."


def rows(**more):
    return [
        {"question": "How many steps are there?", "answer": "187 steps.", "contexts": [CHUNK], "references": ["187"]},
        {"question": "May dogs climb it?", "answer": "", "contexts": [CHUNK], "references": ["No."], **more},
        {"question": "Who built it?", "answer": "A mason.", "contexts": [], "references": ["A mason."]},
    ]


def test_a_row_without_an_id_has_its_number_and_a_reason(tmp_path):
    run = evaluate(rows(), ["token_f1"], tmp_path)
    first, *others = worst_views(run, diagnose(run))
    assert (first.word, first.label, first.status) == ("2", "row 2", "wrong")
    assert first.id.startswith("q-")
    assert first.status_text.startswith("wrong (")
    assert first.cause == "no answer"
    assert first.reason
    assert [other.label for other in others] == ["row 3"]


def test_an_id_of_the_user_is_kept(tmp_path):
    run = evaluate(rows(id="dogs"), ["token_f1"], tmp_path)
    assert worst_views(run, diagnose(run), 1)[0].word == "dogs"


def test_rows_that_are_fine_are_left_out(tmp_path):
    run = evaluate(rows()[:1], ["token_f1"], tmp_path)
    assert worst_views(run, diagnose(run)) == []


def test_a_claim_is_quoted_without_its_question(tmp_path):
    """Short references are completed by the question, so that they can be judged; a reader has just read it."""
    run = evaluate(rows(), ["token_f1"], tmp_path)
    finding = Finding(
        IGNORED, "reference claim", 1, "How many steps are there? 187.", (1,), "the answer leaves it out", 0.9
    )
    outcome = Outcome("1", (finding,), wrong=0.9, status="wrong")
    [view] = row_views(run, SimpleNamespace(outcomes=[outcome]), [0])
    assert view.reason == 'the answer leaves it out: "187."'


def test_a_claim_is_shown_without_its_question_everywhere():
    """In its table, its reasons and the finding about it; a question may lack a capital letter and a question mark."""
    finding = Finding(IGNORED, "reference claim", 1, "How many steps 187.", (1,), "the answer leaves it out", 0.9)
    reason = Verdict("neutral", 0.1, 0.0, "it says no number")
    claims = {"reference_claims": [Claim(finding.text)], "reference_claims_in_answer": [reason]}
    case = Case(Sample("1", "how many steps", "Many.", references=["187"]), claims)
    view = sample_view(1, case, Outcome("1", (finding,), wrong=0.9, status="wrong"))
    shown = [view.findings[0].text, view.claims[0].rows[0].text, view.judged[0].rows[0].text]
    assert shown == ["187."] * 3
