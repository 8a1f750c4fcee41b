"""Which embedder a run gets: named, several, one's own, or the one that is on the machine."""

import sys
import types

import numpy as np
import pytest

import ragstone
from ragstone.engine import request as evaluation
from ragstone.engine.catalogue import check
from ragstone.engine.quote import quote
from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools.embedders import Embedding

ROW = {"question": "Where is it?", "answer": "On the mole.", "references": ["It is on the mole."]}
SIMILARITY = "semantic_similarity"


class Constant:
    """All texts are alike, but for the last letter."""

    def __init__(self, name, *angles):
        self.name = self.signature = name
        self._angles = np.radians(angles)

    async def embed(self, texts):
        return np.stack([np.cos(self._angles), np.sin(self._angles)], axis=1)[: len(texts)] * 5


def refuse(name):
    raise AssertionError(name)


def test_without_a_model_nothing_is_offered():
    assert Embedding(None).open_embedder(refuse, dry_run=False) is None
    run = ragstone.evaluate([ROW])
    assert SIMILARITY not in {line.metric for line in run.summary()}
    assert run.info["judge"] is None
    [line] = ragstone.evaluate([ROW], SIMILARITY).summary()
    assert line.reason.startswith("needs an embedder: ")
    assert "--embedder" in line.reason
    assert "models pull minilm" in line.reason


def test_the_model_of_the_machine_is_used_unnamed(minilm):
    run = ragstone.evaluate([ROW])
    assert run.summary()[SIMILARITY].n_ok == 1
    assert "bert_score" not in {line.metric for line in run.summary()}, "slow ones only by name"
    signature = minilm.signature
    assert signature == "local/minilm#53aa5117"
    assert run.info["judge"] == {"embedder": signature}
    stored = {row["metric"]: row["signature"] for row in run.scores.to_pylist()}
    assert f"embedder:{signature}" in stored[SIMILARITY]
    assert run.info["totals"]["calls"] == 0


def test_it_is_not_spoken_of_where_nobody_needs_it(minilm):
    run = ragstone.evaluate([ROW], "token_f1")
    assert run.info["judge"] is None
    assert set(run.info["tools"]) == {"matcher"}


@pytest.mark.slow
def test_many_rows_do_not_wait_for_a_model_that_nobody_named(minilm, monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_ROWS_UNNAMED", 1)
    notes = []
    run = ragstone.evaluate([ROW, ROW], note=notes.append)
    assert SIMILARITY not in {line.metric for line in run.summary()}
    assert notes == [
        "metrics of local models are left out for more than 1 rows; name them, as in -m quick,semantic_similarity"
    ]
    for options in ({"metrics": ["quick", SIMILARITY]}, {"embedder": "local"}):
        assert ragstone.evaluate([ROW, ROW], **options).summary()[SIMILARITY].n_ok == 2


@pytest.mark.parametrize("name", ["local", "local/minilm", "minilm"])
def test_by_name(minilm, name):
    run = ragstone.evaluate([ROW], SIMILARITY, embedder=name)
    assert run.info["judge"] == {"embedder": minilm.signature}


def test_names_that_cannot_be_had():
    with pytest.raises(UsageError, match=r"'minilm'.*ragstone models pull minilm"):
        ragstone.evaluate([ROW], SIMILARITY, embedder="local/minilm")
    with pytest.raises(UnknownNameError, match=r"unknown local embedder 'local/minilmm'\. Did you mean local/minilm"):
        ragstone.evaluate([ROW], SIMILARITY, embedder="local/minilmm")
    with pytest.raises(UsageError, match=r"one side of a \+"):
        ragstone.evaluate([ROW], SIMILARITY, embedder="local+")


def test_sentence_transformers_say_what_they_need(monkeypatch):
    monkeypatch.setattr("ragstone.models.embedders.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install sentence-transformers.*--embedder local"):
        ragstone.evaluate([ROW], SIMILARITY, embedder="sentence-transformers/all-mpnet-base-v2")


def test_sentence_transformers_are_loaded_without_pickles(monkeypatch):
    made = []

    class SentenceTransformer:
        def __init__(self, name, **settings):
            made.append((name, settings))

        def encode(self, texts, normalize_embeddings, show_progress_bar):
            assert normalize_embeddings
            assert not show_progress_bar
            return [[1.0, 0.0] if "It" in text else [0.6, 0.8] for text in texts]

    monkeypatch.setattr("ragstone.models.embedders.find_spec", lambda _: True)
    monkeypatch.setitem(
        sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=SentenceTransformer)
    )
    name = "sentence-transformers/all-mpnet-base-v2"
    run = ragstone.evaluate([ROW, ROW], SIMILARITY, embedder=name)
    assert run.summary()[SIMILARITY].mean == pytest.approx(0.6)
    assert run.info["judge"] == {"embedder": name}
    assert made == [(name, {"model_kwargs": {"use_safetensors": True}})]


def test_several_give_the_mean_of_their_cosines():
    from ragstone.tools.embedders import Ensemble

    both = Ensemble([Constant("a", 0, 60), Constant("b", 0, 90)])
    assert both.signature == "a+b"
    [value] = [line.mean for line in ragstone.evaluate([ROW], SIMILARITY, embedder=both).summary()]
    assert value == pytest.approx((0.5 + 0) / 2)


@pytest.mark.slow
def test_several_by_name(minilm, models):
    if models.find("wordllama") is None:
        pytest.skip("wordllama is not installed")
    names = ("local/minilm", "local/wordllama", "local/minilm+local/wordllama")
    first, second, both = (
        ragstone.evaluate([ROW], SIMILARITY, embedder=name).summary()[SIMILARITY].mean for name in names
    )
    assert both == pytest.approx((first + second) / 2)


def test_validation_knows_what_the_machine_can_do(minilm, monkeypatch):
    assert {SIMILARITY, "bert_score"} <= set(check([ROW]).possible)
    monkeypatch.setenv("RAGSTONE_MODELS", "/nowhere")
    assert SIMILARITY not in check([ROW]).possible


def test_a_quote_computes_nothing(minilm, monkeypatch):
    monkeypatch.setattr("ragstone.models.embedders.MiniLM.encode", refuse)
    monkeypatch.setattr("ragstone.models.embedders.MiniLM.encode_pieces", refuse)
    found = quote([ROW], [SIMILARITY, "bert_score"])
    assert (found.total.calls, found.total.cost_usd) == (0, 0)
    assert found.skipped == {}


def test_a_broken_model_is_as_good_as_none_where_nobody_named_it(tmp_path, monkeypatch, minilm):
    home = tmp_path / "minilm"
    home.mkdir()
    (home / "model.json").write_text((minilm.folder / "model.json").read_text())
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path))
    assert SIMILARITY not in {line.metric for line in ragstone.evaluate([ROW]).summary()}
    with pytest.raises(ragstone.RagstoneError, match=r"'minilm' has no .*ragstone models pull minilm"):
        ragstone.evaluate([ROW], SIMILARITY, embedder="local")
