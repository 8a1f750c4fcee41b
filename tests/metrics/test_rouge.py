"""What answers and references share, of all rows and of chosen ones.

ROUGE: cases by hand, edges, laws. Equality with rouge-score is in tests/golden.
"""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.columns import Column
from ragstone.data.types import Sample, Score
from ragstone.errors import UsageError
from ragstone.evidence_functions.tokens import answer_words, reference_words
from ragstone.metrics import rouge
from ragstone.metrics.rouge import LinePairs, line_pairs, word_pairs
from ragstone.registry import parse_metric
from tests.metrics.scoring import cell, score

ANSWERS = pa.array(["the cat sat", "runs", "one\ntwo three\nfour"])
REFERENCES = pa.array([["the cat ran", "sat the cat"], ["running"], ["two one three", "one four"]])


def pairs():
    return word_pairs(answer_words(ANSWERS), reference_words(REFERENCES))


def test_pairs_are_columns_that_can_be_read():
    for column in (pairs(), LinePairs(ANSWERS, REFERENCES)):
        assert isinstance(column, Column)
        assert len(column) == 3
    assert pairs()[1] == [(["runs"], ["running"])]
    assert LinePairs(ANSWERS, REFERENCES)[2] == [
        (["one", "two three", "four"], ["two one three"]),
        (["one", "two three", "four"], ["one four"]),
    ]


def test_counts_for_each_reference():
    found = pairs()
    assert found.shared(1).tolist() == [2, 3, 0, 3, 2]
    assert found.shared(2).tolist() == [1, 1, 0, 0, 0]
    assert found.in_order.tolist() == [2, 2, 0, 2, 2]
    assert found.stemmed.shared(1).tolist() == [2, 3, 1, 3, 2]


def test_counted_once():
    found = pairs()
    assert found.shared(2) is found.shared(2)
    assert found.stemmed is found.stemmed
    assert found.in_order is found.in_order


@pytest.mark.parametrize("rows", [[0, 2], [1], [2, 0, 2], []])
def test_chosen_rows(rows):
    per_row, chosen = np.array([0, 0, 1, 2, 2]), np.array(rows, dtype=np.int64)
    expected = [value for row in rows for value in pairs().in_order[per_row == row].tolist()]
    assert pairs().take(chosen).in_order.tolist() == expected
    lines = LinePairs(ANSWERS, REFERENCES).take(chosen)
    assert len(lines.broken) == 2 * rows.count(2)


def test_lines():
    """Of 'two one three' the line 'two three' covers two words and 'one' the third."""
    lines = LinePairs(ANSWERS, REFERENCES)
    assert lines.broken.tolist() == [3, 4]
    assert lines.in_order(stemmed=False).tolist() == [3, 2]
    stems = LinePairs(pa.array(["cats\nflying"]), pa.array([["flied cat"]]))
    assert stems.in_order(stemmed=False).tolist() == [0]
    assert stems.in_order(stemmed=True).tolist() == [2]


def test_too_many_lines(monkeypatch):
    monkeypatch.setattr(rouge, "_MOST_LINE_PAIRS", 3)
    found = line_pairs(ANSWERS, REFERENCES, pairs())
    assert found.reasons == {}
    many = pa.array([["x", "y"], ["running"], ["two", "one\nfour\nfive"]])
    gaps = line_pairs(ANSWERS, many, word_pairs(answer_words(ANSWERS), reference_words(many)))
    assert list(gaps.reasons) == [2]
    assert "9 pairs" in gaps.reasons[2]


METRICS = ("rouge_1", "rouge_2", "rouge_n", "rouge_l", "rouge_lsum")
texts = st.lists(st.sampled_from(["a", "b", "cats", "Cat", "\n", ".", "é", "東京", "9"]), max_size=9).map(" ".join)


def sample(answer, *references):
    return Sample("1", answer=answer, references=list(references))


def value(metric, answer, *references):
    return cell(sample(answer, *references), metric).value


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "precision", "recall"),
    [
        # Lin 2004: "police killed the gunman" against "police kill the gunman" and "the gunman kill police".
        ("rouge_l", "police kill the gunman", "police killed the gunman", 3 / 4, 3 / 4),
        ("rouge_l", "the gunman kill police", "police killed the gunman", 2 / 4, 2 / 4),
        ("rouge_2", "police kill the gunman", "police killed the gunman", 1 / 3, 1 / 3),
        ("rouge_2", "the gunman kill police", "police killed the gunman", 1 / 3, 1 / 3),
        ("rouge_1", "the the the cat", "the cat the mat", 3 / 4, 3 / 4),
        ("rouge_1", "yes", "Yes, yes!", 1, 1 / 2),
        ("rouge_n", "a b c d", "x a b c", 1 / 2, 1 / 2),
        ("rouge_n(n=4)", "a b c d", "a b c d", 1, 1),
        # Lin 2004, summary level: the reference w1 w2 w3 w4 w5 against w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5: 4 of 5.
        ("rouge_lsum", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5", 4 / 10, 4 / 5),
        ("rouge_lsum", "one two", "two one", 1 / 2, 1 / 2),
        ("rouge_lsum", "one\ntwo", "two one", 1, 1),
    ],
)
def test_by_hand(metric, answer, reference, precision, recall):
    name, _, settings = metric.strip(")").partition("(")
    scores = [
        value(f"{name}({settings}{', ' if settings else ''}score={part})", answer, reference)
        for part in ("precision", "recall", "f1")
    ]
    assert scores == pytest.approx([precision, recall, 2 * precision * recall / (precision + recall)])


def test_stems():
    assert value("rouge_1", "running cats", "runs cat") == 0
    assert value("rouge_1(stem=true)", "running cats", "runs cat") == 1
    assert value("rouge_2(stem=true)", "running cats", "runs cat") == 1
    assert value("rouge_l(stem=true)", "running cats", "runs cat") == 1
    assert value("rouge_lsum(stem=true)", "running\ncats", "runs cat") == 1


def test_several_references():
    """The first has recall 1, the second precision 1; the second has the better F1, so both come from it."""
    references = ("one", "one two three four five")
    assert value("rouge_1", "one two three four", *references) == pytest.approx(8 / 9)
    assert value("rouge_1(score=recall)", "one two three four", *references) == pytest.approx(4 / 5)
    assert value("rouge_1(references=mean, score=recall)", "one two three four", *references) == pytest.approx(9 / 10)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("answer", "reference"), [("", ""), ("", "word word word"), ("word word word", "..."), ("?!", "\n\n")]
)
def test_without_words_there_is_nothing_shared(name, answer, reference):
    assert value(name, answer, reference) == 0


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (Sample("1", answer="x"), "no references"),
        (Sample("1", answer="x", references=[]), "no references"),
        (Sample("1", references=["x"]), "no answer"),
    ],
)
def test_skipped(name, row, reason):
    assert cell(row, name) == Score(None, "skipped", reason)


def test_names_of_other_systems():
    for theirs, ours in {
        "rouge1": "rouge_1",
        "rougeL": "rouge_l",
        "rougeLsum": "rouge_lsum",
        "rouge4": "rouge_n(n=4)",
        "ragas.rouge_score": "rouge_l(stem=true)",
    }.items():
        assert str(parse_metric(theirs)) == ours


@pytest.mark.parametrize("n", [0, -1, 10, "two"])
def test_orders_that_there_are_not(n):
    with pytest.raises(UsageError, match="n must be one of 1, 2, 3"):
        parse_metric(f"rouge_n(n={n})")


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_laws(answer, references):
    row = sample(answer, *references)
    found = {name: cells[0].value for name, cells in score([row], *METRICS).items()}
    assert all(0 <= value <= 1 for value in found.values())
    assert found["rouge_l"] <= found["rouge_1"] + 1e-12
    assert found["rouge_n"] <= found["rouge_2"] + 1e-12 or not found["rouge_2"]
    if not any("\n" in text for text in (answer, *references)):
        assert found["rouge_lsum"] == found["rouge_l"]


@given(texts, st.lists(texts, min_size=1, max_size=3), texts)
def test_another_reference_never_lowers_f1(answer, references, other):
    for name in METRICS:
        assert value(name, answer, *references, other) >= value(name, answer, *references)


@given(texts, texts)
def test_precision_is_recall_the_other_way_round(one, other):
    for name in METRICS[:4]:
        assert value(f"{name}(score=precision)", one, other) == value(f"{name}(score=recall)", other, one)


@given(texts)
def test_the_same_text(text):
    words = value("rouge_1", text, text)
    assert words in (0, 1)
    assert value("rouge_l", text, text) == value("rouge_lsum", text, text) == words


@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=6), st.randoms())
def test_rows_do_not_mind_their_neighbours(rows, chance):
    samples = [sample(answer, *references) for answer, references in rows]
    shuffled = chance.sample(range(len(rows)), len(rows))
    together, other_order = score(samples, *METRICS), score([samples[row] for row in shuffled], *METRICS)
    for name in METRICS:
        assert [together[name][row] for row in shuffled] == other_order[name]
        assert together[name] == [cell(row, name) for row in samples]


def test_a_thousand_lines_on_both_sides_are_skipped_and_said_to_be():
    chance = random.Random(1)
    lines = "\n".join(f"{chance.choice('abc')} {number}" for number in range(1_500))
    found = score([sample(lines, lines), sample("a\nb", "b a")], "rouge_l", "rouge_lsum")
    assert found["rouge_l"][0] == Score(1.0)
    assert found["rouge_lsum"][0].status == "skipped"
    assert "too many lines: 2,250,000 pairs" in found["rouge_lsum"][0].reason
    assert found["rouge_lsum"][1] == Score(1.0)
