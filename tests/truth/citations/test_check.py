"""A citation holds only where the passage says the same, and then with the passage's own words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from ragstone.cli.app import app
from ragstone.data.types import Chunk
from ragstone.text.sentences import sentences
from ragstone.truth.citations.check import Held, check_cases, check_citation
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.store import TruthStore
from tests.each_case import each_case
from tests.truth.adversarial import (
    CHANGES_MEANING,
    FERRY,
    GERMAN,
    HARMLESS,
    HYPHENS,
    MEDICINE,
    NOTED,
    REPORT,
    TABLE,
    Attempt,
)

SCHEDULE = Chunk("The last ferry leaves at 21:40. No dogs are allowed.", source="ferry.md")
FARES = Chunk("A ticket costs 4.50 crowns.", source="fares.md")
CASES = [
    Case(
        "a",
        "When does it leave?",
        facts=[
            TruthFact("The last ferry leaves at 21:40."),
            TruthFact("the LAST ferry leaves at 21:40"),
            TruthFact("The last ferry leaves at 21:10."),
        ],
        documents=["ferry.md"],
        passages=[SCHEDULE, FARES],
    ),
    Case(
        "b",
        "What is the fare?",
        facts=[
            TruthFact("4.50 crowns"),
            TruthFact("Children go free.", source="fares.md"),
            TruthFact("It is cheap", "claim"),
        ],
        passages=[SCHEDULE, FARES],
    ),
    Case("c", "Who steers?", facts=[TruthFact("Captain Hale steers.")]),
]


@each_case("attempt", CHANGES_MEANING)
def test_no_citation_that_changes_the_meaning_passes(attempt: Attempt) -> None:
    found = check_citation(attempt.citation, [attempt.passage])
    assert not found.holds, found.text
    assert found.why
    assert (found.passage, found.start, found.end) == (None, None, None)


@each_case("attempt", HARMLESS)
def test_another_spelling_is_repaired(attempt: Attempt) -> None:
    found = check_citation(attempt.citation, ["Another text.", attempt.passage])
    assert found.holds, found.why
    assert found.passage == 1
    assert found.text == attempt.passage[found.start : found.end]
    assert found.verdict == ("stands" if found.text == attempt.citation.strip() else "repaired")


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len(CHANGES_MEANING) + len(HARMLESS) >= 180
    assert min(Counter(attempt.what for attempt in CHANGES_MEANING).values()) >= 2
    languages = [attempt for attempt in (*CHANGES_MEANING, *HARMLESS) if not attempt.citation.isascii()]
    assert len(languages) >= 30


def test_the_true_span_is_found_to_the_character() -> None:
    found = check_citation("the information desk is open daily", [HYPHENS])
    assert found.text == "The infor-\nmation desk is open daily"
    found = check_citation("(no ferries run on 24 december)", [FERRY])
    assert (found.text, found.verdict) == ("No ferries run on 24 December", "repaired")
    found = check_citation("The Alps stretch for 1,200 km", [NOTED])
    assert found.text == "The Alps[1] stretch for 1,200 km"
    found = check_citation("Verrin 21:40 4.50", [TABLE])
    assert found.text == "Verrin | 21:40 | 4.50"


@pytest.mark.parametrize(
    ("citation", "verdict", "words"),
    [
        ("", "invalid", "no words"),
        ("…", "invalid", "no words"),
        ("children under 16 travel free", "invalid", "a number is changed: 6, 16"),
        ("Dogs are not allowed on deck but not in the saloon", "invalid", "a negation is changed: not"),
        ("children under the age of 6 travel free", "absent", "wording differs"),
        ("cost Tickets 4.50 crowns for adults", "invalid", "another order"),
        ("Tickets cost 4.50 crowns for adults and dogs are allowed on deck", "invalid", "joins words"),
        ("ferries run on 24 December", "invalid", "cut off from 'no'"),
        ("Bicycles need no ticket on weekdays", "absent", "not in the passages"),
    ],
)
def test_a_failed_check_says_why(citation: str, verdict: str, words: str) -> None:
    found = check_citation(citation, [FERRY])
    assert (found.verdict, words in str(found.why)) == (verdict, True), found


def test_one_matching_passage_is_enough() -> None:
    passages = ["It cost 3.5 million.", "5 million people came."]
    found = check_citation("5 million", passages)
    assert (found.verdict, found.passage) == ("stands", 1)


def test_a_fact_may_be_a_part_of_a_sentence() -> None:
    for citation in ("21:40", "pier 3", "children under 6 travel free", "$19 million", "4 March 2018"):
        assert check_citation(citation, [FERRY, REPORT]).verdict == "stands", citation


def test_without_passages_nothing_stands() -> None:
    assert check_citation("pier 3", []).verdict == "absent"
    assert check_citation("pier 3", [""]).verdict == "absent"


def test_no_small_change_within_a_sentence_passes() -> None:
    """Every word left out, every two neighbours swapped, every digit raised by one: what is left is not in the text."""
    tried = 0
    for text in (FERRY, REPORT, MEDICINE, GERMAN):
        for start, end in sentences(text):
            for changed in _small_changes(text[start:end]):
                found = check_citation(changed, [text])
                assert not found.holds, (changed, found.text)
                tried += 1
    assert tried > 300


def _small_changes(sentence: str) -> Iterator[str]:
    words = sentence.split()
    for place in range(1, len(words) - 1):
        yield " ".join([*words[:place], *words[place + 1 :]])
        if words[place] != words[place + 1]:
            yield " ".join([*words[:place], words[place + 1], words[place], *words[place + 2 :]])
    for place, letter in enumerate(sentence):
        if letter.isdigit():
            yield f"{sentence[:place]}{(int(letter) + 1) % 10}{sentence[place + 1 :]}"


def test_every_citation_is_counted_once() -> None:
    found = check_cases(CASES)
    assert found.total == Held(checked=5, stands=2, repaired=1, absent=1, invalid=1)
    assert found.total.share == 3 / 5
    assert found.documents == {"ferry.md": Held(3, 1, 1, 0, 1), "fares.md": Held(2, 1, 0, 1, 0)}
    assert (found.no_citations, found.without_passages) == (1, 1)
    assert check_cases([]).total.share is None


def test_mended_cases_have_the_passages_words_and_flags() -> None:
    mended = check_cases(CASES).mend(CASES, drop=False)
    assert [fact.text for fact in mended[0].facts] == [
        "The last ferry leaves at 21:40.",
        "The last ferry leaves at 21:40",
        "The last ferry leaves at 21:10.",
    ]
    assert [fact.standing for fact in mended[0].facts] == ["accepted", "accepted", "proposed"]
    assert "a number is changed" in str(mended[0].facts[2].note)
    assert mended[2] == CASES[2]
    dropped = check_cases(CASES).mend(CASES, drop=True)
    assert [len(case.facts) for case in dropped] == [2, 2, 1]


def _invoke(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["truth", *words])
    return result.exit_code, result.output


def test_the_command_reports_and_saves_only_when_told(tmp_path) -> None:
    store = TruthStore(str(tmp_path))
    store.save("harbour", CASES, author="tester")
    code, output = _invoke("check", "harbour", "-o", str(tmp_path))
    assert code == 0
    assert "harbour@1: 3 of 5 citations hold (60.0%)" in output
    assert "ferry.md" in output
    assert "a number is changed: 40, 10" in output
    assert store.newest("harbour") == 1
    code, output = _invoke("check", "harbour", "--drop", "-o", str(tmp_path), "--json")
    said = json.loads(output)
    assert (code, said["saved"], said["total"]["share"]) == (0, "harbour@2", 0.6)
    assert [len(case.facts) for case in store.read("harbour").cases] == [2, 2, 1]
    assert store.info("harbour").lineage.counts["invalid"] == 1
    code, output = _invoke("check", "harbour", "--drop", "-o", str(tmp_path), "--json")
    assert (json.loads(output)["saved"], json.loads(output)["total"]["share"]) == (None, 1.0)


def test_the_command_reads_a_data_set(tmp_path) -> None:
    data = tmp_path / "data.jsonl"
    row = {
        "id": "1",
        "question": "When?",
        "answer": "21:40",
        "contexts": [SCHEDULE.text],
        "facts": ["at 21:40", "at 9:40"],
    }
    data.write_text(json.dumps(row))
    code, output = _invoke("check", str(data), "--json", "-o", str(tmp_path))
    assert (code, json.loads(output)["total"]["held"], json.loads(output)["total"]["checked"]) == (0, 1, 2)
    code, output = _invoke("check", str(data), "--drop", "-o", str(tmp_path))
    assert code != 0
