"""Parts of long clauses: no word is new, none is lost, and their words add up."""

import json
import lzma
from pathlib import Path

import pytest

from ragstone.text.clause_parts import clause_parts
from ragstone.text.clauses import sentence_parts
from ragstone.text.lexicon import lexicon
from ragstone.text.statements import weighed_statements

LONG = Path(__file__).parents[2] / "training/written/preferences.jsonl.xz"
# Words that join clauses are left out; a name may replace a pronoun.
_JOINTS = {
    *lexicon("overlap")["function_words"].split(),
    "because",
    "since",
    "although",
    "though",
    "whereas",
    "while",
    "so",
}


def _words(text):
    return [word.strip(".,;:!–—").lower() for word in text.split()]


def test_parts_of_written_answers_say_nothing_new_and_leave_nothing_out():
    with lzma.open(LONG, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for text in (row[name] for row in rows for name in ("reference", "answer_a", "answer_b")):
        for sentence in text.replace("a.m. ", "").split(". "):
            parts = sentence_parts(f"{sentence.rstrip('.')}.")
            said = {word for part in parts for word in _words(part.text)}
            assert set(_words(sentence)) - _JOINTS <= said
            assert said <= set(_words(sentence))
            assert abs(sum(part.words for part in parts) - len(sentence.split())) <= 2 * len(parts)


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("The fee is 5 crowns.", [5]),
        ("The Hesk was built in 1990 and has two decks.", [6, 3]),
        ("The price includes a towel, a locker and an hour in the pool.", [5, 2, 5]),
        ("Alder removes two steps for the first claim, which raises the premium by 12 %.", [8, 7]),
    ],
)
def test_repeated_words_do_not_count(clause, words):
    assert [part.words for part in clause_parts(clause)] == words


def test_what_completes_a_statement_does_not_count_and_courtesies_are_no_statements():
    assert weighed_statements("What is the fare?", "5 crowns") == [("What is the fare? 5 crowns.", 2)]
    assert weighed_statements("Where?", "Great question! It is on the mole. Let me know if you need more!") == [
        ("It is on the mole.", 5)
    ]
