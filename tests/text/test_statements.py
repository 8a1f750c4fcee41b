"""Texts as statements, and the names in them, by rules."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text import statements as module
from ragstone.text.names import has_capitals, names
from ragstone.text.questions import complete, is_fragment
from ragstone.text.statements import sentences_around, statements, weighed_statements, without_question


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Where is it?", "", []),
        ("Where is it?", "…", []),
        ("Where is it?", "It is on the mole. It is red.", ["It is on the mole.", "It is red."]),
        # A name of the question for a pronoun, where there is but one.
        ("Who was Ada Byron?", "She was a mathematician.", ["Ada Byron was a mathematician."]),
        ("Who was Ada Byron?", "Her mother was Anne.", ["Ada Byron's mother was Anne."]),
        ("Did Ada meet Babbage?", "She was his friend.", ["She was his friend."]),
        # What opens an answer is no part of what it says.
        ("When?", "Based on the provided context, the light was built in 1903.", ["The light was built in 1903."]),
        ("When was it built?", "Based on the context, the answer is 1903.", ["When was it built? 1903."]),
        # Two clauses, and two verbs of one subject.
        (
            "What is the Hesk?",
            "The Hesk is a ferry, and the Marrow is a tug.",
            ["The Hesk is a ferry.", "The Marrow is a tug."],
        ),
        (
            "What is the Hesk?",
            "The Hesk was built in 1990 and has two decks.",
            ["The Hesk was built in 1990.", "The Hesk has two decks."],
        ),
        # Not where the second part does not stand alone, or belongs to something else.
        ("Fares?", "The fare is 5 for adults and 3 for children.", ["The fare is 5 for adults and 3 for children."]),
        (
            "Who?",
            "The captain who is ill and has a fever was replaced.",
            ["The captain who is ill and has a fever was replaced."],
        ),
        # Lists with the words that open them.
        (
            "Which ferries?",
            "The ferries are:\n- Hesk\n- **Marrow** [1]\n\nBoth of them are red.",
            ["The ferries are: Hesk.", "The ferries are: Marrow.", "Both of them are red."],
        ),
        # Items that are sentences do without.
        (
            "How do I reset it?",
            "To reset the pump, do the following:\n1. Turn the valve to the left\n2. It is ready after 5 minutes",
            ["Turn the valve to the left.", "It is ready after 5 minutes."],
        ),
        # A heading is not a claim, unless there is nothing else.
        (
            "What do I pay?",
            "## Fees\n\nYou pay 5 crowns.\n\n**Cards**\nCards are free.",
            ["You pay 5 crowns.", "Cards are free."],
        ),
        ("Where?", "**Paris**", ["Where? Paris."]),
        # A sentence without a full stop does not get the question.
        ("May I bring a dog?", "Dogs are allowed on the upper deck", ["Dogs are allowed on the upper deck."]),
        # A pronoun further on may stand for something else.
        ("What is the Hesk?", "It is a ferry. It is red.", ["Hesk is a ferry.", "It is red."]),
        # Code is one statement and stays as it is.
        (
            "How do I start it?",
            "The command is short. Run it:\n```sh\npump start; pump status. And wait\n```\nIt takes a minute.",
            ["The command is short.", "pump start; pump status. And wait", "It takes a minute."],
        ),
        # A sentence before code is the statement; a single line of code, or one that it needs, belongs to it.
        (
            "How do I empty the bilge?",
            "Open the seacock before you switch on the pump:\n```sh\npump on --bilge\n```\nIt stops by itself.",
            ["Open the seacock before you switch on the pump: pump on --bilge", "It stops by itself."],
        ),
        (
            "How do I read the tank level?",
            "Read the sensor of the fresh water tank every minute:\n```py\nwhile True:\n    read()\n```",
            ["Read the sensor of the fresh water tank every minute"],
        ),
        (
            "How do I empty the bilge?",
            "To empty the bilge at night, run the following:\n```sh\nquiet on\npump on\n```",
            ["To empty the bilge at night, run the following: quiet on pump on"],
        ),
        # An answer in a word or two says nothing without its question.
        ("What is the fare?", "5 crowns", ["What is the fare? 5 crowns."]),
        ("谁建造了灯塔？", "王明", ["谁建造了灯塔？ 王明."]),
        # Nothing is claimed by a question or by who declines.
        ("Where?", "I do not know. Would you like to know more?", []),
        # Each once.
        ("Where?", "It is on the mole. It is on the mole.", ["It is on the mole."]),
        # Scripts without spaces: sentences.
        ("灯塔在哪里？", "灯塔建于1903年。它高30米，现在是博物馆。", ["灯塔建于1903年。", "它高30米，现在是博物馆。"]),
    ],
)
def test_statements(question, text, expected):
    assert statements(question, text) == expected


def test_a_book_is_not_read_to_its_end_and_any_text_is_survived():
    assert len(statements("Where?", "".join(f"The light number {n} is red. " for n in range(5000)))) == 100
    for text in ("\u0000\ud7ff" * 50, "a" * 100_000, "- " * 500, "|---|---|\n" * 20, "😀 😀", "١٢٣"):
        statements(text, text)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [("21:10", True), ("Two", True), ("on the mole", True), ("It is red.", False), ("The boat leaves at 9.", False),
     ("雷纳", True), ("灯塔建于1903年。", False), ("The ferries are: Hesk", False)],
)  # fmt: skip
def test_fragments(text, fragment):
    assert is_fragment(text) is fragment


def test_a_short_answer_and_its_question():
    assert complete("In which year was  the light built?", "1903.") == "In which year was the light built? 1903."
    assert complete("", "1903") == "1903"
    assert complete("When?", "") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Hesk was built by Ada Moor in 1990.", ["Hesk", "Ada Moor", "1990"]),
        ("Paris", ["Paris"]),
        ("Boats leave at 21:10, fares rise by 5 %.", ["21:10", "5 %"]),
        ("The University of Oslo and NATO agreed.", ["University of Oslo and NATO"]),
        ("nothing here", []),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


def test_scripts_with_and_without_capitals():
    assert has_capitals("Ada")
    assert has_capitals("ἄλφα")
    assert has_capitals("21:10")
    assert not has_capitals("灯塔建于1903年")


_SUBJECTS = ("The ferry", "A ticket", "Ada Moor", "The keeper of the light", "Each guest", "It")
_PREDICATES = (
    "is red",
    "costs 5 crowns",
    "has two decks",
    "was built in 1903",
    "must be paid at the desk",
    "covers dental care",
)
_ORDERS = ("turn the valve to the left", "close the lid with care", "wait for ten minutes outside")
_JOINTS = ("; ", ", and ", ", but ", " and ", ", while ", ", because ", ". ", ".\n- ", ", if it rains, ")
_CLAUSES = st.one_of(
    st.builds("{} {}".format, st.sampled_from(_SUBJECTS), st.sampled_from(_PREDICATES)), st.sampled_from(_ORDERS)
)
_CONNECTIVES = frozenset(["and", "but", "while", "because", "so"])


@given(st.lists(st.tuples(_CLAUSES, st.sampled_from(_JOINTS)), min_size=1, max_size=6))
def test_no_word_is_lost_but_connectives(parts):
    text = "".join(f"{clause}{joint}" for clause, joint in parts[:-1]) + parts[-1][0] + "."
    found = statements("What is it?", text)
    assert found == statements("What is it?", text)
    kept = {word.strip(".,;").lower() for statement in found for word in statement.split()}
    # "It" after a statement about one thing becomes that thing.
    assert {word.strip(".,;-").lower() for word in text.split()} - {"", "it"} <= kept | _CONNECTIVES
    assert all(statement.strip() for statement in found)


@given(st.text(max_size=300))
def test_any_text_gives_the_same_statements_twice(text):
    assert statements("Where?", text) == statements("Where?", text)
    assert all(statements("Where?", text))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "...", "- \n- ", "```\n```"])
def test_an_empty_answer_makes_no_claims(text):
    assert statements("Where is it?", text) == []


def test_a_long_question_is_written_out_only_for_the_statements_that_are_returned(monkeypatch):
    """Counts the characters of completed fragments: 200 fragments and 2,000 cost the same."""
    question = "When does the ferry sail? " * 1_000
    written = Counter()

    def counted(asked, answer):
        made = complete(asked, answer)
        written[count] += len(made)
        return made

    monkeypatch.setattr(module, "complete", counted)
    for count in (200, 2_000):
        text = "\n".join(f"- item {number}" for number in range(count))
        assert len(statements(question, text)) == 100
        assert len(statements(question, "\n- Paris" * count)) == 1
    assert written[200] == written[2_000]


def test_a_row_of_a_table_is_one_statement_per_cell():
    text = "You pay £750.\n\n| Goods | Deposit | Days |\n|---|---|---|\n| Tent (large) | £300 | 3 |\n| Stage | £400 | – |\n\nThat is all."
    assert weighed_statements("How much?", text) == [
        ("You pay £750.", 3), ("Tent (large): Deposit £300.", 3), ("Tent (large): Days 3.", 1), ("Stage: Deposit £400.", 2),
        ("That is all.", 3),
    ]  # fmt: skip
    html = "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Bench</td><td>£6</td></tr></table>"
    assert statements("", html) == ["Bench: Price £6."]


@pytest.mark.parametrize(
    "text",
    [
        "The leaflets I was given say nothing about parking. The front desk can tell you more.",
        "Dogs do not appear in the documents available to me, so I cannot answer this.",
        "The price lists I can see contain tables and chairs, but nothing about plates.",
    ],
)
def test_a_refusal_states_nothing(text):
    assert statements("May I bring a dog?", text) == []
    assert statements("May I bring a dog?", f"{text} A cat pays 3 €.")[-1] == "A cat pays 3 €."


def test_an_answer_of_two_words_is_completed_by_its_question():
    assert statements("May I bring a dog?", "You may not. Cats are welcome.") == [
        "May I bring a dog? You may not.",
        "Cats are welcome.",
    ]
    # Here "it" has no meaning of its own.
    assert statements("Is the TV broken?", "It is not certain that rain is the cause.")[0].startswith("It is")


def test_the_sentences_around_a_claim():
    text = "The pump is loud. It runs at night, which costs 3 €."
    assert sentences_around("Why?", text, ["It costs 3 €.", "The pump is loud."]) == [text, "Why? The pump is loud."]
    assert sentences_around("Why?", "", ["A."]) == ["A."]


@pytest.mark.parametrize(
    ("opening", "rest"),
    [
        ("Thank you for your question!", "The fee is 5 euros."),
        ("I'm happy to help.", "A reading of 65% is too high."),
        ("Thanks for reaching out.", "You are pleased to pay."),
        ("Hello Anna,\n\n", "the fee is 5 euros."),
        ("Hi!", "The fee is 5 euros."),
        ("Vielen Dank für Ihre Anfrage.", "Die Hütte öffnet im Mai."),
        ("Glad you asked!", "It opens in May."),
    ],
)
def test_a_polite_opening_is_no_statement(opening, rest):
    assert [text.casefold() for text in statements("How is it?", f"{opening} {rest}")] == [rest.casefold()]


@pytest.mark.parametrize(
    "order", ["Contact us if in doubt.", "Please call us if you have any further questions.", "Check it and compare."]
)
def test_an_order_with_nothing_to_check_is_no_statement(order):
    assert statements("How is it?", f"The fee is 5 euros. {order}") == ["The fee is 5 euros."]


@pytest.mark.parametrize(
    "order",
    [
        "Hold the reset button for 10 seconds.",
        "Contact us if the lamp blinks.",
        "Call us on 555 0147 if in doubt.",
        "Please contact the hospital directly.",
    ],
)
def test_an_order_with_a_fact_stays(order):
    assert statements("How is it?", f"The fee is 5 euros. {order}") == ["The fee is 5 euros.", order]


def test_a_hope_is_no_statement():
    assert statements("Fine, thanks!", "You're welcome! I hope the replacement arrives soon.") == []
    assert statements("When?", "We hope to see you on Friday! It opens at nine.") == ["It opens at nine."]


@pytest.mark.parametrize(
    "text",
    [
        "Thank you notes are sent to donors of 100 euros.",
        "Hello Kitty mugs cost 9 euros.",
        "Hi-fi sets are sold upstairs.",
        "We hope for rain in May; the dam is half empty.",
    ],
)
def test_a_statement_that_begins_like_a_greeting_stays(text):
    assert statements("What is it?", text) == [text]


def test_a_short_answer_is_completed_by_the_last_question_only():
    asked = "I live 25 miles from Ludlow. Do I pay for travel?"
    assert statements(asked, "Yes.") == ["Do I pay for travel? Yes."]
    assert statements("Tell me the price of travel. I live in Ludlow.", "£20") == [
        "Tell me the price of travel. I live in Ludlow. £20."
    ]


@pytest.mark.parametrize(
    ("question", "answer", "shown"),
    [
        ("When does the last  boat leave?", "21:40", ["21:40."]),
        ("I have a dog. Does it pay?", "Half fare.", ["Half fare."]),
        # A question may have neither a capital letter nor a question mark.
        ("where can I park", "No own car park; £1.80 an hour", ["No own car park; £1.80 an hour."]),
        ("Do dogs pay?", "Dogs pay half fare.", ["Dogs pay half fare."]),
        ("", "21:40", ["21:40."]),
    ],
)
def test_a_statement_is_shown_without_the_question_that_completes_it(question, answer, shown):
    assert [without_question(question, one) for one in statements(question, answer)] == shown


def test_the_user_is_not_what_a_pronoun_means():
    assert statements("Do I need a liner?", "Yes, it is compulsory.") == ["It is compulsory."]
    assert statements("Does Marta pay?", "She pays half.") == ["Marta pays half."]


def test_a_no_that_the_next_sentence_explains_is_no_claim_of_its_own():
    for no in ("I'm afraid not. ", "Unfortunately not. ", "Sorry, not! "):
        assert statements("May I bring my cat?", f"{no}Cats are not allowed.") == ["Cats are not allowed."]
    assert statements("May I bring my cat?", "I'm afraid not.") == ["May I bring my cat? I'm afraid not."]
    assert statements("May I?", "Not all cats are allowed.") == ["Not all cats are allowed."]


def test_a_pronoun_is_not_what_an_earlier_question_names():
    earlier, asked = "How loud is the Fjell 8?", "Does silent mode also work when it's cold?"
    reference = "It is suspended automatically below -8 degrees outdoors."
    assert statements(f"{earlier} {asked}", reference) == [reference]
    assert statements(earlier, "It is quiet.") == ["Fjell 8 is quiet."]
