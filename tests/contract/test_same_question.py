"""Joins, alignment, duels, harvesting, suspects and the viewer agree on which questions are the same."""

import unicodedata

import pyarrow as pa
import pytest

from ragstone import evaluate
from ragstone.agreement.duels import pair_runs
from ragstone.analysis.alignment import align_samples
from ragstone.errors import UsageError
from ragstone.storage.places import open_place
from ragstone.text.questions import question_key
from ragstone.truth.harvest.pipeline import add_cases
from ragstone.truth.join import CaseMatcher
from ragstone.truth.model import Case
from ragstone.truth.store import TruthStore
from ragstone.truth.suspects.find import find_suspects
from ragstone.web.library import Library
from ragstone.web.truth.case import runs_of
from ragstone.web.truth.rescore import cases_of

QUESTION = "Où est le café ?"
SAME = [
    unicodedata.normalize("NFC", QUESTION),
    unicodedata.normalize("NFD", QUESTION),
    " Où est\u00a0le\n café\u202f?",
    "OÙ EST LE CAFÉ",
    "Où est le café？",
]
OTHER = ["Où est le cafe ?", "Où est le café noir ?", "Où est-ce le café ?"]
QUESTIONS = [*((text, True) for text in SAME), *((text, False) for text in OTHER)]


def _joins(text):
    return CaseMatcher([Case("case", QUESTION)]).find("sample", text, None) is not None


def _aligns(text):
    before, after = (pa.table({"id": [name], "question": [asked]}) for name, asked in (("1", QUESTION), ("2", text)))
    return len(align_samples(before, after)) == 1


def _harvest_knows(text):
    fresh = Case("fresh", text, weight=1.0, metadata={"draws": [1]})
    return add_cases([Case("case", QUESTION)], [fresh]).known == 1


def _conflicts(text):
    cases = [Case("one", QUESTION, ["Rue Haute"]), Case("two", text, ["Quai Bas"])]
    return any(found.kind == "duplicates" for found in find_suspects(cases))


@pytest.mark.parametrize(("text", "same"), QUESTIONS)
@pytest.mark.parametrize(
    "decide",
    [lambda text: question_key(QUESTION) == question_key(text), _joins, _aligns, _harvest_knows, _conflicts],
    ids=["question_key", "join", "alignment", "harvest", "suspects"],
)
def test_one_definition(decide, text, same):
    assert decide(text) is same


@pytest.mark.parametrize(("text", "same"), QUESTIONS)
def test_in_stored_runs_and_the_viewer(tmp_path, text, same):
    rows = [
        {"id": "1", "question": asked, "answer": "Rue Haute", "references": ["Rue Haute"]} for asked in (QUESTION, text)
    ]
    runs = [
        evaluate([row], metrics=["exact_match"], out=str(tmp_path), name=name)
        for row, name in zip(rows, "ab", strict=True)
    ]
    if same:
        assert pair_runs(runs).questions == 1
    else:
        with pytest.raises(UsageError):
            pair_runs(runs)
    TruthStore(open_place(str(tmp_path))).save(
        "gold", [Case("case", QUESTION), Case("twin", text)], author="me", note=""
    )
    library = Library(str(tmp_path))
    try:
        assert [case["name"] for case in cases_of(library, "1", text)] == ["gold"]
        assert len(runs_of(library, "gold", "case")) == (2 if same else 1)
        loaded = library.truth.load("gold")
        assert ("duplicate question" in loaded.problems_at([loaded.rows["case"]])[0]) is same
    finally:
        library.close()
