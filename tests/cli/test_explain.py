"""One sample in full."""

import json
from importlib import resources

import pytest

import ragstone
from ragstone.cli.explain import _next_of_metric
from ragstone.engine.metric_choice import find_metric

HARBOUR = resources.files("ragstone.examples") / "harbour"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two runs of the example."""
    folder = tmp_path_factory.mktemp("store")
    for name in ("better", "worse"):
        ragstone.evaluate(str(HARBOUR / f"{name}.jsonl"), "quick", folder, name=f"harbour-{name}")
    return folder


@pytest.fixture
def there(store, monkeypatch):
    monkeypatch.setenv("RAGSTONE_ROOT", str(store))
    return store


def test_explain_a_sample(cli, there):
    printed = cli("explain", "harbour-worse", "h14")
    assert "h14  row 14 of 25 in harbour-worse" in printed.out
    assert "wrong (90 %): split fact, retriever" in printed.out
    assert "· contains part of fact 1" in printed.out.split("refunds#3")[1].split("refunds#")[0]
    assert "fact_recall" in printed.out


def test_explain_by_row_number(cli, there):
    assert cli("explain", "harbour-worse", "14").out == cli("explain", "harbour-worse", "h14").out


def test_explain_a_metric(cli, there):
    printed = cli("explain", "harbour-worse", "h11", "fact_recall")
    assert "fact_recall = 0.333" in printed.out
    assert "1 of 3 facts = 0.333" in printed.out
    assert "✓ fact 1: A pallet of more than 500 kg" in printed.out
    assert "· fact 2: Freight may stay" in printed.out
    assert "rouge_l" not in printed.out


def test_a_metric_of_a_file_that_is_not_loaded_is_shown_and_names_the_option(cli, there, monkeypatch):
    assert "--metrics-file" not in cli("explain", "harbour-worse", "h11", "fact_recall").out
    # No headline: only the file of the user could say so.
    assert "rouge_1 " not in cli("explain", "harbour-worse", "h11").out
    for module in ("report.explain", "views.sample", "engine.metric_choice"):
        monkeypatch.setattr(
            f"ragstone.{module}.find_metric", lambda name: None if name == "rouge_1" else find_metric(name)
        )
    assert (
        "not defined here: --metrics-file FILE shows its formula"
        in cli("explain", "harbour-worse", "h11", "rouge_1").out
    )
    assert "rouge_1 " in cli("explain", "harbour-worse", "h11").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["h1"], "unknown sample 'h1'. Did you mean"),
        (["26"], "unknown sample '26'."),
        (["0"], "unknown sample '0'."),
        (["h14", "fact_recal"], "unknown metric of this run 'fact_recal'. Did you mean fact_recall"),
        (["h14", "fact_recall@3"], "unknown metric of this run 'fact_recall@3'"),
        (["h14", "\x1b[2J"], "unknown metric of this run"),
    ],
)
def test_explain_what_there_is_not(cli, there, arguments, words):
    printed = cli("explain", "harbour-worse", *arguments)
    assert (printed.code, printed.out) == (2, "")
    assert words in printed.err


def test_explain_for_programs(cli, there):
    found = json.loads(cli("explain", "harbour-worse", "h11", "fact_recall", "--json").out)
    assert found["cause"] == "missing chunk"
    [count] = found["working"]["counts"]
    assert (count["kind"], count["above"], count["below"]) == ("fact", [1], [1, 2, 3])
    assert (count["numerator"], count["denominator"]) == (1, 3)
    assert [(item["number"], item["above"], item["below"]) for item in count["items"]] == [
        (1, 1, 1),
        (2, 0, 1),
        (3, 0, 1),
    ]
    assert count["items"][0]["text"].startswith("A pallet of more than 500 kg")
    assert found["scores"] == [{"metric": "fact_recall", "value": 1 / 3, "status": "ok", "reason": None}]
    assert found["evidence"]["fact_ranks"] == [1, None, None]


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("fact_recall@5", "metrics fact_recall "),
        ("checklist.tone", "metrics checklist "),
        ("mine", "explain latest s1 "),
        ("mine.own", "explain latest s1 "),
    ],
)
def test_the_next_step_is_a_command_that_works(metric, wanted):
    command, _ = _next_of_metric("latest", "s1", metric, "", [])
    assert f"{command} ".endswith(wanted)
