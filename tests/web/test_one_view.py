"""One sample and one diagnosis are the same in the terminal, in JSON, in the report, in a notebook and in the viewer: words, values and order."""

import json
import re
from dataclasses import asdict
from html import unescape

import pytest
from rich.console import Console

from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.explain import explain_sample
from ragstone.analysis.sample_order import find_worst_samples
from ragstone.number_format import number
from ragstone.report.diagnosis import diagnosis_dict, full_report
from ragstone.report.explain import explanation_dict, explanation_report, explanation_view
from ragstone.report.html.notebook import diagnosis_fragment, explanation_fragment
from ragstone.report.html.run_page import run_html
from ragstone.report.markdown import run_markdown
from ragstone.views.diagnosis import DiagnosisView
from ragstone.views.marks import FULL, Limits
from ragstone.views.phrases import visible


def squeeze(text):
    return " ".join(text.split())


def text_of(html):
    return squeeze(unescape(re.sub(r"<style>.*?</style>|<[^>]*>", "", html, flags=re.DOTALL)))


def markdown(run):
    return squeeze(unescape(re.sub(r"</?(sub|details|summary)>", "", run_markdown(run))).replace("\\", ""))


def terminal(report):
    console = Console(width=2000, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(report)
    return squeeze(captured.get())


@pytest.fixture(scope="module", params=[("hostile", 2), ("worse", 8), ("better", 3)], ids=lambda param: param[0])
def sample(request, viewer):
    name, row = request.param
    run = request.getfixturevalue(name)
    explanation = explain_sample(run, str(row))
    report = run_html(run, all_samples=True)
    mine = re.split(r'<details class="sample|</section>', report.split(f'id="s{row}"')[1])[0]
    texts = {
        "terminal": terminal(explanation_report(explanation, full=True)),
        "report": text_of(f"<p{mine}"),
        "notebook": text_of(explanation_fragment(explanation)),
        "viewer": squeeze(viewer.page(f"/runs/{run.id}/samples/{row}").text("main")),
    }
    data = viewer.json(f"/runs/{run.id}/samples/{row}.json")
    return explanation_view(explanation, Limits(FULL)), texts, explanation_dict(explanation), data


def in_order(words, text):
    at = 0
    for word in words:
        assert word in text[at:], f"{word!r} is not in its place"
        at = text.index(word, at) + len(word)


def test_verdicts_and_marks_have_the_same_words_in_the_same_order(sample):
    view, texts, _, _ = sample
    assert view.chunks
    for text in texts.values():
        in_order([word for finding in view.findings for word in (finding.about, finding.why)], text)
        for group in view.claims:
            in_order(
                [claim.said.words for claim in group.rows if claim.said], text.split(f"laims of the {group.whose}")[1]
            )
        in_order([f"{mark.sign} {mark.words}" for chunk in view.chunks for mark in chunk.badges], text)


def test_the_cause_is_the_same(sample):
    view, texts, printed, page = sample
    assert (printed["cause"] or "", printed["why"]) == (page["sample"]["cause"], page["sample"]["why"])
    assert view.why in texts["terminal"]
    for name in ("report", "notebook"):
        assert view.why.lower() in texts[name].lower()
    assert all(view.cause in text for text in texts.values())


def test_scores_are_the_same_in_the_same_order(sample):
    view, texts, printed, page = sample
    values = [(cell.metric, cell.value) for cell in view.scores]
    assert values == [(cell["metric"], cell["value"]) for cell in printed["scores"]]
    assert values == [(cell["metric"], cell["value"]) for cell in page["scores"]]
    for name in ("terminal", "report", "notebook"):
        in_order([f"{cell.metric} {number(cell.value)}" for cell in view.scored], texts[name])


def test_json_has_what_the_viewer_has(sample):
    view, _, printed, page = sample
    plain = json.loads(json.dumps({name: printed[name] for name in ("claims", "facts", "judged", "steps", "chunks")}))
    for group, seen in zip(plain["claims"], page["claims"], strict=True):
        assert group["rows"] == [{key: row[key] for key in group["rows"][0]} for row in seen["rows"]]
    assert plain["facts"] == [{key: fact[key] for key in plain["facts"][0]} for fact in page["facts"]]
    assert (plain["judged"], plain["steps"]) == (page["judged"], page["steps"])
    assert [chunk["marks"] for chunk in plain["chunks"]] == [chunk["badges"] for chunk in page["chunks"]]
    assert [asdict(mark) for mark in view.chunks[0].badges] == page["chunks"][0]["badges"]


@pytest.fixture(scope="module", params=["hostile", "worse", "better"])
def diagnosed(request, viewer):
    run = request.getfixturevalue(request.param)
    diagnosis = diagnose(run)
    texts = {
        "terminal": terminal(full_report(diagnosis, run.name)),
        "markdown": markdown(run),
        "report": text_of(run_html(run).split('id="worst"')[0]),
        "notebook": text_of(diagnosis_fragment(diagnosis, run.name)),
        "viewer": squeeze(viewer.page(viewer.ready(run)["run"]["address"]).text("main")),
    }
    return run, DiagnosisView.of(diagnosis), texts, diagnosis_dict(diagnosis), viewer.ready(run)


def test_a_diagnosis_is_the_same(diagnosed):
    _, view, texts, printed, page = diagnosed
    seen = page["diagnosis"]
    assert [(c.name, c.main, c.samples) for c in view.causes] == [
        (c["cause"], c["main_of"], c["samples"]) for c in printed["causes"]
    ]
    assert [(c.name, c.main, c.samples, list(c.examples)) for c in view.causes] == [
        (c["name"], c["main"], c["samples"], c["examples"]) for c in seen["causes"]
    ]
    assert [c["examples"] for c in printed["causes"]] == [c["examples"] for c in seen["causes"]]
    assert (printed["headline"], printed["failing"], printed["text"]) == (
        seen["headline"], seen["failing"], seen["failing_text"],
    )  # fmt: skip
    assert (
        [a["text"] for a in printed["advice"]] == [a["text"] for a in seen["advice"]] == [a.text for a in view.advice]
    )
    for name, text in texts.items():
        assert view.headline in text
        if view.causes:
            title = f"why {view.failing_text}" if name == "markdown" else view.causes_title
            in_order([cause.name for cause in view.causes], text.lower().split(title.lower())[1])
        in_order([f"{item.text} {item.reasons}" for item in view.advice], text)
        assert all(note in text for note in (*view.notes, view.disagreement))
    for name in ("terminal", "report", "notebook"):
        for part in view.parts:
            in_order([reading.metric for reading in part.readings], texts[name])


def test_the_worst_samples_come_in_the_same_order(diagnosed):
    run, _, _, _, page = diagnosed
    listed = [item.row for item in find_worst_samples(run, diagnose(run), 5)]
    assert [row["row"] for row in page["table"]["rows"]][: len(listed)] == listed
    assert [int(row) for row in re.findall(r'id="s(\d+)"', run_html(run, worst=5))] == listed
    ids = [squeeze(visible(sample.id)).replace("\\", "") for sample in find_worst_samples(run, diagnose(run), 5)]
    in_order(ids, markdown(run).split("worst samples")[1])
