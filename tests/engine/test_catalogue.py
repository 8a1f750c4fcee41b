"""A look at data without evaluating it, and the catalogue as people see it."""

import pytest

from ragstone.engine.catalogue import cards, check, more_columns, set_names
from ragstone.engine.ingest import Profile
from ragstone.errors import InputError, UnknownNameError, UsageError
from ragstone.registry import parse_metric, resolve_metrics
from tests.each_case import each_case

ROWS = [{"question": "q", "answer": "a", "references": ["a"]}, {"question": "r", "answer": "b", "contextz": ["c"]}]


def test_what_can_be_computed_and_what_cannot():
    checked = check(ROWS)
    assert checked.profile.rows == 2
    assert checked.profile.present["references"] == 1
    assert "token_f1" in checked.possible
    assert "recall" in checked.impossible["needs contexts, which no row has"] + checked.impossible.get(
        "needs relevance or reference_contexts, which no row has", []
    )
    assert any("contextz" in note for note in checked.notes)


def test_every_metric_is_possible_or_has_a_reason():
    checked = check(ROWS)
    impossible = [name for names in checked.impossible.values() for name in names]
    assert sorted([*checked.possible, *impossible]) == sorted(map(str, resolve_metrics(["all"])))


def test_the_candidates_of_a_plain_name_and_a_cut_off():
    assert [card.name for card in cards("recall@5")] == ["recall"]
    assert {"ragas.faithfulness", "ragchecker.faithfulness"} <= {card.name for card in cards("faithfulness")}
    assert [card.name for card in cards("answer_relevance")] == ["ragas.answer_relevancy"]
    with pytest.raises(UsageError, match="distinct_2 or distinct_1"):
        cards("distinct_0")


def test_questions_alone_are_pointed_to_collect():
    [note] = check([{"question": "Who?"}]).notes
    assert "ragstone truth collect" in note
    assert check([{"question": "Who?", "answer": "She."}]).notes == []


def test_problems_are_raised_together():
    with pytest.raises(InputError, match="2 problems"):
        check([{"question": "q", "contexts": 5}, {"question": "r", "relevance": 5.5}])


def test_limit_and_columns():
    assert check(ROWS, limit=1).profile.rows == 1
    assert check(ROWS, columns={"contexts": "contextz"}).profile.present["contexts"] == 1


@each_case("card", cards())
def test_every_card_says_what_a_person_must_know(card):
    assert card.meaning
    assert card.needs
    assert card.range
    assert card.source
    assert parse_metric(card.name).spec.name == card.name
    labels = [label for label, _ in card.lines()]
    assert labels[:2] == ["write", "range"]
    assert all(text for _, text in card.lines())


def test_cards_by_name_by_alias_and_by_set():
    assert [card.name for card in cards("recall")] == ["recall"]
    assert [card.name for card in cards("dial.recall")] == ["fact_recall"]
    for name in set_names():
        assert cards(name)
    with pytest.raises(UnknownNameError, match="recall"):
        cards("recal")


def test_citations_are_possible_only_if_an_answer_cites():
    row = {"question": "When?", "answer": "The harbour opens at nine [1].", "contexts": ["The harbour opens at nine."]}
    assert "unresolved_citations" in check([row]).possible
    plain = {**row, "answer": "The harbour opens at nine."}
    assert "unresolved_citations" in check([plain]).impossible["needs citations, which no row has"]


def test_columns_that_would_add_metrics():
    bare = Profile("a", "ragstone", "f", 3, {"id": 3, "question": 3, "answer": 3, "contexts": 3})
    found = {one.field: one.metrics for one in more_columns(bare)}
    assert next(iter(found)) == "references"
    assert "token_f1" in found["references"]
    assert "fact_recall" in found["facts"]
    assert "ndcg" in found["relevance"]
    # A metric that also needs something else is not promised.
    assert "fact_recall" not in found["references"]
    assert [one.field for one in more_columns(bare, ["relevance"])] == ["relevance"]
