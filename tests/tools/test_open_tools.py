"""Runs that ask a model: who is asked what, what is stored of it, and what is told before anything is spent."""

import json

import pytest

import ragstone
from ragstone.engine import execute as execution
from ragstone.engine import execute as parts
from ragstone.engine.quote import quote
from ragstone.errors import RagstoneError, StopRunError, UsageError
from ragstone.llm.base import LLMAccessError, LLMRefusedError, Reply
from ragstone.testing import FakeLLM

ROW = {
    "id": "1",
    "question": "Where is the light?",
    "answer": "It is on the mole. It is red.",
    "contexts": ["The light is on the mole.", "The tower is white."],
    "references": ["The light is on the mole."],
}
PRECISION = "ragchecker.precision"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))


def by_guess(request):
    """What a quote would count."""
    return Reply(request.guess, "fake/model", input_tokens=100, output_tokens=10)


def test_what_is_stored_of_a_judged_run(tmp_path):
    llm = FakeLLM(by_guess)
    run = ragstone.evaluate([ROW], PRECISION, tmp_path, judge=llm)
    assert run.summary()[PRECISION].mean == 1.0
    assert llm.closed
    assert [(call["evidence"], call["prompt"]) for call in run.calls.to_pylist()] == [
        ("answer_claims", "claims"),
        ("answer_claims_in_reference", "verdicts"),
    ]
    assert {call["sample_id"] for call in run.calls.to_pylist()} == {"1"}
    assert json.loads(run.calls["reply"][0].as_py())["claims"] == ["It is on the mole.", "It is red."]
    totals = run.info["totals"]
    assert (totals["calls"], totals["input_tokens"], totals["output_tokens"]) == (2, 200, 20)
    assert set(run.info["prompts"]) == {"claims", "verdicts"}
    assert "# claims, version" in run.info["prompts"]["claims"]["text"]
    assert run.info["judge"]["extractor"].startswith("fake/model")
    [signature] = {row["signature"] for row in run.scores.to_pylist()}
    assert f"claims:{run.info['prompts']['claims']['hash']}" in signature
    assert "checker:fake/model" in signature


def test_the_same_again_makes_no_call():
    first, second = FakeLLM(by_guess), FakeLLM(by_guess)
    before = ragstone.evaluate([ROW], PRECISION, judge=first)
    after = ragstone.evaluate([ROW], PRECISION, judge=second)
    assert len(first.requests) == 2
    assert second.requests == []
    assert after.info["totals"]["calls"] == 0
    assert after.info["totals"]["cached_calls"] == 2
    assert before.scores.to_pylist() == after.scores.to_pylist()


def test_without_the_cache_everything_is_asked_again_and_nothing_is_left_of_it(tmp_path):
    for _ in range(2):
        llm = FakeLLM(by_guess)
        run = ragstone.evaluate([ROW], PRECISION, tmp_path / "out", judge=llm, cache=False)
        assert len(llm.requests) == 2
        assert not (tmp_path / "cache").exists()
        assert not (tmp_path / "out" / "runs" / run.id / "replies").exists()


def test_extractor_and_checker_may_be_others():
    judge, extractor, checker = (FakeLLM(by_guess, name) for name in ("a/judge", "a/extractor", "a/checker"))
    run = ragstone.evaluate(
        [ROW], [PRECISION, "ragas.context_precision"], judge=judge, extractor=extractor, checker=checker
    )
    assert [llm.requests[0].prompt for llm in (judge, extractor, checker)] == ["usefulness", "claims", "verdicts"]
    assert all(len(llm.requests) == 1 for llm in (judge, extractor, checker))
    assert set(run.calls["model"].to_pylist()) == {"fake/model"}


def test_a_function_of_ones_own():
    asked = []

    def answer(prompts: list[str]) -> list[str]:
        asked.extend(prompts)
        return ['{"claims": []}'] * len(prompts)

    run = ragstone.evaluate([ROW], PRECISION, judge=answer)
    assert run.summary()[PRECISION].reason == "the answer makes no claims (1 row)"
    assert len(asked) == 1


def test_a_cell_that_the_model_refuses_fails_with_its_words_and_others_do_not():
    def answer(request):
        return (
            LLMRefusedError("the prompt is too long for the model")
            if "secret" in str(request.messages[-1])
            else by_guess(request)
        )

    rows = [ROW, {**ROW, "id": "2", "answer": "A secret."}]
    cells = ragstone.evaluate(rows, PRECISION, judge=FakeLLM(answer)).scores.to_pylist()
    assert [(cell["status"], cell["reason"]) for cell in cells] == [
        ("ok", None),
        ("failed", "the prompt is too long for the model"),
    ]


def test_what_fails_for_all_ends_the_run_and_keeps_what_is_finished(tmp_path, monkeypatch):
    monkeypatch.setattr(execution, "PARTS_IN_FLIGHT", 1)
    monkeypatch.setattr(parts, "WAITING_PART_ROWS", 2)

    def answer(request):
        return (
            LLMAccessError("the key is not accepted") if "answer 3" in str(request.messages[-1]) else by_guess(request)
        )

    rows = [{**ROW, "id": str(number), "answer": f"It is answer {number}."} for number in range(5)]
    with pytest.raises(StopRunError, match=r"the key is not accepted\n1 finished part is kept in (.*\n)+.*--resume"):
        ragstone.evaluate(rows, PRECISION, tmp_path, judge=FakeLLM(answer))
    llm = FakeLLM(by_guess)
    run = ragstone.evaluate(rows, PRECISION, tmp_path, judge=llm, resume=True)
    assert run.summary()[PRECISION].n_ok == 5
    assert run.info["totals"]["calls"] + run.info["totals"]["cached_calls"] == 10
    assert not any("answer 0" in str(request.messages[-1]) for request in llm.requests)


def test_without_a_judge_the_default_says_nothing_about_what_one_could_do():
    run = ragstone.evaluate([ROW])
    named = {row.metric for row in run.summary()}
    assert "token_f1" in named
    assert not any(name.startswith(("ragas.", "ragchecker.")) for name in named)


def test_with_a_judge_the_default_has_it_all():
    summary = ragstone.evaluate([ROW], judge=FakeLLM(by_guess)).summary()
    assert {"token_f1", PRECISION, "ragas.faithfulness"} <= {row.metric for row in summary}
    # It needs an embedder, which nobody named.
    assert "semantic_similarity" not in {row.metric for row in summary}


def test_a_metric_that_was_named_says_what_it_lacks():
    assert ragstone.evaluate([ROW], PRECISION).info["skipped"] == {
        PRECISION: "needs an extractor: name a model with --judge or --extractor"
    }


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"jugde": "openai/x"}, TypeError, "jugde"),
        ({"judge": "gpt-4o"}, UsageError, "openai/gpt-4o"),
        ({"judge": "openai/gpt-4o"}, RagstoneError, "OPENAI_API_KEY"),
        ({"judge": FakeLLM([]), "repeats": 0}, UsageError, "repeats"),
        ({"judge": FakeLLM([]), "claims_per_call": 1.5}, UsageError, "claims_per_call"),
        ({"judge": FakeLLM([]), "claims": "poems"}, UsageError, "sentences, triplets"),
        ({"judge": FakeLLM([]), "budget": "a lot"}, UsageError, "5usd"),
        ({"judge": "openai/x", "base_url": "http://127.0.0.1:1", "budget": "1usd"}, UsageError, "price of openai/x"),
        ({"judge": FakeLLM([]), "prompts": "nowhere"}, UsageError, "nowhere"),
        ({"judge": FakeLLM([]), "timeout_s": 0}, UsageError, "timeout"),
    ],
)
def test_wrong_options_are_told_before_the_data_is_read(options, error, words, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(error, match=words):
        ragstone.evaluate("no-such-file.jsonl", PRECISION, **options)


def test_progress_moves_while_a_part_is_under_way():
    seen = []
    rows = [{**ROW, "id": str(number), "answer": f"It is {number}."} for number in range(30)]
    ragstone.evaluate(rows, PRECISION, judge=FakeLLM(by_guess), progress=seen.append)
    done = [step.done for step in seen if step.stage == "evaluating"]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 30)
    assert len(set(done)) > 10


@pytest.mark.slow
def test_a_quote_makes_no_call_and_counts_what_then_happens():
    rows = [{**ROW, "id": str(number), "answer": f"It is on the mole. It is number {number}."} for number in range(20)]
    names = ["ragchecker", "ragas"]
    quoted = quote(rows, names, judge="openai/gpt-4o-mini")
    llm = FakeLLM(by_guess)
    run = ragstone.evaluate(rows, names, judge=llm, cache=False)
    # The reference is the same in all rows, and what is asked twice is asked once.
    assert quoted.total.calls == len(llm.requests) == run.info["totals"]["calls"]
    assert quoted.rows == quoted.sampled_rows == 20
    by_name = {line.name: line for line in quoted.metrics}
    assert by_name["ragas.context_precision"].calls == 1
    assert by_name[PRECISION].calls == 40
    assert by_name["ragchecker.f1"].calls == 61
    # gpt-4o-mini: 0.15 and 0.60 usd for a million tokens.
    total = quoted.total
    assert total.cost_usd == pytest.approx((total.input_tokens * 0.15 + total.output_tokens * 0.6) / 1e6)
    assert quote(rows, names, judge="ollama/llama3.1").total.cost_usd == 0
    assert quote(rows, names, judge="vendor/unknown").total.cost_usd is None


def test_a_quote_of_many_rows_looks_at_some():
    rows = [{**ROW, "id": str(number), "answer": f"It is number {number}."} for number in range(1000)]
    quoted = quote(rows, PRECISION, judge="openai/gpt-4o-mini")
    assert (quoted.rows, quoted.sampled_rows) == (1000, 300)
    assert quoted.total.calls == pytest.approx(2000)


def test_what_is_in_the_cache_is_not_quoted():
    ragstone.evaluate([ROW], PRECISION, judge=FakeLLM(by_guess, "openai/gpt-4o-mini"))
    assert quote([ROW], PRECISION, judge=FakeLLM([], "openai/gpt-4o-mini")).total.calls == 0


def test_a_cache_that_cannot_be_written_is_told_and_fails_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "file"))
    notes = []
    run = ragstone.evaluate([ROW], PRECISION, judge=FakeLLM(by_guess), note=notes.append)
    assert run.summary()[PRECISION].n_ok == 1
    assert [note for note in notes if "replies are not stored in" in note]
