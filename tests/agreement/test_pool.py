import numpy as np
import pytest

import ragstone
from ragstone.agreement.estimates import GRADED, labelled_in_full, make_pool, read_pool_labels, score_systems
from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.stats.ppi import powered_mean


def sample(query, *names, **more):
    chunks = [Chunk(f"text {name}", name, 1.0) for name in names]
    return Sample(query, question="q", references=["r"], contexts=chunks, **more)


def ids(pool):
    return {one.id: [chunk.id for chunk in one.contexts] for one in pool}


def test_the_pool_has_the_first_chunks_of_every_system_once():
    one = {"1": sample("1", "a", "b", "c"), "2": sample("2", "a")}
    two = {"1": sample("1", "c", "a", "d"), "3": sample("3", "x")}
    assert ids(make_pool([one, two], 2)) == {"1": ["a", "c", "b"], "2": ["a"], "3": ["x"]}


def test_questions_without_chunks_are_left_out_and_texts_are_taken_where_they_are():
    one = {"1": Sample("1", "q", contexts=[Chunk("", "a")], answer="x"), "2": Sample("2", "q", contexts=[])}
    two = {"1": Sample("1", None, contexts=[Chunk("text", "a")], references=["r"])}
    (pooled,) = make_pool([one, two], 5)
    assert (pooled.contexts, pooled.references, pooled.answer) == ([Chunk("text", "a")], ["r"], "x")


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ({}, "nothing to judge"),
        ({"1": Sample("1", "q", contexts=[Chunk("x")], answer="a")}, "has no id"),
        ({"1": Sample("1", "q", contexts=[Chunk("x", "a")])}, "no question with a reference or an answer"),
    ],
)
def test_what_cannot_be_pooled(samples, words):
    with pytest.raises(UsageError, match=words):
        make_pool([samples], 5)


def test_only_questions_labelled_in_full_correct_the_judge():
    judge = {"1": {"a": 1.0, "b": 0.0}, "2": {"a": 1.0}}
    assert labelled_in_full(judge, {"1": {"a": 1.0}, "2": {"a": 0.0, "z": 1.0}}) == ["2"]


def test_corrected_estimates_are_those_of_prediction_powered_inference():
    draw = np.random.default_rng(5)
    judge, people, lists = {}, {}, {}
    for number in range(200):
        truth = {name: float(draw.random() < 0.4) for name in "abcde"}
        # The judge calls a third of the irrelevant chunks relevant.
        judge[str(number)] = {name: max(grade, float(draw.random() < 1 / 3)) for name, grade in truth.items()}
        lists[str(number)] = list("abcde")
        if number % 3 == 0:
            people[str(number)] = truth
    (score,) = score_systems({"s": lists}, judge, people, ["precision@5"])

    def precision(labels):
        return np.array([sum(row.values()) / 5 for row in labels])

    known = precision(people.values())
    guessed = precision([judge[query] for query in people])
    rest = precision([row for query, row in judge.items() if query not in people])
    expected = powered_mean(known, guessed, rest, scale="number")
    assert score.judge == pytest.approx(precision(judge.values()).mean())
    assert score.people == pytest.approx(known.mean())
    assert score.corrected == pytest.approx(expected.mean)
    assert tuple(score.interval) == pytest.approx(tuple(expected.interval))
    assert score.judge > 0.55 > score.interval.high
    assert score.interval.low < 0.4 < score.interval.high


def test_without_labels_of_people_there_is_no_correction():
    (score,) = score_systems({"s": {"1": ["a"]}}, {"1": {"a": 1.0}}, {}, ["precision@1"])
    assert (score.judge, score.people, score.corrected, score.interval) == (1.0, None, None, None)
    assert score.as_dict()["interval"] is None


def test_all_questions_labelled_by_people():
    judge = {str(number): {"a": 1.0} for number in range(4)}
    people = {str(number): {"a": float(number % 2)} for number in range(4)}
    (score,) = score_systems({"s": {query: ["a"] for query in judge}}, judge, people, ["precision@1"])
    assert (score.judge, score.people, score.corrected) == (1.0, 0.5, 0.5)


def test_a_judge_that_does_not_grade():
    pool = make_pool([{"1": Sample("1", "q", contexts=[Chunk("x", "a")])}], 5, GRADED)
    run = ragstone.evaluate(pool, [GRADED], judge="local")
    with pytest.raises(UsageError, match=r"no question: umbrela\.grade needs a judge: .* grade chunks"):
        read_pool_labels(run, GRADED)
    with pytest.raises(UsageError, match="have no question, by which"):
        make_pool([{"1": Sample("1", None, contexts=[Chunk("x", "a")], answer="a")}], 5, GRADED)


def test_labels_of_a_judged_pool():
    from tests.metrics.models import Obliging

    pool = make_pool([{"1": sample("1", "a", "b"), "2": Sample("2", None, contexts=[Chunk("x", "x")], answer="y")}], 5)
    run = ragstone.evaluate(pool, ["ragas.context_precision"], judge=Obliging(), cache=False)
    labels = read_pool_labels(run)
    assert labels.keys() == {"1"}
    assert labels["1"].keys() == {"a", "b"}
    assert set(labels["1"].values()) <= {0.0, 1.0}
