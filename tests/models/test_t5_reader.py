"""T5 with numpy, against values of transformers and, where torch is installed, against transformers itself."""

import numpy as np
import pytest

from ragstone.errors import StorageError
from ragstone.models.bert_graph import read_safetensors
from ragstone.models.t5_reader import T5Reader
from tests.models.tiny_checkers import t5_weights, write_safetensors

TOKENS = [7, 3, 209, 41, 41, 100, *range(20, 220), 1]


def config(transformers, **more):
    return transformers.T5Config(
        vocab_size=256, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_decoder_layers=2, num_heads=2, **more
    )


def fill(torch, model, weights):
    if "lm_head.weight" in weights:  # recent versions tie it to the embeddings until a checkpoint is loaded
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
    tensors = {name: torch.tensor(w) for name, w in weights.items()}
    shared = next(value for name, value in tensors.items() if name.endswith("shared.weight"))
    # All embeddings are one, and so is the output layer if it has no weights of its own.
    copies = {name: shared for name in model.state_dict() if "embed_tokens" in name or name == "lm_head.weight"}
    model.load_state_dict({**copies, **tensors}, strict=True)
    return model.eval()


@pytest.mark.parametrize("gated", [True, False])
def test_the_first_token_of_the_decoder_is_that_of_transformers(gated):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    kind = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False} if gated else {}
    weights = t5_weights(gated=gated)
    model = fill(torch, transformers.T5ForConditionalGeneration(config(transformers, **kind)), weights)
    with torch.inference_mode():
        asked = {"input_ids": torch.tensor([TOKENS]), "decoder_input_ids": torch.zeros((1, 1), dtype=torch.long)}
        expected = model(**asked).logits[0, 0].numpy()
    np.testing.assert_allclose(T5Reader(weights).first_token(TOKENS), expected, atol=2e-5)


def test_the_classifier_of_the_first_token_is_that_of_transformers():
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    weights = t5_weights(decoder=False, classes=2, prefix="t5.transformer.")
    model = transformers.T5ForTokenClassification(config(transformers, feed_forward_proj="gated-gelu", num_labels=2))
    fill(torch, model, {name.removeprefix("t5."): value for name, value in weights.items()})
    with torch.inference_mode():
        expected = model(input_ids=torch.tensor([TOKENS])).logits[0, 0].numpy()
    np.testing.assert_allclose(T5Reader(weights).classify(TOKENS), expected, atol=2e-5)


def test_values_that_transformers_returned():
    """As computed by transformers 5.23 and torch 2.13 for the same weights."""
    assert T5Reader(t5_weights()).first_token(TOKENS)[[3, 209]] == pytest.approx(FIRST, abs=1e-4)
    assert T5Reader(t5_weights(gated=False)).first_token(TOKENS)[[3, 209]] == pytest.approx(TIED, abs=1e-4)
    classifier = T5Reader(t5_weights(decoder=False, classes=2, prefix="t5.transformer."))
    assert classifier.classify(TOKENS) == pytest.approx(CLASSES, abs=1e-4)


FIRST = [-1.170746, 1.082226]
TIED = [0.011704, 0.150853]
CLASSES = [1.568871, 0.555181]


def test_weights_in_half_precision_are_read(tmp_path):
    path = tmp_path / "model.safetensors"
    write_safetensors(path, weights := t5_weights(), "BF16")
    read = T5Reader(read_safetensors(path)).first_token(TOKENS)
    np.testing.assert_allclose(read, T5Reader(weights).first_token(TOKENS), atol=0.2)


def test_other_weights_are_refused():
    with pytest.raises(StorageError, match="not those of a T5 model"):
        T5Reader({"embeddings.weight": np.zeros((2, 2))})
    with pytest.raises(StorageError, match="no decoder"):
        T5Reader(t5_weights(decoder=False)).first_token([1])
    with pytest.raises(StorageError, match="no classifier"):
        T5Reader(t5_weights()).classify([1])
