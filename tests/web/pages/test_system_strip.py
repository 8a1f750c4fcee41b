"""Latency, tokens and cost of the evaluated system on the pages of runs, a run and a sample, and in the report."""

import pytest

import ragstone
from ragstone.report.html.run_page import run_html
from tests.report.pages import Page

HOSTILE = '"><script>alert(1)</script>'


def timed(root, name, factor, **more):
    rows = [
        {
            "id": HOSTILE if number == 11 else f"row {number}",
            "question": f"What is the fare {number}?",
            "answer": "ten",
            "references": ["ten"],
            "latency_s": factor * (number + 1),
            "input_tokens": 1000 + number,
            "output_tokens": 50,
            "cost_usd": 0.0001 * factor,
            **more,
        }
        for number in range(12)
    ]
    return ragstone.evaluate(rows, ["exact_match", "system"], root, name=name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("timed")
    rows = [{"question": "Where?", "answer": "here", "references": ["here"]}]
    return root, timed(root, "fast", 1), timed(root, "slow", 2), ragstone.evaluate(rows, ["exact_match"], root)


@pytest.fixture(scope="module")
def client(serve, runs):
    return serve(runs[0])


def test_a_run_has_the_strip_and_links_to_outliers(client, runs):
    _, fast, _, _ = runs
    found = client.ready(fast)["system"]
    assert found["figures"] == pytest.approx(
        {"latency_p50": 6.5, "latency_p95": 11.45, "input_tokens": 1005.5, "output_tokens": 50, "cost_per_1000": 0.1}
    )
    page = client.page(f"/runs/{fast.id}")
    assert {f"/runs/{fast.id}/samples/{row}" for row in (12, 11, 10)} <= set(page.links)
    assert "6.50 s p50, 11.4 s p95" in page.text()
    assert "1,006 → 50" in page.text()
    assert "system cost per 1,000 answers" in page.text()
    assert not [script for script in page.find("script") if "src" not in script and script.get("type") is None]


def test_the_report_has_the_same_strip(runs):
    report = Page(run_html(runs[1]))
    assert "6.50 s p50, 11.4 s p95" in report.text()
    assert "Slowest: " in report.text()


def test_a_run_without_numbers_names_the_columns_and_its_sample_is_silent(client, runs):
    bare = runs[3]
    assert (
        "add latency_s, input_tokens, output_tokens, cost_usd to the metadata" in client.page(f"/runs/{bare.id}").text()
    )
    assert "system latency" not in client.page(f"/runs/{bare.id}/samples/1").text()


def test_a_sample_has_its_rank_once(client, runs):
    _, _, slow, _ = runs
    page = client.page(f"/runs/{slow.id}/samples/12")
    assert "24.0 s, slowest of 12" in page.text()
    # Not as a chip of the metadata too.
    assert "latency_s:" not in page.text()
    assert client.json(f"/runs/{slow.id}/samples/12.json")["system"]["amounts"]["latency_s"] == 24


def test_the_list_of_runs_has_columns_that_sort(client, runs):
    _, fast, slow, bare = runs
    found = client.json("/runs.json?sort=system:latency&dir=down")
    assert [run["id"] for run in found["runs"]] == [slow.id, fast.id, bare.id]
    assert [column["name"] for column in found["system"]] == ["latency", "tokens", "cost"]
    # The system is not shown twice.
    assert not any(column["metric"].startswith("system.") for column in found["metrics"])
    assert "13.0 s p5022.9 s p95" in client.page("/runs").text()


def test_the_columns_are_hidden_if_no_run_has_them(serve, tmp_path):
    rows = [{"question": "Where?", "answer": "here", "references": ["here"]}]
    ragstone.evaluate(rows, ["exact_match"], tmp_path)
    client = serve(tmp_path)
    assert client.json("/runs.json")["system"] == []
    assert "system latency" not in client.page("/runs").text()
