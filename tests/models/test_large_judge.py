"""The large judge: its card, how replies become probabilities, and when it is used by default."""

import json
import math
from pathlib import Path

import pytest

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.models import large_judge, llama_engine
from ragstone.models.catalogue import MODELS
from ragstone.models.large_judge import (
    find_large_judge,
    open_large_judge,
    read_large_card,
    read_words,
    unused_large_judge,
)
from ragstone.models.store import Store
from tests.tools.large import install_base


def test_the_shipped_card_and_adapter_belong_together():
    card = read_large_card()
    large_judge.Installed("judge-1.5b", card.adapter.parent, "", dict(card.files)).check(thoroughly=True)
    assert card.adapter.stat().st_size < 20_000_000
    assert card.base["sha256"] == MODELS["judge-1.5b"].source.sha256
    assert {"en", "de", "zh"} <= set(card.languages)
    assert 0.5 < card.cascade < 1
    assert all({"data", "measure", "judge"} <= figure.keys() for figure in card.figures)


def test_probabilities():
    card = read_large_card()
    sure = card.read_support({"yes": -0.01, "no": -6.0, "unknown": -6.0})
    assert sure.supported > 0.9
    assert sure.contradicted < 0.1
    denied = card.read_support({"yes": -6.0, "no": -0.01, "unknown": -6.0})
    assert denied.supported < 0.1
    assert denied.contradicted > 0.9
    # At even odds of yes the calibration decides: sigmoid of the bias.
    even = card.read_match({"yes": math.log(0.4), "no": math.log(0.4), "unknown": math.log(0.2)})
    assert even == pytest.approx(1 / (1 + math.exp(-card.readings["match"].bias)))


def test_words_among_the_likely_tokens():
    found = read_words({"yes": -0.1, "no": -3.0, "Yes": -5.0})
    assert found == {"yes": -0.1, "no": -3.0, "unknown": -5.0}, (
        "a word that is missing is at most as likely as the last"
    )
    assert read_words({"Yes": -0.1, "no": -3.0, "The": -5.0}) is None, "a model without the adapter"
    assert read_words({"No": -3.0, "no": -3.1, "yes": -6.0})["no"] == -3.1, "the adapter, with a rival spelling"
    assert read_words({"The": -3.0, "no": -3.1, "yes": -6.0})["yes"] == -6.0, "the adapter: no word has much"
    assert read_words({"The": -1.0, "no": -1.9, "yes": -6.0}) is None, "a model without the adapter"
    assert read_words({"The": -3.0, "no": -4.2, "yes": -6.0}) is None
    one = read_words({"yes": -0.1})
    assert one["no"] == pytest.approx(math.log(1 - math.exp(-0.1))), "a server that returns one alternative"


def test_it_is_found_where_the_base_is_installed(tmp_path, monkeypatch):
    store = install_base(tmp_path, monkeypatch)
    assert open_large_judge(store).adapter == read_large_card().adapter
    assert find_large_judge() is not None
    monkeypatch.setattr("ragstone.models.large_judge.find_spec", lambda _: None)
    assert unused_large_judge().startswith("judge-1.5b is installed, but not used: its engine is missing")
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "off")
    assert not unused_large_judge()
    assert find_large_judge() is None
    assert open_large_judge().identity.startswith("llama/judge-1.5b/"), "it can still be named"


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(llama_engine, "find_spec", lambda _: True)
    with pytest.raises(UsageError, match=r"ragstone models pull judge-1\.5b"):
        open_large_judge(Store(tmp_path / "empty"))
    monkeypatch.setattr(llama_engine, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="ragstone"):
        open_large_judge(Store(tmp_path / "empty"))


def test_a_damaged_adapter_or_card(tmp_path, monkeypatch):
    install_base(tmp_path, monkeypatch)
    folder = tmp_path / "weights"
    folder.mkdir()
    monkeypatch.setattr(large_judge, "_FOLDER", folder)
    read_large_card.cache_clear()
    with pytest.raises(StorageError, match="card cannot be read"):
        read_large_card()
    shipped = json.loads((Path(large_judge.__file__).parent / "weights/judge_1_5b/card.json").read_text())
    (folder / "card.json").write_text(json.dumps(shipped))
    (folder / "adapter.gguf").write_bytes(bytes(shipped["files"]["adapter.gguf"]["bytes"]))
    with pytest.raises(StorageError, match="wrong checksum"):
        open_large_judge()
    read_large_card.cache_clear()
