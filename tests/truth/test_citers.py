"""What the local citer takes from Markdown: no headings, table heads or words that introduce a list."""

from __future__ import annotations

import pytest

from ragstone.data.types import Chunk
from ragstone.text.overlap import content_stems
from ragstone.truth.citers import Piece, _about, answer_parts, quotable
from ragstone.truth.extract import extract, make_nuggets
from ragstone.truth.llm_tasks import Work
from ragstone.truth.model import Case, TruthFact

KILN = """# Kiln rental

The electric kiln is fired on Tuesdays and Fridays. It cools slowly.

## Prices per firing

| Firing | Temperature | Full shelf |
|---|---|---|
| Bisque | 980 °C | 16 € |
| Stoneware | 1240 °C | 25 € |

Before your first session, bring:

- an apron,
- a bucket with a lid.

Parking
There are four spaces in the yard, and the gate closes at half past nine in the evening."""


def test_pieces_carry_what_they_need_to_be_understood() -> None:
    pieces = {piece.text: piece.reading for piece in quotable(KILN)}
    assert list(pieces) == [
        "The electric kiln is fired on Tuesdays and Fridays.",
        "It cools slowly.",
        "| Bisque | 980 °C | 16 € |",
        "| Stoneware | 1240 °C | 25 € |",
        "- an apron,",
        "- a bucket with a lid.",
        "There are four spaces in the yard, and the gate closes at half past nine in the evening.",
    ]
    assert pieces["It cools slowly."] == "The electric kiln is fired on Tuesdays and Fridays. It cools slowly."
    stoneware = "Prices per firing: Firing: Stoneware; Temperature: 1240 °C; Full shelf: 25 €."
    assert pieces["| Stoneware | 1240 °C | 25 € |"] == stoneware
    assert pieces["- an apron,"] == "Prices per firing: Before your first session, bring: an apron,"


def test_parts_of_answers() -> None:
    assert answer_parts("No. No refund is given after the second evening.") == [
        "No refund is given after the second evening."
    ]
    assert answer_parts("Yes, £5 per day; the first hour is free.") == ["£5 per day.", "The first hour is free."]
    assert answer_parts("The documents do not say.") == []


@pytest.fixture
def _local_judge(monkeypatch):
    from ragstone.truth.citers import open_local_citer

    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    if not open_local_citer().signature.endswith("judge"):
        pytest.skip("no local judge")


RIGHT = [
    ("On which days is the kiln fired?", "The electric kiln is fired on Tuesdays and Fridays.", [0]),
    ("What does a full shelf of stoneware cost, and how hot is it?", "It costs 25 € and is fired at 1240 °C.", [3]),
    ("What do I bring to my first session?", "Bring an apron and a bucket with a lid.", [4, 5]),
    ("Who is the director of the pottery museum?", "The director of the museum is Ada Moss.", []),
]


@pytest.mark.usefixtures("_local_judge")
@pytest.mark.parametrize(("question", "answer", "right"), RIGHT)
def test_the_pieces_that_support_an_answer_are_proposed(question, answer, right) -> None:
    pieces = [piece.text for piece in quotable(KILN)]
    (row,) = extract([Case("1", question, [answer], passages=[Chunk(KILN)])], Work(None)).found
    assert sorted(fact.text for fact in row.facts) == sorted(pieces[at] for at in right)


def test_nuggets_are_statements_and_one_per_fact() -> None:
    cases = [
        Case("price", "What does a full shelf of stoneware cost?", ["25 €"], passages=[Chunk(KILN)]),
        Case(
            "pronoun",
            "When is the electric kiln fired?",
            ["It is fired on Tuesdays and Fridays."],
            passages=[Chunk(KILN)],
        ),
        Case("yes", "Is the kiln fired on Fridays?", ["Yes, and on Tuesdays."], passages=[Chunk(KILN)]),
    ]
    found = {
        row.case.id: [(fact.text, fact.importance) for fact in row.facts]
        for row in make_nuggets(cases, Work(None)).found
    }
    assert found["price"][0] == ("A full shelf of stoneware costs 25 €.", "vital")
    assert found["pronoun"] == [("The electric kiln is fired on Tuesdays and Fridays.", "vital")]
    assert not any("?" in text or "#" in text for facts in found.values() for text, _ in facts)


def test_nuggets_that_exist_in_other_words_are_not_proposed() -> None:
    known = TruthFact("On Tuesdays and Fridays, the electric kiln is fired.")
    case = Case(
        "1",
        "When is the electric kiln fired?",
        ["It is fired on Tuesdays and Fridays."],
        [known],
        passages=[Chunk(KILN)],
    )
    found = make_nuggets([case], Work(None))
    assert found.count_new([], [case]) == 0


TARIFFS = """# Tariffs of the boat house

| Boat | Weekday | Sunday |
|---|---|---|
| Canoe | 12 € | none |
| Rowing boat | 15 € | 20 € |

There is no discount for pupils on Sundays."""


def test_a_row_about_something_else_is_not_cited() -> None:
    from ragstone.text.overlap import content_stems
    from ragstone.truth.citers import _is_other_row

    rows = [piece.text for piece in quotable(TARIFFS)]
    asked = content_stems("What does a canoe cost on Sunday?")
    wanted = asked | content_stems("20 €")
    assert [_is_other_row(row, asked, wanted) for row in rows] == [False, True, False]
    html = "<tr><td>Canoe</td><td>12 €</td></tr>"
    assert not _is_other_row(html, asked, wanted)
    other = content_stems("Is there a discount for pupils?")
    assert _is_other_row(html, other, other)
    # The label is the name of an option, and another cell says what it is.
    assert not _is_other_row(
        "| `limit` | 50 | page size, at most 200 |", content_stems("How large may a page be?"), other
    )


def test_the_head_of_an_html_table_states_nothing() -> None:
    table = "<table>\n<tr><th>Boat</th><th>Weekday</th></tr>\n<tr><td>Canoe</td><td>12 €</td></tr>\n</table>"
    assert not any("<th>" in piece.text for piece in quotable(table))


def test_none_and_not_in_front_are_left_out() -> None:
    assert answer_parts("None. There is no discount.") == ["There is no discount."]
    assert answer_parts("Not quite: canoes cost 12 €.") == ["Canoes cost 12 €."]


@pytest.mark.usefixtures("_local_judge")
def test_the_sentence_with_most_words_of_question_and_answer_is_cited() -> None:
    chunk = (
        "Guests from the harbour pay no fee. Working from a harbour outside the Baltic, such as Bergen or Oslo, is not "
        "allowed for guests. The quiet hours do not apply to guests who are working."
    )
    question = "Can guests work from Bergen for two weeks?"
    answer = "No. Bergen is a harbour outside the Baltic, so guests are not allowed to work there."
    (row,) = extract([Case("1", question, [answer], passages=[Chunk(chunk)])], Work(None)).found
    sure = [fact.text for fact in row.facts if (fact.confidence or 0) >= 0.8]
    assert sure == ["Working from a harbour outside the Baltic, such as Bergen or Oslo, is not allowed for guests."]


@pytest.mark.parametrize(
    ("question", "answer", "right", "wrong"),
    [
        (
            "Who was the architect of the Main Hall?",
            "Ludwig Amrain.",
            ["The Main Hall was opened in 1958 and designed by the architect Ludwig Amrain."],
            "It seats 1,842 visitors: 1,020 in the stalls and 480 on the first balcony.",
        ),
        (
            "How much does a wheelchair place cost for a symphony concert?",
            "34 euros (price of category D).",
            ["Each wheelchair place is sold at the price of category D."],
            "With a concert ticket you pay the evening flat rate of 7 euros; without a ticket the hour costs 3 euros.",
        ),
        (
            "May I take my rucksack into the auditorium?",
            "Rucksacks must be handed in at the cloakroom, free of charge.",
            [],
            "Subscribers may exchange two concerts per season free of charge.",
        ),
    ],
)
def test_a_piece_about_something_else_is_not_accepted_with_the_others(question, answer, right, wrong) -> None:
    chosen = [Piece(text, text) for text in (wrong, *right)]
    others = (
        "Rucksacks and suitcases must be handed in and may not be taken into the auditorium. A lost token costs 10 euros. "
        "Most concerts have one interval. The booking fee for a concert costs 2 euros. A glass costs 5 euros. "
        "A concert without an interval lasts an hour."
    )
    known = [*chosen, *quotable(others)]
    about = _about(content_stems(question), content_stems(answer), chosen, known)
    assert [piece.text for piece in about] == right
