"""Runs over chunks with images: judges that see them get them, all others skip with the reason, and quotes count them."""

import asyncio
import json

import pytest
from click.testing import CliRunner

import ragstone
from ragstone.cli.app import app
from ragstone.engine.rescore import rescore
from ragstone.llm.base import IMAGE_LABEL, estimate_tokens
from ragstone.storage.images import Pictured
from ragstone.storage.runs import open_run
from ragstone.tools.checkers import LocalCascade
from tests.http.loopback import loopback  # noqa: F401  (a fixture)
from tests.images import SVG, data_uri, png

VISION = {"exam": False, "cache": False, "repeats": 1}
ZONES = {"text": "The zones are A and B."}
METRICS = ["ragas.faithfulness"]


def rows(*contexts):
    return [{"id": "a", "question": "Which zone is dearest?", "answer": "Zone B.", "contexts": list(contexts)}]


def answer(asked):
    """Claims, and verdicts by which the second chunk, an image, supports them."""
    title = asked.json["response_format"]["json_schema"]["name"]
    replies = {
        "ClaimsReply": {"claims": ["Zone B is the dearest."]},
        "ContextVerdictsReply": {"verdicts": [{"claim": 1, "supported_by": ["B"], "contradicted_by": []}]},
        "RelevanceGradeReply": {"match": 3, "trust": 3, "grade": 3},
    }
    return {"choices": [{"message": {"content": json.dumps(replies[title])}}]}


@pytest.fixture
def judge(loopback, monkeypatch):  # noqa: F811
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    loopback.handler = answer
    return lambda model, **more: ragstone.Judge(model, base_url=loopback.url, **VISION, **more)


def cells(run):
    return {cell["metric"]: (cell["value"], cell["reason"]) for cell in run.scores.to_pylist()}


@pytest.fixture
def data(tmp_path):
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "fares.png").write_bytes(png(600, 300))
    path = tmp_path / "rows.jsonl"

    def write(*contexts):
        path.write_text("\n".join(map(json.dumps, rows(*contexts))))
        return str(path)

    return write


def parts_sent(loopback):  # noqa: F811
    contents = [asked.json["messages"][-1]["content"] for asked in loopback.asked]
    return [content for content in contents if isinstance(content, list)]


def test_a_judge_that_sees_gets_the_image(judge, loopback, data, tmp_path):  # noqa: F811
    path = data(ZONES, {"image": "charts/fares.png", "id": "c"})
    run = ragstone.evaluate(path, [*METRICS, "umbrela.grade"], judge=judge("openai/gpt-4o"), out=tmp_path / "runs")
    assert cells(run) == {"ragas.faithfulness": (1.0, None), "umbrela.grade": (1.0, None)}
    sent = parts_sent(loopback)
    assert len(sent) == 2, "one call for verdicts, one for the grade of the image"
    for text, label, image in sent:
        assert "[image 1]" in text["text"]
        assert "fares.png" not in text["text"]
        assert label["text"] == IMAGE_LABEL.format(1)
        assert image["image_url"]["url"] == data_uri(png(600, 300))


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("../outside.png", "outside the folder of the data"),
        ("link.png", "outside the folder of the data"),
        ("gone.png", "does not exist"),
        ("/etc/passwd.png", "outside the folder of the data"),
        ("http://example.org/a.png", "only https"),
        (data_uri(SVG, "image/png"), "not a PNG"),
    ],
)
def test_images_that_are_not_sent(judge, loopback, data, tmp_path, image, reason):  # noqa: F811
    (tmp_path.parent / "outside.png").write_bytes(png())
    (tmp_path / "link.png").symlink_to(tmp_path.parent / "outside.png")
    path = data(ZONES, {"image": image})
    run = ragstone.evaluate(path, METRICS, judge=judge("openai/gpt-4o"), out=tmp_path / "runs")
    [(value, why)] = cells(run).values()
    assert value is None
    assert reason in why
    assert parts_sent(loopback) == []


def test_a_judge_that_does_not_see_skips(judge, loopback, data, tmp_path):  # noqa: F811
    path = data(ZONES, {"image": "charts/fares.png"})
    model = judge("openai/gpt-3.5-turbo")
    run = ragstone.evaluate(path, [*METRICS, "k_precision"], judge=model, out=tmp_path / "runs")
    reason = "1 of 2 retrieved chunks is an image without a text, and {} does not see images"
    assert cells(run) == {
        "ragas.faithfulness": (None, reason.format("the judge")),
        "k_precision": (None, reason.format("this metric")),
    }
    assert all("fares.png" not in json.dumps(asked.json) for asked in loopback.asked)
    run = ragstone.evaluate(path, METRICS, judge=judge("openai/gpt-3.5-turbo", images="on"), out=tmp_path / "on")
    assert cells(run) == {"ragas.faithfulness": (1.0, None)}
    run = ragstone.evaluate(path, METRICS, judge=judge("openai/gpt-4o", images="off"), out=tmp_path / "off")
    assert cells(run)["ragas.faithfulness"][0] is None


def test_only_images_for_a_judge_that_sees(judge, data, tmp_path):
    chunks = [{"image": "charts/fares.png"}, {"image": "charts/fares.png"}]
    run = ragstone.evaluate(data(*chunks), METRICS, judge=judge("openai/gpt-4o"), out=tmp_path / "runs")
    assert cells(run) == {"ragas.faithfulness": (1.0, None)}


def test_a_text_beside_an_image_is_read_and_said(judge, loopback, data, tmp_path):  # noqa: F811
    path = data(ZONES, {"text": "Zone B: 15 €.", "image": "charts/fares.png"})
    options = ["--judge", "openai/gpt-3.5-turbo", "--base-url", loopback.url, "--no-exam", "--no-cache"]
    arguments = ["run", path, "-m", "ragas.faithfulness", "--out", str(tmp_path / "runs"), *options]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "rows with a chunk that has a text and an image: 1. Only the text is read" in said
    assert parts_sent(loopback) == []


def test_a_quote_counts_the_tokens_of_images(judge, data):
    """600 × 300 pixels are two tiles: 85 + 2 · 170 tokens for gpt-4o; of an image on the web 1024 × 1024 are assumed: 765."""
    text = {"text": "Zone B: 15 €.", "id": "x"}
    totals = []
    for image in ("charts/fares.png", "https://example.org/a.png", None):
        path = data(ZONES, {**text, "image": image})
        totals.append(ragstone.quote(path, METRICS, judge=judge("openai/gpt-4o")).total)
    reference = estimate_tokens("Zone B: 15 €.\n[image 1]") - estimate_tokens("Zone B: 15 €.")
    label = estimate_tokens(IMAGE_LABEL)
    local, linked, bare = totals
    assert local.input_tokens - bare.input_tokens == pytest.approx(85 + 2 * 170 + label + reference, abs=2)
    assert linked.input_tokens - local.input_tokens == pytest.approx(765 - (85 + 2 * 170))
    assert linked.cost_usd - local.cost_usd == pytest.approx((765 - 425) * 2.5 / 1e6)
    assert local.calls == bare.calls


def test_a_stored_run_is_rescored_without_its_images(judge, data, tmp_path):
    path = data(ZONES, {"image": "charts/fares.png"})
    run = ragstone.evaluate(path, METRICS, judge=judge("openai/gpt-4o"), out=tmp_path / "runs")
    (tmp_path / "charts" / "fares.png").unlink()
    again = rescore(open_run(run.path), out=str(tmp_path / "again"))
    assert {name: value for name, (value, _) in cells(again).items()} == {"ragas.faithfulness": 1.0}
    assert again.info["dataset"]["folder"] == str(tmp_path)


def test_a_cascade_sends_rows_with_images_to_the_model_that_sees(monkeypatch):
    class Local:
        class card:  # noqa: N801
            reads = staticmethod(lambda *texts: True)
            confidence_for = staticmethod(lambda *about: 0.9)

        signature = "local"

        async def weigh(self, *about):
            raise AssertionError("the local judge does not see images")

    class Model:
        signature, sees_images = "model", True

        def calls_for(self, *about):
            return 1

        async def check(self, question, claims, texts):
            return [["entailment" for _ in texts] for _ in claims]

    monkeypatch.setattr("ragstone.tools.checkers.tally_decisions", lambda *about: None)
    cascade = LocalCascade(Local(), Model(), 0.9)
    assert cascade.sees_images
    assert asyncio.run(cascade.check("?", ["A claim."], [Pictured("", "a.png"), "A text."])) == [["entailment"] * 2]
