"""Word overlap: cases by hand, edges, laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Chunk, Sample, Score
from tests.metrics.scoring import cell, score

AGAINST_REFERENCES = ("exact_match", "contains", "token_recall", "token_precision", "token_f1")
texts = st.text("ab .9", max_size=12)


def sample(answer, references=None, contexts=None):
    return Sample("1", answer=answer, references=references, contexts=contexts and [Chunk(text) for text in contexts])


def values(answer, references):
    return [cell(sample(answer, references), name).value for name in AGAINST_REFERENCES]


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("Denver Broncos", ["The Denver Broncos!"], (1, 1, 1, 1, 1)),
        ("Beyoncé and", ["Beyoncé and Bruno Mars"], (0, 0, 1 / 2, 1, 2 / 3)),
        ("the cat sat on the mat", ["a cat on a mat"], (0, 0, 1, 3 / 4, 6 / 7)),
        ("yes yes", ["yes"], (0, 1, 1, 1 / 2, 2 / 3)),
        ("no", ["yes"], (0, 0, 0, 0, 0)),
        ("a category", ["cat"], (0, 1, 0, 0, 0)),
        ("", ["yes"], (0, 0, 0, 0, 0)),
        ("the!", ["yes"], (0, 0, 0, 0, 0)),
        ("yes", ["", "no"], (0, 0, 0, 0, 0)),
        ("東京", ["東京"], (1, 1, 1, 1, 1)),
    ],
)
def test_by_hand(answer, references, expected):
    assert values(answer, references) == pytest.approx(expected)


def test_each_takes_its_own_best_reference():
    """Recall 1 comes from the short reference, precision 1 from the long one, and F1 from the third."""
    references = ["one", "one two three four five six", "one two four"]
    expected = (0, 1, 1, 1, 2 / 3)
    assert values("one two three", references) == pytest.approx(expected)


def test_both_sides_without_words():
    found = score([sample("...", ["the"])], *AGAINST_REFERENCES)
    assert found.pop("contains") == [Score(None, "skipped", "the references contain no words")]
    assert {cells[0] for cells in found.values()} == {Score(1.0)}


@pytest.mark.parametrize("name", AGAINST_REFERENCES)
@pytest.mark.parametrize(
    ("row", "reason"),
    [(sample("x"), "no references"), (sample("x", []), "no references"), (sample(None, ["x"]), "no answer")],
)
def test_skipped(name, row, reason):
    assert cell(row, name) == Score(None, "skipped", reason)


@pytest.mark.parametrize(
    ("answer", "contexts", "joined", "best"),
    [
        ("the cat sat", ["A cat.", "It sat."], 1, 1 / 2),
        ("cat cat", ["cat"], 1 / 2, 1 / 2),
        ("cat cat", ["cat", "cat"], 1, 1 / 2),
        ("cat", ["dog", ""], 0, 0),
        ("B", ["B C", "C"], 1, 1),
    ],
)
def test_k_precision(answer, contexts, joined, best):
    row = sample(answer, contexts=contexts)
    assert cell(row, "k_precision").value == pytest.approx(joined)
    assert cell(row, "k_precision(aggregate=max)").value == pytest.approx(best)


@pytest.mark.parametrize("name", ["k_precision", "k_precision(aggregate=max)"])
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (Sample("1", answer="x", contexts=[]), "nothing was retrieved"),
        (sample("the ...", contexts=["x"]), "the answer has no words"),
        (sample("x"), "no contexts"),
        (sample(None, contexts=["x"]), "no answer"),
    ],
)
def test_k_precision_skipped(name, row, reason):
    assert cell(row, name) == Score(None, "skipped", reason)


@given(texts, st.lists(texts, min_size=1, max_size=3), texts)
def test_another_reference_never_lowers_a_score(answer, references, other):
    rows = [sample(answer, references), sample(answer, [*references, other])]
    for before, after in score(rows, *AGAINST_REFERENCES).values():
        assert before.status != "ok" or after.value >= before.value


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_laws(answer, references):
    found = {name: cells[0].value for name, cells in score([sample(answer, references)], *AGAINST_REFERENCES).items()}
    assert found["exact_match"] <= found["token_f1"] <= max(found["token_recall"], found["token_precision"]) + 1e-12
    if found["exact_match"] and found["contains"] is not None and answer.strip(" .a"):
        assert found["contains"] == 1


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_the_best_context_never_beats_all_of_them(answer, contexts):
    row = sample(answer, contexts=contexts)
    joined, best = cell(row, "k_precision"), cell(row, "k_precision(aggregate=max)")
    assert joined.status == best.status
    assert joined.status == "skipped" or 0 <= best.value <= joined.value <= 1


def test_typographic_signs_count_unless_the_script_of_squad_is_asked_for():
    row = sample("Don’t cross the “Nile”.", ["don't cross the Nile"])
    names = ("exact_match", "token_f1", "squad.exact_match", "squad.f1")
    found = {name: cells[0].value for name, cells in score([row], *names).items()}
    assert [found[name] for name in names] == [1, 1, 0, pytest.approx(1 / 3)]
    plain = score([sample("the", ["an"]), sample("nine", ["at NINE."])], *names)
    assert [cell.value for cell in plain["squad.f1"]] == [cell.value for cell in plain["token_f1"]]
    assert [cell.value for cell in plain["squad.exact_match"]] == [cell.value for cell in plain["exact_match"]]
