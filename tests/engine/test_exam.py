"""Signs in the verdicts of a run that its judge does not read."""

import asyncio

import pyarrow as pa
import pytest

from ragstone.engine.exam import _all_equal, _by_number, examine
from ragstone.llm.base import LLMGoneError
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder, write_table

YES, NO = "entailment", "neutral"


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(open_place(tmp_path))


def store(folder, name, values):
    write_table(folder.evidence(name), pa.table({"value": values}))


def diagonal(size):
    return [[YES if row == at else NO for at in range(size)] for row in range(size)]


def by_number(folder, matrices):
    store(folder, "answer_claims_in_contexts", matrices)
    return list(_by_number(folder, {"answer_claims_in_contexts"}, "x"))


def test_claim_k_by_chunk_k(folder):
    [words] = by_number(folder, [diagonal(3)] * 5)
    assert words == "the verdicts of x follow the numbers: claim k is supported by chunk k alone in 15 of 15 claims"


@pytest.mark.parametrize(
    "matrices",
    [
        [diagonal(3)] * 3,  # too few claims
        [diagonal(3)[::-1]] * 9,
        [[[YES, YES, YES]] * 3] * 9,
        [[[YES]]] * 40,  # one claim and one chunk
        [[], None] * 9,
    ],
)
def test_no_sign(folder, matrices):
    assert by_number(folder, matrices) == []


@pytest.mark.parametrize(("verdicts", "count"), [([YES, f"{YES} 0.9 0 0.9"], 1), ([YES, NO], 0), ([YES], 0)])
def test_all_equal(folder, verdicts, count):
    store(folder, "answer_claims_in_reference", [verdicts] * 10 + [None])
    assert len(list(_all_equal(folder, {"answer_claims_in_reference"}, "x"))) == count


def test_evidence_that_the_run_did_not_store(folder):
    assert not [*_all_equal(folder, set(), "x"), *_by_number(folder, set(), "x")]


def test_a_server_that_goes_away_is_not_a_judge_that_guesses():
    class Gone:
        async def check(self, question, claims, texts):
            raise LLMGoneError("no server answers")

    assert asyncio.run(examine(Gone(), "x")) == {}
