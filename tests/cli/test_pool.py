"""ragstone pool: labels by a judge as qrels."""

import json
import re

import pytest

from ragstone.llm.base import Reply
from tests.metrics.models import Obliging

ONE = [
    {
        "id": "1",
        "question": "q1",
        "references": ["r"],
        "contexts": [{"id": "a", "text": "good a"}, {"id": "b", "text": "bad"}],
    },
    {"id": "2", "question": "q2", "references": ["r"], "contexts": [{"id": "c", "text": "bad"}]},
]
TWO = [
    {
        "id": "1",
        "question": "q1",
        "references": ["r"],
        "contexts": [{"id": "d", "text": "good d"}, {"id": "a", "text": "x"}],
    }
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("one", ONE), ("two", TWO)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.fixture
def judged(monkeypatch):
    """Labels by the word `good`, without a model."""
    from ragstone.engine import evaluate as module

    real = module.evaluate
    seen = []

    def evaluate(data, metrics, out, **options):
        class Judge(Obliging):
            async def complete(self, request):
                chunks = re.findall(r"^\[([A-Z]) \w+\] (.*)$", request.messages[-1].content, re.MULTILINE)
                seen.append([text for _, text in chunks])
                return Reply(json.dumps({"useful": [letter for letter, text in chunks if "good" in text]}), self.name)

        return real(data, metrics, out, **{**options, "judge": Judge(), "cache": False, "exam": False})

    monkeypatch.setattr(module, "evaluate", evaluate)
    return seen


@pytest.fixture
def graded(monkeypatch):
    """Grades by the length of the word `good`, without a model."""
    from ragstone.engine import evaluate as module

    real = module.evaluate

    def evaluate(data, metrics, out, **options):
        class Judge(Obliging):
            async def complete(self, request):
                passage = re.search(r"^<passage.*?>\n(.*)$", request.messages[-1].content, re.MULTILINE)[1]
                level = 3 if passage.startswith("good a") else 2 if "good" in passage else 0
                return Reply(f"##final score: {level}", self.name)

        return real(data, metrics, out, **{**options, "judge": Judge(), "cache": False, "exam": False})

    monkeypatch.setattr(module, "evaluate", evaluate)


def test_graded_labels(cli, files, graded):
    """Without references, as UMBRELA reads the question only; 2 is the least relevant grade."""
    for name in ("one", "two"):
        rows = [json.loads(line) for line in (files / f"{name}.jsonl").read_text().splitlines()]
        (files / f"{name}.jsonl").write_text("\n".join(json.dumps({**row, "references": []}) for row in rows))
    done = cli("pool", "one.jsonl", "two.jsonl", "-o", "pool.qrels", "--grades", "--judge", "openai/x", "--json")
    assert done.code == 0, done.err
    assert qrels(files / "pool.qrels") == [
        ("1", "0", "a", "3"),
        ("1", "0", "b", "0"),
        ("1", "0", "d", "2"),
        ("2", "0", "c", "0"),
    ]
    scores = {(one["system"], one["metric"]): one["judge"] for one in json.loads(done.out)["scores"]}
    # Question 1: one of two relevant chunks; question 2: nothing relevant, which counts 0.
    assert scores["one.jsonl", "recall(rel=2.0)@10"] == pytest.approx((1 / 2 + 0) / 2)
    assert scores["two.jsonl", "recall(rel=2.0)@10"] == pytest.approx((2 / 2 + 0) / 2)


@pytest.mark.parametrize("judge", [(), ("--judge", "local")])
def test_grades_need_a_language_model(cli, files, judge):
    done = cli("pool", "one.jsonl", "-o", "pool.qrels", "--grades", *judge)
    assert done.code == 2
    assert "not calibrated for grades" in done.err


def qrels(path):
    return sorted(tuple(line.split()) for line in path.read_text().splitlines())


def test_pooled_labels(cli, files, judged):
    done = cli("pool", "one.jsonl", "two.jsonl", "-o", "pool.qrels")
    assert done.code == 0, done.err
    assert qrels(files / "pool.qrels") == [
        ("1", "0", "a", "1"),
        ("1", "0", "b", "0"),
        ("1", "0", "d", "1"),
        ("2", "0", "c", "0"),
    ]
    assert sorted(map(len, judged)) == [1, 3]
    assert "corrected" not in done.out


def test_labels_of_people_correct_the_means(cli, files, judged):
    (files / "people.qrels").write_text("1 0 a 1\n1 0 b 1\n1 0 d 1\n2 0 c 1\n")
    done = cli("pool", "one.jsonl", "two.jsonl", "-o", "pool.qrels", "--people", "people.qrels", "--json", "-m", "P@1")
    found = json.loads(done.out)
    one, two = found["scores"]
    assert (one["system"], one["judge"], one["people"], one["labelled"]) == ("one.jsonl", 0.5, 1.0, 2)
    assert one["corrected"] == 1.0
    assert (two["judge"], two["people"]) == (0.5, 0.5)
    assert ("1", "0", "b", "1") in qrels(files / "pool.qrels")


def test_what_cannot_be_pooled(cli, files):
    (files / "trec.run").write_text("1 Q0 a 1 9 x\n")
    done = cli("pool", "trec.run", "one.jsonl", "-o", "pool.qrels")
    assert done.code == 2
    assert "without texts" in done.err
    done = cli("pool", "one.jsonl", "-o", "pool.qrels", "--people", "trec.run")
    assert done.code == 2
    assert "must be qrels" in done.err


def test_the_quote_makes_no_call(cli, files, judged):
    done = cli("pool", "one.jsonl", "-o", "pool.qrels", "--quote", "--judge", "openai/gpt-4o-mini")
    assert done.code == 0, done.err
    assert judged == []
    assert not (files / "pool.qrels").exists()
