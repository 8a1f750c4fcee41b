"""evaluate, quote, compare and gate as Python functions."""

import asyncio
import inspect
from dataclasses import fields

import pytest

import ragstone
from ragstone.compare.comparison import compare_runs
from ragstone.compare.gate_conditions import parse_checks
from ragstone.compare.gates import check_gate
from ragstone.errors import UnknownNameError, UsageError
from ragstone.testing import FakeLLM
from ragstone.tools.model_options import ModelOptions

ROWS = [
    {"id": str(row), "question": f"When on day {row}?", "answer": "At nine.", "references": ["nine"]}
    for row in range(3)
]


@pytest.mark.parametrize("function", [ragstone.evaluate, ragstone.quote])
def test_every_model_option_is_in_the_signature_and_the_help(function):
    parameters = inspect.signature(function).parameters
    for option in fields(ModelOptions):
        assert parameters[option.name].default == option.default
        assert parameters[option.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"        {option.name}: " in function.__doc__
    assert not [one for one in parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]


@pytest.mark.parametrize("function", [ragstone.evaluate, ragstone.compare, ragstone.gate, ragstone.open_run])
def test_every_argument_is_in_the_help(function):
    signature = inspect.signature(function)
    assert [name for name in signature.parameters if f"        {name}: " not in function.__doc__] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ragstone.evaluate(ROWS, juge="x"), r"evaluate\(\) .*'juge'\. Did you mean judge"),
        (lambda: ragstone.evaluate(ROWS, metric="x"), r"'metric'\. Did you mean metrics"),
        (lambda: ragstone.quote(ROWS, budgt="x"), r"quote\(\) .*'budgt'\. Did you mean budget"),
        (lambda: ragstone.compare(1, 2, slice="x"), r"compare\(\) .*'slice'\. Did you mean slices"),
        (lambda: ragstone.gate(1, maxdrop=0.1), r"gate\(\) .*'maxdrop'\. Did you mean max_drop"),
    ],
)
def test_a_misspelled_argument_is_refused_with_a_suggestion(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_progress_calls_a_function():
    seen = []
    ragstone.evaluate(ROWS, "token_f1", progress=seen.append)
    assert {one.stage for one in seen} >= {"reading", "evaluating", "finishing"}
    assert isinstance(seen[0], ragstone.Progress)


def test_nothing_is_printed_unless_asked(capsys):
    ragstone.evaluate(ROWS, "token_f1")
    ragstone.evaluate(ROWS, "token_f1", progress=False)
    assert capsys.readouterr() == ("", "")
    ragstone.evaluate(ROWS, "token_f1", progress=True)
    assert "3 of 3 rows" in capsys.readouterr().err


def test_inside_a_running_event_loop():
    """As in a notebook."""

    async def cell():
        judge = FakeLLM(lambda request: '{"match": true}')
        return ragstone.evaluate(ROWS, ["token_f1", "answer_match"], judge=judge, exam=False, cache=False)

    run = asyncio.run(cell())
    assert run.summary()["token_f1"].n_ok == 3
    assert [item.metric for item in run.missing.failed] in ([], ["answer_match"])


def test_progress_moves_if_the_judge_fails():
    judge, seen = FakeLLM(lambda request: RuntimeError("away")), []
    ragstone.evaluate(ROWS, "answer_match", judge=judge, exam=False, cache=False, concurrency=1, progress=seen.append)
    assert {one.done for one in seen if one.stage == "evaluating"} >= {0, 1, 3}


def test_a_failed_cell_keeps_its_reason():
    def judge(prompts):
        raise RuntimeError("no route to the judge")

    run = ragstone.evaluate(ROWS, "answer_match", judge=judge, exam=False, cache=False)
    [missing] = run.missing.failed
    assert (missing.metric, missing.count) == ("answer_match", 3)
    assert "no route to the judge" in missing.reason
    assert "no route to the judge" in repr(run.missing)


def test_a_comparison_is_that_of_the_command(worse, better, store):
    found = ragstone.compare(worse, "harbour-better", root=store)
    inner = compare_runs(worse, better)
    assert found.metrics == inner.metrics
    assert found["fact_recall"].verdict == "better"
    assert found.headline in str(found)
    assert isinstance(found.after, ragstone.Run)


def test_options_of_a_comparison(worse, better):
    found = ragstone.compare(worse, better, "token_f1", slices=["topic"], correction="holm")
    assert [item.metric for item in found.metrics] == ["token_f1"]
    assert found.settings.correction == "holm"
    assert found.slices
    with pytest.raises(UnknownNameError, match="Did you mean holm"):
        ragstone.compare(worse, better, correction="hollm")


def test_a_gate_is_that_of_the_command(worse, better):
    found = ragstone.gate(better, against=worse, max_drop=0.02, min={"token_f1": 0.1}, max={"token_f1": 0.99})
    texts = {"min": ["token_f1=0.1"], "max": ["token_f1=0.99"], "max-drop": ["0.02"]}
    checks = [check for kind, given in texts.items() for check in parse_checks(kind, given)]
    assert found.checks == check_gate(better, checks, worse).checks
    assert found.as_dict()["exit_code"] == found.exit_code


def test_a_gate_is_true_only_if_it_passes(worse, better):
    assert ragstone.gate(better, min={"token_f1": 0.1})
    assert not ragstone.gate(worse, min={"token_f1": 0.99})
    unsure = ragstone.gate(better, min={"recall": 0.9})
    assert (unsure.outcome, bool(unsure)) == ("cannot tell", False)
    warned = ragstone.gate(better, min={"recall": 0.9}, inconclusive="pass")
    assert (warned.outcome, bool(warned), warned.exit_code) == ("cannot tell", True, 0)
    assert not ragstone.gate(worse, min={"token_f1": 0.99}, inconclusive="pass")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a gate needs a condition: min="),
        ({"min": {}}, "a gate needs a condition"),
        ({"max_drop": 0.02}, "need against=RUN"),
        ({"against": "old", "max_worse": {"a": 0.5}}, "^max_worse a=0.5: the number of samples is a whole number"),
        ({"against": "old", "max_drop": "much"}, "^max_drop much: 'much' is not a number"),
        ({"min": 0.5}, "^min must be a mapping of metrics and numbers"),
        ({"against": "old"}, "against needs max_drop"),
        ({"min": {"token_f1": 0.1}, "inconclusive": "yes"}, "inconclusive must be pass or fail, got 'yes'"),
    ],
)
def test_what_a_gate_needs(worse, options, message):
    with pytest.raises(UsageError, match=message):
        ragstone.gate(worse, **options)


def test_a_quote(worse):
    found = ragstone.quote(ROWS, ["answer_match"], judge="openai/gpt-4o-mini", base_url="http://127.0.0.1:9/v1")
    assert isinstance(found, ragstone.Quote)
    assert found.total.calls == 3
    assert repr(found).startswith("Quote for 3 rows: 3 calls")
    assert "answer_match" in str(found)
