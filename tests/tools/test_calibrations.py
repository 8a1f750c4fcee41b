"""Records about judges: stored by signature, read once per run, handed over to other processes."""

import asyncio

import pytest

from ragstone.engine.backends.worker import Kit
from ragstone.llm.cache import open_cache
from ragstone.llm.prompts import PromptBook
from ragstone.stats.judge_error import JudgeError, Level
from ragstone.stats.logit import Platt
from ragstone.tools.calibrations import EXAM, LABELS, MATCH, SUPPORT, Calibrations, _map_key, store_error, store_map
from ragstone.tools.open_tools import ToolFactory
from ragstone.tools.token_judges import TokenChecker, TokenGrader
from tests.tools.checking import in_text
from tests.tools.test_token_judges import LAKE, YesNo

ERROR = JudgeError(Level(0.9, 0.02, 0.05, 30), Level(0.2, 0.03, 0.05, 20))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


class Checker:
    signature = "fake/checker"

    def prompt_hash(self, name):
        return f"hash of {name}"


def test_maps_by_task_judge_and_prompts():
    store_map(SUPPORT, "judge", "prompts", Platt(0.5, -1.0), EXAM)
    known = Calibrations()
    assert known.map_for(SUPPORT, "judge", "prompts") == Platt(0.5, -1.0)
    for other in ((MATCH, "judge", "prompts"), (SUPPORT, "other", "prompts"), (SUPPORT, "judge", "other")):
        assert known.map_for(*other) is None
    store_map(SUPPORT, "judge", "prompts", None, EXAM)
    assert known.map_for(SUPPORT, "judge", "prompts") == Platt(0.5, -1.0), "one run, one calibration"
    assert Calibrations().map_for(SUPPORT, "judge", "prompts") is None


def test_switched_off_and_handed_over():
    store_map(SUPPORT, "judge", "prompts", Platt(0.5, -1.0), EXAM)
    assert Calibrations(known=False).map_for(SUPPORT, "judge", "prompts") is None
    here = Calibrations()
    here.map_for(SUPPORT, "judge", "prompts")
    open_cache().clear()
    assert Calibrations(here.records).map_for(SUPPORT, "judge", "prompts") == Platt(0.5, -1.0)
    store_map(SUPPORT, "judge", "prompts", Platt(2.0, 0.0), EXAM)
    assert Calibrations({}).map_for(SUPPORT, "judge", "prompts") is None, "a worker does not read its own cache"


@pytest.mark.parametrize("record", [{"slope": "x"}, {"slope": 1.0}, 7, ["a"]])
def test_a_broken_record_is_none(record):
    open_cache().write(_map_key(SUPPORT, "judge", "prompts"), record)
    assert Calibrations().map_for(SUPPORT, "judge", "prompts") is None


def test_labels_count_more_than_the_exam():
    store_error("fake/checker", ERROR, EXAM, "hash of verdicts")
    found = Calibrations().error_of("ragchecker.precision", "precision|v1", Checker())
    assert found == {**ERROR.as_dict(), "source": EXAM}
    assert Calibrations().error_of("ragchecker.faithfulness", "faithfulness|v1", Checker()) is None
    assert Calibrations().error_of("ragchecker.precision", "precision|v1", None) is None
    store_error("precision|v1", ERROR, LABELS)
    assert Calibrations().error_of("ragchecker.precision", "precision|v1", Checker())["source"] == LABELS


def test_calibrated_verdicts_and_their_signature():
    """The word goes by the calibrated probability, and contradiction is asked for where that is low."""
    model, book = YesNo(lambda kind, *_: 0.6 if kind == "support" else 0.9), PromptBook()
    plain = TokenChecker(model, book)
    store_map(SUPPORT, plain.uncalibrated, plain.prompt_hash("verdicts"), Platt(1.0, -2.0), EXAM)
    checker = TokenChecker(model, book, calibrations=Calibrations())
    assert plain.signature == plain.uncalibrated
    assert checker.signature == f"{plain.signature};calibrated=support/1.0000/-2.0000"
    [before], [after] = (asyncio.run(in_text(one, "q", [LAKE], LAKE)) for one in (plain, checker))
    assert (before, before.support) == ("entailment", 0.6)
    assert after == "contradiction"
    assert after.support == pytest.approx(Platt(1.0, -2.0)(0.6), abs=1e-3)


def test_calibrated_matches():
    model, book = YesNo(lambda *_: 0.8), PromptBook()
    plain = TokenGrader(model, book)
    store_map(MATCH, plain.uncalibrated, plain.prompt_hash("answer_match"), Platt(0.5, 0.0), LABELS)
    grader = TokenGrader(model, book, calibrations=Calibrations())
    assert grader.signature.endswith(";calibrated=match/0.5000/0.0000")
    assert asyncio.run(grader.matches("q", "yes", ["yes"])) == [pytest.approx(2 / 3)]
    assert TokenChecker(model, book, calibrations=Calibrations()).signature == plain.uncalibrated


def test_a_worker_signs_as_the_run_does():
    """The options that a worker gets contain the calibrations of the process that planned the run."""
    options = {"judge": YesNo(lambda *_: 0.8), "verdicts": "tokens"}
    plain = ToolFactory(options, 1).tools["grader"]
    store_map(MATCH, plain.uncalibrated, plain.token_prompts, Platt(0.5, 0.0), LABELS)
    here = ToolFactory(options, 1)
    signature = here.tools["grader"].signature
    assert ";calibrated=match/" in signature
    open_cache().clear()
    kit = Kit(None, "", "citation", {**options, "calibration": here.calibrations.records}, 1)
    assert ToolFactory(kit.judging, 1).tools["grader"].signature == signature
