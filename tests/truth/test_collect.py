"""A user's system over questions: a row a question, whatever happens."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from ragstone.data.types import Chunk, Fact, Sample, Turn
from ragstone.engine.ask_system import Asked, SystemReply
from ragstone.engine.evaluate import evaluate
from ragstone.errors import StopRunError, UsageError
from ragstone.formats import read_dataset
from ragstone.llm.answers import Answer
from ragstone.llm.wrappers import Call
from ragstone.truth.collect import ERROR, _usage_of, collect, quote_collecting
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.store import TruthStore

QUESTIONS = [
    Sample("a", "How deep is the harbour?", references=["12 metres"], facts=[Fact("12 metres deep")]),
    Sample("b", "How long is the pier?", references=["300 metres"], metadata={"part": "pier"}),
    Sample("c", None, references=["?"]),
    Sample("d", "Who pays?", answer="an old answer", contexts=[Chunk("an old chunk")]),
]


def guide(question):
    if "pays" in question:
        raise RuntimeError("the index is gone")
    return {
        "answer": f"It is 12 metres: {question}",
        "contexts": ["The basin is 12 metres deep."],
        "part": "ours",
        "k": 1,
    }


def test_rows_keep_what_is_true_and_failures_say_why():
    found = collect(QUESTIONS, guide, cache=False)
    for sample in found.samples[:2]:
        assert 0 < sample.metadata.pop("latency_s") < 60
    first, second, third, fourth = found.samples
    assert first == Sample(
        "a",
        "How deep is the harbour?",
        "It is 12 metres: How deep is the harbour?",
        [Chunk("The basin is 12 metres deep.")],
        ["12 metres"],
        facts=[Fact("12 metres deep")],
        metadata={"part": "ours", "k": 1},
    )
    assert second.metadata == {"part": "pier", "k": 1}
    assert (third.answer, third.metadata) == (None, {ERROR: "there is no question"})
    assert (fourth.answer, fourth.contexts) == (None, None)
    assert fourth.metadata == {ERROR: "function/guide raised RuntimeError: the index is gone"}
    assert (found.answered, found.failed, found.resumed, found.cached) == (2, 2, 0, 0)


def test_the_table_is_one_that_a_run_reads(tmp_path):
    from ragstone.data.dataset import samples_table
    from ragstone.formats import write_dataset

    found = collect(QUESTIONS, guide, cache=False)
    for ending in ("jsonl", "parquet", "csv"):
        path = f"{tmp_path}/answers.{ending}"
        write_dataset(samples_table(found.samples).to_batches(), path)
        summary = {row.metric: row for row in evaluate(path, ["fact_recall", "token_f1"]).summary()}
        assert {name: row.n_ok for name, row in summary.items()} == {"fact_recall": 1, "token_f1": 2}, ending


def test_failures_are_asked_again_and_answers_are_not(tmp_path):
    journal, asked, broken = str(tmp_path / "answers.partial"), [], True

    def rag(question):
        asked.append(question)
        if broken and "pier" in question:
            raise OSError("not now")
        return question

    questions = QUESTIONS[:2]
    first = collect(questions, rag, journal=journal, cache=False, version="1")
    assert (first.answered, first.failed) == (1, 1)
    broken = False
    second = collect(questions, rag, journal=journal, cache=False, version="1", resume=True)
    assert (second.answered, second.failed, second.resumed) == (2, 0, 1)
    assert asked.count("How deep is the harbour?") == 1
    assert not os.path.exists(journal)


def test_a_journal_of_another_system_or_question_does_not_count(tmp_path):
    journal, notes = str(tmp_path / "answers.partial"), []

    def rag(question):
        if "pier" in question:
            raise OSError("not now")
        return "one"

    collect(QUESTIONS[:2], rag, journal=journal, cache=False, version="1")
    found = collect(QUESTIONS[:1], lambda question: "two", journal=journal, cache=False, resume=True, note=notes.append)
    assert [row.answer for row in found.samples] == ["two"]
    [note] = notes
    assert "nothing to resume" in note
    collect(QUESTIONS[:2], rag, journal=journal, cache=False, version="1")
    edited = [Sample("a", "How deep is the harbour at low tide?")]
    assert collect(edited, rag, journal=journal, cache=False, version="1", resume=True).resumed == 0


def test_the_cache_serves_a_second_collection():
    assert collect(QUESTIONS[:2], guide, version="cached").cached == 0
    assert collect(QUESTIONS[:2], guide, version="cached").cached == 2


def test_what_is_wrong_for_all_ends_it(tmp_path):
    with pytest.raises(StopRunError, match="does not exist"):
        collect(QUESTIONS, "cmd:no-such-program", journal=str(tmp_path / "j"), cache=False)


def test_a_spent_budget_leaves_rows_with_that_reason():
    found = collect(
        QUESTIONS[:2], lambda question: {"answer": "x", "cost_usd": 2}, cache=False, budget="1usd", concurrency=1
    )
    assert [row.answer for row in found.samples] == ["x", None]
    assert "the budget of 1 usd is spent" in found.samples[1].metadata[ERROR]
    assert found.cost_usd == 2.0


def test_a_quote_asks_nobody():
    quote = quote_collecting(QUESTIONS, "openai/gpt-4o-mini", cache=False)
    assert (quote.questions, quote.calls) == (3, 3)
    assert 0 < quote.cost_usd < 0.01
    assert quote_collecting(QUESTIONS, guide, cache=False).cost_usd is None


RAG = """
import pathlib, time
def answer(question):
    with open(pathlib.Path(__file__).parent / "asked", "a") as log:
        log.write(question + "\\n")
    time.sleep(0.15)
    if question.endswith(" 3?"):
        raise ValueError("no chunk three")
    return "It is " + question.split()[-1].strip("?"), ["chunk of " + question]
"""


def run(folder, *more):
    return [
        *(sys.executable, "-c", "from ragstone.cli import main; main()", "truth", "collect", "harbour"),
        *("--system", f"{folder}/rag.py:answer", "-o", f"{folder}/answers.jsonl", "--root", f"{folder}/store"),
        *("-j", "2", "--no-cache", *more),
    ]


@pytest.fixture
def home(tmp_path):
    (tmp_path / "rag.py").write_text(RAG)
    cases = [Case(f"q{n}", f"What is number {n}?", [f"It is {n}"], [TruthFact(f"number {n}")]) for n in range(12)]
    TruthStore(str(tmp_path / "store")).save("harbour", cases, author="Ada")
    return tmp_path


@pytest.mark.slow
def test_a_killed_collection_goes_on(home):
    process = subprocess.Popen(run(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = home / "answers.jsonl.partial"
    for _ in range(2000):
        if journal.exists() and len(journal.read_bytes().splitlines()) > 4:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (home / "answers.jsonl").exists()
    before = [json.loads(line) for line in journal.read_bytes().splitlines(keepends=True)[1:] if line.endswith(b"\n")]
    assert len(before) >= 4
    (home / "asked").unlink()
    with open(journal, "ab") as stream:
        stream.write(b'{"key": "cut o')
    finished = subprocess.run(run(home, "--resume"), capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    asked = (home / "asked").read_text().splitlines()
    assert len(asked) == 12 - len(before)
    assert f"11 of 12 questions answered by function/rag.py:answer ({len(before)} kept from before)" in finished.stdout
    assert "1 failed, as q3: function/rag.py:answer raised ValueError: no chunk three" in finished.stdout
    rows = list(read_dataset(str(home / "answers.jsonl")))
    assert [row.id for row in rows] == [f"q{number}" for number in range(12)]
    assert [row.answer for row in rows] == [None if n == 3 else f"It is {n}" for n in range(12)]
    assert rows[4].contexts == [Chunk("chunk of What is number 4?")]
    assert rows[4].facts == [Fact("number 4")]


def test_names_files_and_endings(home, monkeypatch):
    from click.testing import CliRunner

    from ragstone.cli.app import app

    def invoke(*arguments):
        return CliRunner().invoke(app, ["truth", "collect", *arguments])

    questions = home / "questions.csv"
    questions.write_text("id,question\na,What is number 1?\nb,What is number 3?\n")
    monkeypatch.chdir(home)
    ended = invoke("questions.csv", "--system", "rag.py:answer", "--json", "-o", "answers.parquet")
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["answered"] == 1
    assert [row.answer for row in read_dataset("answers.parquet")] == ["It is 1", None]
    ended = invoke("questions.csv", "--system", "rag.py:answer", "--quote")
    assert "1 call of function/rag.py:answer for 2 questions" in ended.output
    assert isinstance(invoke("harbor", "--root", "store", "--system", "rag.py:answer").exception, UsageError)
    assert "Did you mean harbour" in str(invoke("harbor", "--root", "store", "--system", "rag.py:answer").exception)
    assert "end in" in str(invoke("questions.csv", "--system", "rag.py:answer", "-o", "answers").exception)
    ended = invoke("questions.csv", "--system", "cmd:false", "-q")
    assert ended.exit_code == 4
    assert "2 failed, as a: command/false exited with 1" in ended.output


def test_a_ground_truth_goes_before_a_folder_of_its_name(home, monkeypatch):
    from click.testing import CliRunner

    from ragstone.cli.app import app

    (home / "harbour").mkdir()
    (home / "harbour" / "guide.md").write_text("# Guide")
    monkeypatch.chdir(home)
    asked = ["truth", "collect", "harbour", "--root", "store", "--system", "rag.py:answer", "--quote"]
    ended = CliRunner().invoke(app, asked)
    assert ended.exit_code == 0, ended.output
    assert "for 12 questions" in ended.output


def test_a_system_gets_the_conversation_of_a_sample():
    def talk(question, history):
        return " ".join([*(turn["text"] for turn in history), question])

    turns = [Turn("user", "What does it cost?"), Turn("assistant", "Ten.")]
    rows = [Sample("c#1", "What does it cost?"), Sample("c#2", "And for children?", history=turns)]
    first, second = collect(rows, talk, cache=False).samples
    assert (first.answer, second.answer) == ("What does it cost?", "What does it cost? Ten. And for children?")
    assert second.history == turns


def test_usage_of_a_system_is_kept_and_its_own_numbers_win(tmp_path):
    journal = str(tmp_path / "answers.partial")

    def rag(question):
        if "pier" in question:
            raise OSError("not now")
        return {"answer": "x", "usage": {"prompt_tokens": 9}, "cost_usd": 0.25, "first_token_s": 0.5}

    questions = [replace(QUESTIONS[0], metadata={"latency_s": 99.0}), QUESTIONS[1]]
    for resume in (False, True):
        found = collect(questions, rag, journal=journal, cache=False, version="1", resume=resume)
        usage = dict(found.samples[0].metadata)
        assert 0 < usage.pop("latency_s") < 60
        expected = {"usage": {"prompt_tokens": 9}, "input_tokens": 9, "cost_usd": 0.25, "first_token_s": 0.5}
        assert usage == expected


def test_questions_are_asked_repeatedly(tmp_path):
    asked = []

    def rag(question):
        asked.append(question)
        return f"answer {len(asked)}"

    found = collect(QUESTIONS[:1], rag, repeats=3, cache=False, concurrency=1, version="1")
    assert [sample.id for sample in found.samples] == ["a", "a#2", "a#3"]
    assert {sample.metadata["repeat_of"] for sample in found.samples} == {"a"}
    assert [sample.answer for sample in found.samples] == ["answer 1", "answer 2", "answer 3"]
    assert found.samples[1].metadata["other_answers"] == ["answer 1", "answer 3"]
    assert found.samples[2].references == ["12 metres"]
    assert quote_collecting(QUESTIONS[:2], rag, 3).questions == 6
    with pytest.raises(UsageError, match="repeats"):
        collect(QUESTIONS[:1], rag, repeats=0)


def test_repeats_are_cached_one_by_one():
    def rag(question):
        return question

    assert collect(QUESTIONS[:1], rag, repeats=2, version="repeated").cached == 0
    assert collect(QUESTIONS[:1], rag, repeats=3, version="repeated").cached == 2


def test_tokens_of_a_model_are_kept_and_the_latency_of_a_cached_reply_is_not():
    call = Call("a", "system", "system", "", "m", input_tokens=7, output_tokens=2, cost_usd=0.01, latency_s=1.5)
    outcome = SystemReply(Asked("a", "q"), Answer("x"), calls=(replace(call, error="busy"), call))
    assert _usage_of(outcome) == {"latency_s": 1.5, "cost_usd": 0.01, "input_tokens": 7, "output_tokens": 2}
    cached = replace(outcome, calls=(replace(call, cached=True, cost_usd=0.0),))
    assert _usage_of(cached) == {"input_tokens": 7, "output_tokens": 2}
    assert _usage_of(replace(outcome, calls=())) == {}
