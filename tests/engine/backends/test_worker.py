"""A worker computes and stores the parts that it gets, from settings that can be pickled."""

import pickle

import pytest

from ragstone.engine.backends.worker import PartWorker, find_environment, make_kit
from ragstone.engine.execute import cut_parts, open_samples
from ragstone.engine.ingest import ingest
from ragstone.engine.plan import make_plan
from ragstone.engine.progress import silent
from ragstone.formats import open_reader
from ragstone.registry import resolve_metrics
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder, read_table
from ragstone.text.matchers import make_matcher
from tests.engine.backends.rows import rows


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(open_place(str(tmp_path)))


def prepare(folder, **judging):
    profile = ingest(open_reader(rows(20), None, None, None), folder.samples, silent)
    plan = make_plan(
        resolve_metrics(["token_f1", "fact_recall"]), profile.present, {"matcher": make_matcher("citation")}
    )
    with open_samples(folder) as samples:
        parts = list(cut_parts(samples, plan))
    return make_kit(plan, folder, "citation", judging, 4), parts


def test_parts_are_stored_once(folder):
    kit, parts = prepare(folder)
    worker = PartWorker(pickle.loads(pickle.dumps(kit)))
    try:
        done = worker.work(parts)
        stored = folder.part(0).scores
        written = read_table(stored)
        assert [(item.number, item.rows, item.problem) for item in done] == [(0, 20, None)]
        assert written.num_rows == 40
        assert worker.work(parts) == done
    finally:
        worker.close()


def test_missing_samples_are_reported(folder):
    kit, parts = prepare(folder)
    folder.samples.remove()
    worker = PartWorker(kit)
    [done] = worker.work(parts)
    worker.close()
    assert done.rows == 0
    assert "cannot find" in done.problem


def test_workers_get_keys_which_the_kit_does_not_show(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    monkeypatch.setenv("UNRELATED", "value")
    kit, _ = prepare(folder)
    assert find_environment()["OPENAI_API_KEY"] == "secret-key"
    assert "UNRELATED" not in find_environment()
    assert "secret-key" not in repr(kit)
