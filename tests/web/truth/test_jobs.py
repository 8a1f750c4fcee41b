"""Background rescoring: one job per run and version, failures are kept and repeated."""

import time
from types import SimpleNamespace

import pytest

from ragstone.errors import UsageError
from ragstone.web import background


@pytest.fixture
def rescoring():
    started = background.Rescoring()
    yield started
    started.close()


RUN = SimpleNamespace(id="r1", info={"dataset": {"rows": 3}})
VERSION = SimpleNamespace(info=SimpleNamespace(name="ferry", number=2))


def finish(job):
    for _ in range(200):
        if not job.is_open:
            return job
        time.sleep(0.01)
    raise AssertionError("the job never finished")


def test_a_job_reports_progress_and_runs_once(rescoring, monkeypatch):
    calls = []

    def score(run, version, progress):
        calls.append(run.id)
        progress(SimpleNamespace(done=3, total=None))
        return SimpleNamespace(id="r2")

    monkeypatch.setattr(background, "rescore_with_truth", score)
    job = finish(rescoring.start(RUN, VERSION))
    assert (job.state, job.result, job.done, job.total) == ("done", "r2", 3, 3)
    assert rescoring.start(RUN, VERSION) is job is rescoring.job("r1", "ferry", 2)
    assert calls == ["r1"]
    assert rescoring.job("r1", "ferry", 1) is None


@pytest.mark.parametrize(
    ("error", "why"), [(UsageError("no cases"), "no cases"), (ValueError("odd"), "ValueError: odd")]
)
def test_a_failed_job_is_repeated(rescoring, monkeypatch, error, why):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(background, "rescore_with_truth", fail)
    job = finish(rescoring.start(RUN, VERSION))
    assert (job.state, why in job.why) == ("failed", True)
    assert finish(rescoring.start(RUN, VERSION)) is not job
