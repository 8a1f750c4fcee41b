"""The share of citations that hold, document by document, and what becomes of the others."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from ragstone.cli.app import app
from ragstone.data.types import Chunk
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.checking import Held, check_cases, mend_cases
from ragstone.truth.versions import TruthStore

FERRY = Chunk("The last ferry leaves at 21:40. No dogs are allowed.", source="ferry.md")
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
        passages=[FERRY, FARES],
    ),
    Case(
        "b",
        "What is the fare?",
        facts=[
            TruthFact("4.50 crowns"),
            TruthFact("Children go free.", source="fares.md"),
            TruthFact("It is cheap", "claim"),
        ],
        passages=[FERRY, FARES],
    ),
    Case("c", "Who steers?", facts=[TruthFact("Captain Hale steers.")]),
]


def test_every_citation_is_counted_once() -> None:
    found = check_cases(CASES)
    assert found.total == Held(checked=5, stands=2, repaired=1, absent=1, invalid=1)
    assert found.total.share == 3 / 5
    assert found.documents == {"ferry.md": Held(3, 1, 1, 0, 1), "fares.md": Held(2, 1, 0, 1, 0)}
    assert (found.no_citations, found.without_passages) == (1, 1)
    assert check_cases([]).total.share is None


def test_mended_cases_have_true_words_and_flags() -> None:
    mended = mend_cases(CASES, check_cases(CASES), drop=False)
    assert [fact.text for fact in mended[0].facts] == [
        "The last ferry leaves at 21:40.",
        "The last ferry leaves at 21:40",
        "The last ferry leaves at 21:10.",
    ]
    assert [fact.standing for fact in mended[0].facts] == ["accepted", "accepted", "proposed"]
    assert "a number is changed" in str(mended[0].facts[2].note)
    assert mended[2] == CASES[2]
    dropped = mend_cases(CASES, check_cases(CASES), drop=True)
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
        "contexts": [FERRY.text],
        "facts": ["at 21:40", "at 9:40"],
    }
    data.write_text(json.dumps(row))
    code, output = _invoke("check", str(data), "--json", "-o", str(tmp_path))
    assert (code, json.loads(output)["total"]["held"], json.loads(output)["total"]["checked"]) == (0, 1, 2)
    code, output = _invoke("check", str(data), "--drop", "-o", str(tmp_path))
    assert code != 0
