"""Tools are closed exactly once, on every way through a run."""

import pytest

import ragstone
from ragstone.engine.backends.arrow import score_batches
from ragstone.errors import RagstoneError
from ragstone.llm.base import Reply
from ragstone.testing import FakeLLM
from tests.engine.backends.rows import METRICS, rows

ROW = {"id": "1", "question": "Where?", "answer": "On the mole.", "contexts": ["x"], "references": ["On the mole."]}
PRECISION = "ragchecker.precision"


def by_guess(request):
    return Reply(request.guess, "fake/model", input_tokens=1, output_tokens=1)


class CountingLLM(FakeLLM):
    """Counts how often it is closed."""

    def __init__(self):
        super().__init__(by_guess)
        self.closings = 0

    async def close(self):
        self.closings += 1
        await super().close()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("options", [{}, {"cache": False}, {"deadline_s": 60.0}])
def test_local_run(options):
    llm = CountingLLM()
    run = ragstone.evaluate([ROW], PRECISION, judge=llm, **options)
    assert run.summary()[PRECISION].n_ok == 1
    assert llm.closings == 1


def test_run_with_bad_data():
    llm = CountingLLM()
    with pytest.raises(RagstoneError):
        ragstone.evaluate("missing.jsonl", PRECISION, judge=llm)
    assert llm.closings == 1


@pytest.mark.slow
def test_run_in_processes(tmp_path):
    llm = CountingLLM()
    ragstone.evaluate(rows(4), METRICS, tmp_path, workers=2, judge=llm)
    assert llm.closings == 1


def test_batches():
    llm = CountingLLM()
    table = ragstone.read_dataset([ROW]).table
    assert list(score_batches([PRECISION], judge=llm)(table.to_batches()))
    assert llm.closings == 1
