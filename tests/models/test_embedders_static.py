"""wordllama's vectors without wordllama: the same as its own."""

import numpy as np
import pytest

from ragstone.models.embedders import open_encoder


@pytest.fixture
def model(models):
    if models.find("wordllama") is None:
        pytest.skip("wordllama is not installed")
    return open_encoder("local/wordllama")


def test_vectors_are_those_of_the_package(model):
    import wordllama

    theirs = wordllama.WordLlama.load(cache_dir=wordllama.__path__[0], disable_download=True)
    texts = ["The light stands on the mole.", "mole", "Où est le phare ? 東京"]
    np.testing.assert_allclose(model.encode(texts), theirs.embed(texts, norm=True), atol=1e-5)


def test_a_text_without_words_is_all_zeros(model):
    rows = model.encode(["", "mole"])
    assert not rows[0].any()
    assert np.linalg.norm(rows[1]) == pytest.approx(1, abs=1e-6)
    assert model.signature.startswith("local/wordllama#")
