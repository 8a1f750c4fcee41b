"""ragstone.collect: a system over questions, from Python."""

import asyncio
import sys

import pytest

import ragstone
from ragstone.errors import UsageError

QUESTIONS = [
    {"id": f"q{number}", "question": f"Pier {number}?", "references": [f"pier {number}"]} for number in range(4)
]


def answer(question):
    return {"answer": question.lower().rstrip("?"), "contexts": [f"{question} yes"]}


def test_rows_go_into_evaluate():
    rows = ragstone.collect(answer, QUESTIONS)
    assert isinstance(rows, ragstone.Dataset)
    assert [row.answer for row in rows] == ["pier 0", "pier 1", "pier 2", "pier 3"]
    assert rows[0].contexts[0].text == "Pier 0? yes"
    assert ragstone.evaluate(rows, "token_f1").summary()["token_f1"].mean == 1.0


@pytest.mark.parametrize("kind", ["async", "command", "file"])
def test_other_systems(kind, tmp_path):
    async def slow(question):
        await asyncio.sleep(0)
        return "at nine"

    file = tmp_path / "rag.py"
    file.write_text(
        "def answer(question): return 'at nine'\nif __name__ == '__main__': print('{\"answer\": \"at nine\"}')\n"
    )
    system = {"async": slow, "command": f"cmd:{sys.executable} {file}", "file": f"{file}:answer"}[kind]
    assert {row.answer for row in ragstone.collect(system, QUESTIONS, concurrency=2, limit=2)} == {"at nine"}


def test_a_failure_is_a_row_with_its_reason_and_is_asked_again(tmp_path, caplog):
    asked, broken = [], {"Pier 2?"}

    def system(question):
        asked.append(question)
        if question in broken:
            raise RuntimeError("the index is away")
        return question

    out, seen = tmp_path / "answers.jsonl", []
    rows = ragstone.collect(system, QUESTIONS, out, cache=False, version="1", progress=seen.append)
    assert rows[2].answer is None
    assert "the index is away" in rows[2].metadata["system_error"]
    assert "1 of 4 questions have no answer, as q2: " in caplog.text
    assert (seen[-1].stage, seen[-1].done) == ("asking", 4)
    assert len(ragstone.read_dataset(out)) == 4
    assert ragstone.evaluate(rows, "token_f1").missing.skipped[0].reason == "no answer"

    broken.clear()
    asked.clear()
    again = ragstone.collect(system, QUESTIONS, out, resume=True, cache=False, version="1")
    assert asked == ["Pier 2?"]
    assert all(row.answer for row in again)
    assert not list(tmp_path.glob("*.partial"))


def test_repeats():
    rows = ragstone.collect(answer, QUESTIONS, repeats=2, limit=1)
    assert [row.id for row in rows] == ["q0", "q0#2"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"resume": True}, UsageError, "resume needs out"),
        ({"out": "answers.xlsx"}, UsageError, r"must end in \.jsonl, \.parquet, \.csv"),
        ({"timeout": 3}, TypeError, r"collect\(\) .*'timeout'. Did you mean timeout_s"),
        ({"limits": 3}, TypeError, "Did you mean limit"),
    ],
)
def test_mistakes(options, error, message):
    with pytest.raises(error, match=message):
        ragstone.collect(answer, QUESTIONS, **options)
    with pytest.raises(UsageError, match="a system is a function"):
        ragstone.collect(3, QUESTIONS)
