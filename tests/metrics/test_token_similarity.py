"""Tokens against tokens: hand-made vectors, the laws that must hold, and the same from POT on real ones."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.data.types import Sample
from ragstone.errors import Skip
from ragstone.metrics.token_similarity import (
    TokenMatch,
    TokenMoves,
    bert_score,
    mover_score,
    token_matches,
    token_moves,
    wmd,
)
from tests.metrics.scoring import cell


class Fixed:
    """Vectors by hand: a word is an angle in degrees; its rarity stands behind a colon."""

    async def embed_tokens(self, texts):
        return [self._embed(text.split()) for text in texts]

    def _embed(self, words):
        pairs = [(word + ":1").split(":")[:2] for word in words]
        angles = np.radians([float(angle) for angle, _ in pairs])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1), np.array([float(weight) for _, weight in pairs])


def matches(answer, *references):
    return asyncio.run(token_matches(answer, list(references), Fixed()))


def moves(answer, *references):
    return asyncio.run(token_moves(answer, list(references), Fixed()))


def test_bert_score_by_hand():
    # 0° finds 0° (1); 90° finds 60° (cos 30°); 60° finds 90°; 0° finds 0°; 180° finds 90° (0).
    [found] = matches("0:1 90:3", "0:1 60:1 180:2")
    near = np.cos(np.radians(30))
    assert found.precision == pytest.approx((1 + near) / 2)
    assert found.recall == pytest.approx((1 + near + 0) / 3)
    assert found.rare_precision == pytest.approx((1 + 3 * near) / 4)
    assert found.rare_recall == pytest.approx((1 + near) / 4)
    assert bert_score([found], part="precision") == found.precision
    assert bert_score([found], part="recall", idf=True) == found.rare_recall
    p, r = found.precision, found.recall
    assert bert_score([found]) == pytest.approx(2 * p * r / (p + r))


def test_the_best_reference_counts_as_a_whole():
    good, bad = TokenMatch(0.6, 0.6, 0, 0), TokenMatch(0.9, 0.1, 0, 0)
    assert bert_score([bad, None, good], part="precision") == 0.6


def test_a_baseline_is_taken_off():
    match = TokenMatch(0.6, 0.6, 0, 0)
    assert bert_score([match], baseline=0.2) == pytest.approx(0.5)
    assert bert_score([TokenMatch(-1, -1, 0, 0)], baseline=0.5) == -1
    with pytest.raises(ValueError, match="baseline must be from 0 to below 1"):
        bert_score([match], baseline=1.0)


def test_moves_by_hand():
    # From 0° to 0° and 90°: half stays, half goes over √2.
    [found] = moves("0:1", "0:3 90:1")
    assert found.distance == pytest.approx(np.sqrt(2) / 2)
    assert found.rare_distance == pytest.approx(np.sqrt(2) / 4)
    assert wmd([found]) == found.distance
    assert mover_score([found]) == pytest.approx(1 / (1 + found.rare_distance))
    assert wmd([TokenMoves(0.5, 0), None, TokenMoves(0.2, 1)]) == 0.2


def test_an_empty_answer_and_an_empty_reference():
    assert bert_score(matches("", "0 90")) == 0
    assert wmd(moves("", "0 90")) == 2
    assert mover_score(moves("", "0")) == pytest.approx(1 / 3)
    assert matches("0", "") == moves("0", "") == [None]
    assert matches("0") == moves("0") == []
    for metric, evidence in ((bert_score, matches("0", "")), (wmd, moves("0", "")), (mover_score, [])):
        with pytest.raises(Skip, match="no reference has a word"):
            metric(evidence)


def test_opposite_texts():
    assert bert_score(matches("0", "180")) == pytest.approx(-1)
    assert wmd(moves("0", "180")) == pytest.approx(2)


texts = st.lists(
    st.tuples(st.integers(0, 359), st.integers(1, 9)).map(lambda pair: f"{pair[0]}:{pair[1]}"), min_size=1, max_size=6
).map(" ".join)


@given(texts, texts)
def test_laws(one, other):
    [there], [back] = matches(one, other), matches(other, one)
    assert there.precision == pytest.approx(back.recall)
    assert there.rare_recall == pytest.approx(back.rare_precision)
    assert -1 <= bert_score([there]) <= 1
    assert bert_score([there]) == pytest.approx(bert_score([back]))
    [far], [near] = moves(one, other), moves(other, one)
    assert far.distance == pytest.approx(near.distance, abs=1e-9)
    assert far.rare_distance == pytest.approx(near.rare_distance, abs=1e-9)
    assert 0 <= far.distance <= 2 + 1e-9
    assert 1 / 3 - 1e-9 <= mover_score([far]) <= 1


@given(texts)
def test_the_same_text(text):
    assert bert_score(matches(text, text)) == pytest.approx(1)
    assert bert_score(matches(text, text), idf=True) == pytest.approx(1)
    assert mover_score(moves(text, text)) == pytest.approx(1, abs=1e-6)
    assert wmd(moves(text, text)) == pytest.approx(0, abs=1e-6)


def test_in_a_run_without_the_model_they_say_how_to_get_it():
    row = {"answer": "It is red.", "references": ["It is white."]}
    run = ragstone.evaluate([row], ["bert_score", "wmd"])
    assert {line.reason for line in run.summary()} == {
        "needs a token embedder: install one: ragstone models pull minilm"
    }


def test_values_are_stored_with_their_evidence():
    sample = Sample("1", answer="aa bb", references=["aa", "bb aa"])
    assert cell(sample, "bert_score").value == pytest.approx(1)
    assert cell(sample, "wmd").value == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_on_real_vectors_as_pot_and_numpy_have_it(minilm):
    ot = pytest.importorskip("ot")
    from ragstone.models.embedders import MiniLM

    answer, reference = "The lamp of the tower was lit in 1871.", "In the autumn of 1871 the lighthouse was first lit."
    run = ragstone.evaluate(
        [{"answer": answer, "references": [reference]}],
        ["bert_score", "bert_score.recall", "bert_score(idf=true, part=precision)", "wmd", "mover_score"],
    )
    found = [line.mean for line in run.summary()]
    (said, weight), (expected, other) = MiniLM(minilm).encode_pieces([answer, reference])
    cosines = np.array([[float(np.dot(one, two)) for two in expected] for one in said])
    precision, recall = np.mean([max(row) for row in cosines]), np.mean([max(row) for row in cosines.T])
    costs = ot.dist(said, expected, metric="euclidean")
    even = ot.emd2(ot.unif(len(said)), ot.unif(len(expected)), costs)
    rare = ot.emd2(weight / weight.sum(), other / other.sum(), costs)
    assert found == pytest.approx(
        [
            2 * precision * recall / (precision + recall),
            recall,
            sum(max(row) * w for row, w in zip(cosines, weight, strict=True)) / weight.sum(),
            even,
            1 / (1 + rare),
        ],
        abs=1e-6,
    )
    assert 0.5 < found[0] < 1
