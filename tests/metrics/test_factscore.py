"""FActScore with a perfect judge over HTTP and a corpus of the world."""

import json

import pytest

import ragstone
from ragstone.data.types import Chunk
from ragstone.metrics.factscore import _groups
from tests.oracle.expected import claims
from tests.oracle.language import say
from tests.oracle.server import OracleServer
from tests.oracle.verdicts import verdict
from tests.oracle.world import SHIPS, make_samples, truth

SAMPLES = [sample for sample in make_samples(20, seed=8) if sample.language == "en"]
ROWS = [sample.row() for sample in SAMPLES]
ATTRIBUTES = ("launched", "captain", "port", "cargo", "length", "flag")
TRUTHS = {ship: [say("en", truth("en", ship, name), wording=1) for name in ATTRIBUTES] for ship in SHIPS["en"]}


def expected(sample):
    said = claims(sample.answer)
    if sample.noncommittal or not said:
        return None
    right = sum(verdict(claim.meaning, TRUTHS[sample.subject]) == "entailment" for claim in said)
    return right / len(said)


@pytest.mark.parametrize("kind", ["chunks", "documents"])
def test_claims_are_held_against_the_corpus(tmp_path, kind):
    texts = {ship: " ".join(statement.text for statement in told) for ship, told in TRUTHS.items()}
    corpus = tmp_path / "corpus.jsonl"
    if kind == "chunks":
        corpus.write_text("\n".join(json.dumps({"id": ship, "text": text}) for ship, text in texts.items()))
    else:
        corpus = tmp_path / "ships"
        corpus.mkdir()
        for ship, text in texts.items():
            (corpus / f"{ship}.txt").write_text(text)
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, "verdicts": "json"}
        run = ragstone.evaluate(ROWS, ["factscore"], tmp_path / "runs", corpus=str(corpus), **options)
    assert server.problems == []
    found = {row["sample_id"]: row["value"] for row in run.scores.to_pylist()}
    assert found == pytest.approx({sample.id: expected(sample) for sample in SAMPLES})
    assert len({value for value in found.values() if value is not None}) > 1
    signature = run.scores.to_pylist()[0]["signature"]
    assert "corpus:words/1" in signature
    passages = [names for row in run.evidence("corpus_passages")["value"].to_pylist() if row for names in row]
    assert max(len(names) for names in passages) == 5


def test_without_a_corpus_it_says_how_to_get_one(tmp_path):
    run = ragstone.evaluate([{"question": "q", "answer": "a"}], "factscore", tmp_path, judge=lambda prompts: prompts)
    assert "--corpus" in run.info.skipped["factscore"]


def test_given_verdicts_need_no_corpus(tmp_path):
    row = {"question": "q", "answer": "It is so. It is not.", "answer_claims": ["a", "b"]}
    run = ragstone.evaluate([{**row, "answer_claims_in_corpus": ["entailment", "neutral"]}], "factscore", tmp_path)
    assert run.summary()["factscore"].mean == 0.5


def test_claims_share_a_call_as_far_as_their_passages_fit():
    passages = [Chunk(str(number)) for number in range(15)]
    found = [passages[:5], passages[3:8], [], passages[5:12], passages[12:15]]
    assert list(_groups(found)) == [[0, 1], [3, 4]]
    assert list(_groups([[], []])) == []
