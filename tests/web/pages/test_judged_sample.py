"""What the page of a sample says about its judge: probabilities, doubt, other languages and failures."""

from dataclasses import replace

import pytest

import ragstone
from ragstone.analysis.causes import find_causes
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Claim, Sample
from ragstone.data.verdict import Verdict
from ragstone.views.sample import sample_view
from ragstone.web.pages.sample import _judge, describe_sample
from tests.models.toy_judge import make_toy_judge

UNSURE = Verdict("unsure", 0.52, 0.1, counted=0.5)
SURE = Verdict("entailment", 0.96, 0.01, counted=0.9)


def failing(_):
    raise RuntimeError("the model is not loaded")


@pytest.fixture(scope="module")
def failed(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("failed")
    rows = [{"id": str(n), "question": "What?", "answer": "Red.", "references": ["Blue."]} for n in range(3)]
    run = ragstone.evaluate(rows, ["token_f1", "answer_match"], root, judge=failing, cache=False)
    return serve(root), run


def test_a_judge_that_failed_for_many_cells_is_named_with_the_reason(failed):
    client, run = failed
    found = client.json(f"/runs/{run.id}/samples/1.json")
    assert "the model is not loaded" in found["judge"]["failure"]
    cell = next(cell for cell in found["scores"] if cell["metric"] == "answer_match")
    assert cell["status"] == "failed"
    page = client.page(f"/runs/{run.id}/samples/1")
    assert found["judge"]["failure"] in page.text()
    assert "✗" in page.text()


@pytest.fixture(scope="module")
def probable(tmp_path_factory, serve):
    """A run of the local judge, here a toy."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    root = tmp_path_factory.mktemp("probable")
    row = {"id": "a", "question": "What colour is the boat?", "answer": "The boat is red. It leaves at ten."}
    row |= {"references": ["The boat is red."], "contexts": ["The boat is red and old.", "It leaves at nine."]}
    texts = [row["answer"], *row["references"], *row["contexts"]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGSTONE_LOCAL_JUDGE", str(make_toy_judge(root / "toy", texts)))
        run = ragstone.evaluate([row], ["ragchecker"], root, judge="local", name="probable")
    return serve(root), run


def test_probabilities_are_in_the_matrix_and_on_the_page(probable):
    client, run = probable
    found = client.json(f"/runs/{run.id}/samples/1.json")
    cells = [cell for row in found["matrix"]["rows"] for cell in row["cells"]]
    assert cells
    assert all(cell["supported"] is not None for cell in cells)
    assert {cell["state"] for cell in cells} <= {"supported", "contradicted", "unsure", "not stated"}
    assert found["judge"]["local"]
    page = client.page(f"/runs/{run.id}/samples/1").text()
    assert "numbers: the local judge's probability of support; at ✗, of contradiction" in page


def case(answer, *verdicts):
    claims = [Claim(text) for text in answer.split("|")]
    evidence = {"answer_claims": claims, "answer_claims_in_reference": list(verdicts)}
    return Case(Sample("a", "q", answer.replace("|", " "), references=["a reference"]), evidence)


def test_a_sentence_is_not_called_supported_if_a_claim_is_unsure():
    unsure = case("The boat is red.|The boat leaves at ten.", SURE, UNSURE)
    pieces = describe_sample(sample_view(1, unsure, find_causes(unsure)))["answer"]
    assert [(p["tone"], [label["text"] for label in p["labels"]]) for p in pieces if p["numbers"]] == [
        ("good", ["✓ A1"]),
        ("unsure", ["? A2"]),
    ]


def test_other_languages_are_a_caution_only_with_the_local_judge(probable):
    _, run = probable
    german = "Das Schiff ist rot und es fährt nicht um zehn Uhr ab, weil der Sturm zu stark ist."

    class Index:
        pass

    index = Index()
    index.run = run
    assert _judge(index, case(german, SURE), [])["language"] == "German"
    assert _judge(index, case("The boat is red and it does not leave at ten.", SURE), [])["language"] == ""
    assert _judge(index, case(german, "entailment"), [])["language"] == ""


def test_the_judge_of_the_run_says_which_languages_it_reads(probable):
    _, run = probable
    german = "Das Schiff ist rot und es fährt nicht um zehn Uhr ab, weil der Sturm zu stark ist."
    french = "Le bateau est rouge et il ne part pas à dix heures parce que la tempête est trop forte pour nous."

    class Index:
        run: object

    class Stored:
        summary = run.summary
        id, info = run.id, replace(run.info, raw={**run.info.raw, "judge_languages": ["en", "de"]})

    index = Index()
    index.run = Stored
    assert run.info["judge_languages"] == ["en"], "a run stores what the card says"
    assert _judge(index, case(german, SURE), [])["language"] == ""
    found = _judge(index, case(french, SURE), [])
    assert found["language"] == "French"
    assert found["reads"] == ["English", "German"]


def test_a_judge_that_failed_here_is_named(probable):
    _, run = probable

    class Index:
        pass

    index = Index()
    index.run = run
    scores = [{"judged": True, "status": status, "reason": "no reply"} for status in ("failed", "failed", "ok")]
    assert _judge(index, case("A.", SURE), scores)["failure"].startswith("The judge failed for 2 of 3 scores")
    assert not _judge(index, case("A.", SURE), scores[2:])["failure"]
