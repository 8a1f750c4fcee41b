"""Evidence of a stored run is reused for rows whose inputs are the same, and out of date for others."""

import pytest

import ragstone
from ragstone.engine.rescore import PromptedTool, rescore, stored_tools
from ragstone.engine.stored_evidence import NEVER_MADE, OUT_OF_DATE
from ragstone.formats import open_reader
from ragstone.llm.base import Reply
from ragstone.testing import FakeLLM

ROW = {"question": "Where?", "answer": "On the mole.", "contexts": ["It is here."]}
ROWS = [{"id": str(number), **ROW, "references": [f"On mole {number}."]} for number in range(2)]
PRECISION = "ragchecker.precision"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    judge = FakeLLM(lambda request: Reply(request.guess, "fake/model"))
    return ragstone.evaluate(ROWS, PRECISION, str(tmp_path / "out"), judge=judge)


def cells(run, metric):
    rows = run.scores.to_pylist()
    return [(row["status"], row["reason"]) for row in rows if row["metric"] == metric]


def test_changed_rows_are_out_of_date(run):
    changed = [ROWS[0], {**ROWS[1], "references": ["Somewhere else."]}]
    again = rescore(run, open_reader(changed, None, None, None))
    assert cells(again, PRECISION) == [("ok", None), ("skipped", OUT_OF_DATE)]
    assert again.info["totals"]["calls"] == 0


def test_evidence_that_the_run_does_not_have(run):
    again = rescore(run, metrics=["ragchecker.recall"])
    assert {reason for _, reason in cells(again, "ragchecker.recall")} == {NEVER_MADE}


def test_tools_have_the_stored_signatures(run):
    tools = stored_tools(run)
    assert {name: tool.signature for name, tool in tools.items() if name != "matcher"} == {
        name: signature for name, signature in run.info["tools"].items() if name != "matcher"
    }
    assert isinstance(tools["checker"], PromptedTool)
    assert tools["checker"].prompt_hash("verdicts") == run.info["prompts"]["verdicts"]["hash"]
    assert tools["checker"].prompt_hash("other") == "unknown"
