"""Citations and facts of a judge on the page of a sample, in the HTML report and in the terminal."""

import io

import pytest
from rich.console import Console

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.report.explain import explanation_report
from tests.golden.test_alce import ROW


@pytest.fixture(scope="module")
def cited(tmp_path_factory):
    root = tmp_path_factory.mktemp("cited")
    row = {**ROW, "answer": ROW["answer"].replace("[9]", "<b>[9]</b>")}
    facts = {
        "facts": ["The ferry takes sixty minutes.", "one"],
        "contexts": ["one", "two", "A trip by ferry: one hour.", "x"],
    }
    return root, ragstone.evaluate([{**row, **facts}], ["citations", "fact_recall"], root, matcher=_Judged())


class _Judged:
    """A matcher that names a sentence, as the judge does."""

    name, signature = "judge", "own/1"

    def find(self, facts, chunks):
        yield 0, 2, 0, len(chunks[2]), 0.8
        yield 1, 0, 0, 3, 1.0


def test_the_page_of_a_sample(serve, cited):
    root, run = cited
    viewer = serve(root)
    found = viewer.json(f"/runs/{run.id}/samples/1.json")
    [answer] = found["claims"]
    assert [(claim["cites"]["tone"], claim["cites"]["words"]) for claim in answer["rows"]] == [
        ("good", "cites chunk 1"),
        ("good", "cites chunks 1 and 3, chunk 1 needlessly"),
        ("good", "cites chunks 2 and 4, which support it together"),
        ("bad", "cites chunk 2, but chunk 1 supports it"),
        ("silent", "cites nothing"),
        ("bad", "cites [9], which was not retrieved; no chunk supports it"),
    ]
    scores = {score["metric"]: score["counts"] for score in found["scores"]}
    assert scores["citation_precision"][0]["plural"] == "citations"
    assert [item["text"] for item in scores["citation_precision"][0]["items"]][-1] == "[9] (not retrieved)"
    stated, contained = found["facts"]
    assert [(one["exact"], one["probability"]) for one in stated["quotes"]] == [(False, 0.8)]
    assert [(one["exact"], one["probability"]) for one in contained["quotes"]] == [(True, None)]
    page = viewer.ask(f"/runs/{run.id}/samples/1")[1].decode()
    assert "cites chunk 2, but chunk 1 supports it" in page
    assert "stated; nearest sentence" in page


def test_the_terminal(cited):
    _, run = cited
    for width in (80, 160):
        screen = io.StringIO()
        Console(file=screen, width=width).print(explanation_report(explain_sample(run, "1")))
        assert "citations" in screen.getvalue()
        assert "cites nothing" in " ".join(screen.getvalue().split())
    screen = io.StringIO()
    Console(file=screen, width=160).print(explanation_report(explain_sample(run, "1", "citation_precision")))
    assert "4 of 7 citations = 0.571" in screen.getvalue()


def test_the_report(cited, tmp_path):
    from ragstone.analysis.sample_evidence import read_cases
    from ragstone.views.sample import claim_groups

    _, run = cited
    [case] = read_cases(run)
    assert claim_groups(case)[0].rows[0].cites.words == "cites chunk 1"
