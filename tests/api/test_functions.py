"""evaluate, quote, compare and gate as Python functions."""

import asyncio
import functools
import inspect
import time

import pytest

import ragstone
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.gate_conditions import parse_checks
from ragstone.analysis.gates import check_gate
from ragstone.errors import DefinitionError, UnknownNameError, UsageError
from ragstone.registry import Catalogue
from ragstone.registry.declare import metric_names
from ragstone.testing import FakeLLM

ROWS = [
    {"id": str(row), "question": f"When on day {row}?", "answer": "At nine.", "references": ["nine"]}
    for row in range(3)
]


def test_about_a_dozen_arguments():
    """Everything about a model belongs to `Judge`."""
    for function in (ragstone.evaluate, ragstone.quote, ragstone.compare, ragstone.gate):
        parameters = inspect.signature(function).parameters.values()
        assert len(parameters) <= 13
        assert not [one for one in parameters if one.kind is inspect.Parameter.VAR_KEYWORD]


@pytest.mark.parametrize(
    "function", [ragstone.evaluate, ragstone.compare, ragstone.gate, ragstone.open_run, ragstone.collect]
)
def test_every_argument_is_in_the_help(function):
    signature = inspect.signature(function)
    names = [one.name for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    assert [name for name in names if f"        {name}: " not in function.__doc__] == []


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
        return ragstone.evaluate(
            ROWS, ["token_f1", "answer_match"], judge=ragstone.Judge(judge, exam=False, cache=False)
        )

    run = asyncio.run(cell())
    assert run.summary()["token_f1"].n_ok == 3
    assert [item.metric for item in run.missing.failed] in ([], ["answer_match"])


def test_progress_moves_if_the_judge_fails():
    judge, seen = FakeLLM(lambda request: RuntimeError("away")), []
    ragstone.evaluate(
        ROWS, "answer_match", judge=ragstone.Judge(judge, exam=False, cache=False, concurrency=1), progress=seen.append
    )
    assert {one.done for one in seen if one.stage == "evaluating"} >= {0, 1, 3}


def test_a_failed_cell_keeps_its_reason():
    def judge(prompts):
        raise RuntimeError("no route to the judge")

    run = ragstone.evaluate(ROWS, "answer_match", judge=ragstone.Judge(judge, exam=False, cache=False))
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


def test_a_gate_with_a_baseline_and_no_limit_is_the_test_of_compare(worse, better):
    gained, lost, same = (
        ragstone.gate(new, against=old) for new, old in ((better, worse), (worse, better), (worse, worse))
    )
    assert gained
    assert same
    assert not lost
    assert lost.outcome == "fails"
    compared = ragstone.compare(better, worse)
    verdicts = {item.metric: item.verdict for item in compared.metrics}
    rows, *tested = lost.checks
    assert (rows.value, rows.outcome) == (len(compared.failing.newly_failing), "fails")
    assert rows.condition == "newly failing rows ≤ fixed rows"
    for item in tested:
        assert item.condition == f"{item.check.metric} not worse"
        assert (item.outcome == "fails") is (verdicts[item.check.metric] == "worse")
    assert {item.outcome for item in lost.checks} == {"fails", "passes"}
    assert "only a limit such as max-drop 0.02" in lost._repr_html_()
    # With a minimum both apply; a limit of a change replaces the test.
    both = ragstone.gate(worse, against=better, min={"token_f1": 0.1})
    assert [item.check.kind for item in both.checks].count("min") == 1
    assert len(both.checks) == len(lost.checks) + 1
    assert not any(item.check.is_test for item in ragstone.gate(worse, against=better, max_drop=0.5).checks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a gate needs a condition: min="),
        ({"min": {}}, "a gate needs a condition"),
        ({"max_drop": 0.02}, "need against=RUN"),
        ({"against": "old", "max_worse": {"a": 0.5}}, "^max_worse a=0.5: the number of samples is a whole number"),
        ({"against": "old", "max_drop": "much"}, "^max_drop much: 'much' is not a number"),
        ({"min": 0.5}, "^min must be a mapping of metrics and numbers"),
        ({"min": {"token_f1": 0.1}, "inconclusive": "yes"}, "inconclusive must be pass or fail, got 'yes'"),
    ],
)
def test_what_a_gate_needs(worse, options, message):
    with pytest.raises(UsageError, match=message):
        ragstone.gate(worse, **options)


def test_a_quote(worse):
    judge = ragstone.Judge("openai/gpt-4o-mini", base_url="http://127.0.0.1:9/v1")
    found = ragstone.quote(ROWS, ["answer_match"], judge=judge)
    assert isinstance(found, ragstone.Quote)
    assert found.total.calls == 3
    assert repr(found).startswith("Quote for 3 rows: 3 calls")
    assert "answer_match" in str(found)


def polite(answer: str) -> float:
    """Whether the answer says please."""
    return float("please" in answer.lower())


def test_functions_are_metrics():
    def short(answer: str, most: int = 2) -> bool:
        return len(answer.split()) <= most

    run = ragstone.evaluate(ROWS, [polite, short, "token_f1"])
    assert {row.metric: row.mean for row in run.summary()} == {"polite": 0.0, "short": 1.0, "token_f1": 2 / 3}
    # A function of that name from elsewhere takes its place; other calls do not compute it.
    run = ragstone.evaluate([{"answer": "Please wait"}], renamed(lambda answer: 0.25, "polite"))
    assert run.summary()["polite"].mean == 0.25
    assert "polite" not in [row.metric for row in ragstone.evaluate(ROWS, "all", limit=1, judge=QUIET).summary()]
    assert ragstone.score_row(ROWS[0], polite).value == 0.0


def renamed(function, name):
    function.__name__ = name
    return function


# A judge that no metric of these tests needs.
QUIET = ragstone.Judge(FakeLLM([]), exam=False, cache=False)


def test_a_decorated_function_goes_by_its_name(monkeypatch):
    catalogue = Catalogue()
    monkeypatch.setattr("ragstone.registry.declare.CATALOGUE", catalogue)

    @ragstone.metric
    def tidy(answer: str) -> float:
        return 1.0

    @ragstone.metric("mine.tidy_too", bounds=(0, 10))
    def other(answer: str) -> float:
        return 7.0

    assert metric_names([tidy, other, "recall@5"]) == ["tidy", "mine.tidy_too", "recall@5"]


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        (
            renamed(lambda answer: 1.0, "token_f1"),
            DefinitionError,
            "'token_f1' has the name of a metric in ragstone.metrics",
        ),
        (renamed(lambda answer: 1.0, "lexical"), DefinitionError, "'lexical' has the name of a set of metrics"),
        (lambda answer: 1.0, DefinitionError, r"<lambda> has no name: write `def name\(answer\)"),
        (functools.partial(polite), DefinitionError, "<unnamed> has no name"),
        ([polite, renamed(lambda answer: 1.0, "polite")], UsageError, "two functions are named 'polite'"),
        ([polite, 3], UsageError, "a metric is a name or a function, got 3"),
        (renamed(lambda answr: 1.0, "misspelled"), DefinitionError, "needs 'answr', .* Did you mean answer"),
    ],
)
def test_functions_that_cannot_be_metrics(metrics, error, message):
    with pytest.raises(error, match=message):
        ragstone.evaluate(ROWS, metrics)


def test_a_function_that_returns_a_share_is_explained():
    def short_words(answer: str) -> float:
        return ragstone.Share.of("word", [len(word) < 4 for word in answer.split()], texts=answer.split())

    run = ragstone.evaluate(ROWS, short_words)
    [counts] = run.explain("0", "short_words").as_dict()["working"]["counts"]
    assert [item["text"] for item in counts["items"]] == ["At", "nine."]


def test_evaluate_async():
    async def two():
        runs = (ragstone.evaluate_async(ROWS, "token_f1", name=name) for name in "ab")
        return await asyncio.gather(*runs)

    assert [run.name for run in asyncio.run(two())] == ["a", "b"]
    assert inspect.signature(ragstone.evaluate_async) == inspect.signature(ragstone.evaluate)


def test_a_cancelled_evaluation_stops_with_the_next_row(tmp_path):
    asked = []

    def judge(prompts):
        asked.extend(prompts)
        time.sleep(0.05)
        return ['{"match": true}'] * len(prompts)

    async def cancel():
        options = ragstone.Judge(judge, exam=False, cache=False, concurrency=1)
        rows = [{**ROWS[0], "id": str(number)} for number in range(200)]
        work = asyncio.create_task(ragstone.evaluate_async(rows, "answer_match", tmp_path, judge=options))
        while not asked:
            await asyncio.sleep(0.01)
        work.cancel()
        await work

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    assert len(asked) < 100
