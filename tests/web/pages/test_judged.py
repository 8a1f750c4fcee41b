"""A run with a judge: the page of a sample shows its prompts and replies."""

import pytest

import ragstone
from tests.e2e.judged import SETS, calls, judging, rows
from tests.models.toy_judge import make_toy_judge
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

SAMPLES = make_samples(6, seed=3)


@pytest.fixture(scope="module")
def judged(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch, OracleServer() as server:
        patch.setenv("RAGSTONE_CACHE", str(root / "replies"))
        patch.setenv("RAGSTONE_LOCAL_JUDGE", "off")
        run = ragstone.evaluate(rows(SAMPLES), SETS, root, **judging(server))
    return serve(root), run


def test_the_words_of_the_judge_are_those_of_the_run(judged):
    client, run = judged
    for row, sample in enumerate(SAMPLES, 1):
        found = client.json(f"/runs/{run.id}/samples/{row}.json")
        assert found["sample"]["id"] == sample.id
        mine = [call for call in calls(run.path) if call["sample_id"] == sample.id]
        assert [(c["evidence"], c["prompt"], c["reply"]) for c in found["calls"]] == [
            (c["evidence"], c["prompt"], c["reply"] or "") for c in mine
        ]
        for call in found["calls"]:
            assert call["asked"] == run.info["prompts"].get(call["prompt"], {}).get("text", "")
    page = client.page(f"/runs/{run.id}/samples/1")
    assert "prompt" in page.text()
    assert run.info["prompts"]["claims"]["text"].split("\n")[-2] in page.text()


def test_marks_follow_the_verdicts(judged):
    client, run = judged
    evidence = {
        name: run.evidence(name)["value"].to_pylist() for name in ("answer_claims", "answer_claims_in_contexts")
    }
    for row in range(1, len(SAMPLES) + 1):
        found = client.json(f"/runs/{run.id}/samples/{row}.json")
        claims, matrix = (evidence[name][row - 1] or [] for name in evidence)
        group = next((group for group in found["claims"] if group["whose"] == "answer"), {"rows": []})
        assert [claim["text"] for claim in group["rows"]] == [claim["text"] for claim in claims]
        for claim, verdicts in zip(group["rows"], matrix, strict=False):
            assert claim["says"] == [rank for rank, word in enumerate(verdicts, 1) if word == "entailment"]
            assert claim["denies"] == [rank for rank, word in enumerate(verdicts, 1) if word == "contradiction"]


def test_a_run_says_who_judged(judged):
    client, run = judged
    [line] = client.json(f"/runs/{run.id}.json")["judged"]
    assert "from the judge openai/oracle. Its error is not known" in line
    assert line in client.page(f"/runs/{run.id}").text()


def test_the_local_judge_has_no_words(serve, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
    pytest.importorskip("onnx", reason="onnx is not installed")
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(make_toy_judge(tmp_path / "toy", ["The light stands."])))
    row = {"question": "Where?", "answer": "The light stands.", "references": ["The light stands."]}
    run = ragstone.evaluate([row], "ragchecker.precision", tmp_path, judge="local")
    client = serve(tmp_path)
    assert "The local judge decided this sample" in client.page(f"/runs/{run.id}/samples/1").text()
    assert client.json(f"/runs/{run.id}.json")["judged"][0].startswith("The metric comes from the local judge")


def test_a_judge_that_failed_everywhere_comes_first(tmp_path, serve):
    def broken(_):
        raise RuntimeError("the model is not loaded")

    run = ragstone.evaluate(rows(SAMPLES), ["answer_match"], tmp_path, judge=broken, cache=False)
    client = serve(tmp_path)
    failure = client.json(f"/runs/{run.id}.json")["judge_failure"]
    assert "the model is not loaded" in failure
    page = client.page(f"/runs/{run.id}").text()
    assert page[page.rindex("Verdict") :].removeprefix("Verdict").lstrip().startswith(failure)
