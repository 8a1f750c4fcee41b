"""Judge: the models of a run as one value; score_row with a judge."""

import pickle

import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.testing import FakeLLM
from ragstone.tools.judging_options import OPTIONS, Judge, as_judge

ROW = {"id": "1", "question": "When?", "answer": "At nine.", "references": ["nine"]}


def test_a_wrong_value_is_an_error_at_once():
    with pytest.raises(UsageError, match="repeats must be 1 or more"):
        Judge("openai/gpt-4o-mini", repeats=0)
    with pytest.raises(TypeError, match="not another Judge"):
        Judge(Judge("local"))


def test_options_are_kept_and_can_be_added_to():
    judge = Judge("openai/gpt-4o-mini", repeats=3, matcher="fuzzy")
    assert repr(judge) == "Judge('openai/gpt-4o-mini', matcher='fuzzy', repeats=3)"
    more = as_judge(judge, checker="local", offline=True)
    assert (more.matcher, more.model) == ("fuzzy", "openai/gpt-4o-mini")
    assert more.options == {**judge.options, "checker": "local", "offline": True}
    assert repr(as_judge(None)) == "Judge(None)"
    assert pickle.loads(pickle.dumps(judge)).options == judge.options
    assert {"repeats", "embedder", "concurrency", "checker"} <= set(OPTIONS)


@pytest.mark.parametrize("bare", [True, False])
def test_score_row_with_a_judge(bare):
    model = FakeLLM(lambda request: '{"matches": [1]}')
    judge = model if bare else Judge(model, cache=False)
    assert ragstone.score_row(ROW, "answer_match", judge=judge).value == 1.0
    assert ragstone.score_row(ROW, "answer_match").status == "skipped"


def test_score_row_keeps_the_reason():
    judge = Judge(FakeLLM(lambda request: RuntimeError("away")), cache=False)
    score = ragstone.score_row(ROW, "answer_match", judge=judge)
    assert (score.value, score.status) == (None, "failed")
    assert "away" in score.reason
    assert ragstone.score_row({"answer": "x"}, "answer_match", judge=judge).status == "skipped"
    assert ragstone.score_row(ROW, lambda_free, judge=judge).value == 0.5


def lambda_free(answer: str) -> float:
    return 0.5
