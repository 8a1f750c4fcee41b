"""What a run offers: diagnosis, explanations, worst samples and missing scores."""

import gc
import os

import pytest

import ragstone
from ragstone.analysis.diagnosis import diagnose
from ragstone.engine.evaluate import evaluate
from ragstone.errors import StorageError, UnknownNameError, UsageError
from tests.cli.test_find_run import HARBOUR


def test_the_diagnosis_is_that_of_the_command(worse):
    found = worse.diagnose()
    assert isinstance(found, ragstone.Diagnosis)
    assert found.limits == diagnose(worse).limits == "both"
    assert found.headline.split(",")[0] in str(found)
    assert found.as_dict()["failing"] == found.failing > 0
    assert worse.diagnose() is found


def test_a_diagnosis_with_the_chunks_of_the_index(worse):
    found = worse.diagnose(chunks=str(HARBOUR / "chunks.jsonl"), documents=[str(HARBOUR / "documents")])
    assert found is not worse.diagnose()
    assert found.samples == 25


def test_documents_need_chunks(worse):
    with pytest.raises(UsageError, match="documents needs chunks"):
        worse.diagnose(documents=["docs"])


def test_the_worst_samples_fail(worse):
    found = worse.worst(3)
    assert len(found) == 3
    assert [sample.cause is not None for sample in found] == [True] * 3
    assert found[0].quality <= found[1].quality <= found[2].quality
    assert found[0].scores["fact_recall"] == 0
    assert found[:2] == tuple(found)[:2]


def test_as_many_as_there_are(worse):
    assert len(worse.worst(1000)) == 25
    assert len(repr(worse.worst(8)).splitlines()) == 9
    with pytest.raises(UsageError, match="n must be a whole number, 1 or more, got 0"):
        worse.worst(0)
    with pytest.raises(UsageError, match="n must be a whole number, 1 or more, got 'token_f1'"):
        worse.worst("token_f1")


def test_a_sample_by_id_by_row_and_as_an_item(worse):
    first = worse.worst(1)[0]
    by_id, by_row, by_item = worse.explain(first.id), worse.explain(first.row), worse.explain(first)
    assert by_id.sample.id == by_row.sample.id == by_item.sample.id == first.id
    assert by_id.cause == first.cause
    assert {finding.cause.name for finding in by_id.findings} >= {first.cause}


def test_how_one_score_was_computed(worse):
    found = worse.explain(1, "fact_recall")
    assert found.working.counts[0].value == found.cells[0].value
    assert found.as_dict()["working"]["formula"]


def test_an_unknown_sample_is_refused_with_a_suggestion(worse):
    with pytest.raises(UnknownNameError, match=r"unknown sample 'h011'\. Did you mean"):
        worse.explain("h011")


def test_missing_scores_have_reasons(worse):
    found = {item.metric: item for item in worse.missing}
    assert (found["recall"].status, found["recall"].count) == ("skipped", 2)
    assert found["recall"].reason == "no relevance and no reference contexts"
    assert len(found["recall"].examples) == 2
    assert worse.missing.failed == ()
    assert worse.missing.cells().num_rows == sum(item.count for item in worse.missing)


def test_a_run_is_opened_by_name_id_path_and_as_the_newest(worse, better, store, monkeypatch):
    assert ragstone.open_run("harbour-worse", root=store).id == worse.id
    assert ragstone.open_run(worse.path).id == worse.id
    monkeypatch.setenv("RAGSTONE_ROOT", str(store))
    assert ragstone.open_run(worse.id).name == "harbour-worse"
    assert ragstone.open_run("latest").id == max(worse.id, better.id)
    assert isinstance(ragstone.open_run("latest"), ragstone.Run)


def test_a_wrong_name_of_a_run(store, worse, tmp_path):
    with pytest.raises(UnknownNameError, match=r"Did you mean harbour-worse"):
        ragstone.open_run("harbour-wors", root=store)
    with pytest.raises(StorageError, match=r"root\) names another root"):
        ragstone.open_run("main", root=tmp_path)


def test_a_run_without_a_store_lives_as_long_as_the_object():
    run = ragstone.evaluate([{"answer": "a", "references": ["a"]}], "token_f1")
    gc.collect()
    path = run.path
    assert os.path.exists(path)
    assert run.summary()["token_f1"].mean == 1
    del run
    gc.collect()
    assert not os.path.exists(path)


def test_a_stored_run_of_the_inner_layers_is_accepted(store, tmp_path):
    inner = evaluate([{"answer": "a", "references": ["a"]}], "token_f1", tmp_path)
    assert ragstone.gate(inner, min={"token_f1": 0.5}).outcome == "cannot tell"
