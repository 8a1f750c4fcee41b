"""Models through transformers, where torch is installed: tiny ones of the real architectures, against their own forward pass."""

import math
import re

import numpy as np
import pytest

from ragstone.errors import StorageError
from ragstone.metrics.perplexity import INSTRUCTION
from ragstone.models.classifiers import TorchClassifier, open_classifier
from ragstone.models.embedders import SentenceTransformers
from ragstone.models.scorers import Transformers, open_language_model
from ragstone.models.store import Store
from tests.models.tiny import WORDS, make_tokenizer, tokens

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

BEFORE, TEXT = "the light stands", "where is the boat"
SIZES = {"vocab_size": len(WORDS), "pad_token_id": 0}


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    return Store()


def save(folder, model, marks=True, **special):
    """A folder as the library writes it, with the tokenizer of few words; returns the model."""
    torch.manual_seed(5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=make_tokenizer(marks), unk_token="[UNK]", pad_token="[PAD]", **special
    )
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def make_t5(folder):
    config = transformers.T5Config(
        d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0, eos_token_id=3, **SIZES
    )
    return save(folder, transformers.T5ForConditionalGeneration(config), eos_token="[SEP]")


def make_gpt(folder):
    config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=600, **SIZES)
    return save(folder, transformers.GPT2LMHeadModel(config), marks=False, bos_token="[CLS]", eos_token="[SEP]")


def by_steps(model, wanted, seen, **given):
    """Each token's log-probability from the whole distribution after all before it, one forward pass a step."""
    found = []
    for place, token in enumerate(wanted):
        read = torch.tensor([[*seen, *wanted[:place]]])
        with torch.no_grad():
            logits = model(**{"decoder_input_ids" if given else "input_ids": read}, **given).logits[0, -1].double()
        powers = torch.exp(logits - logits.max())
        found.append(math.log(powers[token] / powers.sum()))
    return found


def test_an_encoder_with_a_decoder(store, tmp_path):
    """As unitxt has it: the encoder reads what stands before, the mark of the end is a token of the text."""
    model = make_t5(tmp_path / "t5")
    store.pull(str(tmp_path / "t5"))
    scorer = open_language_model("local/t5")
    assert isinstance(scorer, Transformers)
    assert re.fullmatch("local/t5#[0-9a-f]{8}", scorer.signature)
    [found, nothing] = scorer.log_probabilities([(BEFORE, TEXT), (BEFORE, "")])
    assert nothing == []
    expected = by_steps(model, tokens(TEXT), [0], input_ids=torch.tensor([tokens(BEFORE)]))
    assert found == pytest.approx(expected, abs=1e-4)
    # The geometric mean is e to the minus the loss that the model itself computes, which is unitxt's way.
    with torch.no_grad():
        loss = model(input_ids=torch.tensor([tokens(BEFORE)]), labels=torch.tensor([tokens(TEXT)])).loss
    assert math.exp(sum(found) / len(found)) == pytest.approx(math.exp(-loss.item()), rel=1e-4)


def test_a_causal_model(store, tmp_path):
    model = make_gpt(tmp_path / "gpt")
    store.pull(str(tmp_path / "gpt"))
    scorer = open_language_model("local/gpt")
    [found, other, alone] = scorer.log_probabilities([(BEFORE, TEXT), ("boat", TEXT), ("", TEXT)])
    # This tokenizer takes a line break for nothing.
    assert found == pytest.approx(by_steps(model, tokens(TEXT)[1:-1], tokens(BEFORE)[:-1]), abs=1e-4)
    assert alone == pytest.approx(by_steps(model, tokens(TEXT)[1:-1], [2]), abs=1e-4)
    assert other != pytest.approx(found, abs=1e-3)


def test_long_texts_are_cut(store, tmp_path):
    make_gpt(tmp_path / "gpt")
    store.pull(str(tmp_path / "gpt"))
    scorer = open_language_model("local/gpt")
    [found] = scorer.log_probabilities([("boat " * 5000, "light " * 5000)])
    assert len(found) == 512
    assert all(map(math.isfinite, found))


def test_names_of_the_hub_come_from_the_store_first(store, tmp_path):
    make_gpt(tmp_path / "gpt")
    store.pull("flan-t5-small", origin=str(tmp_path / "gpt"))
    scorer = open_language_model("hf/google/flan-t5-small")
    assert scorer.signature == "hf/google/flan-t5-small"
    assert len(scorer.log_probabilities([(BEFORE, TEXT)])[0]) == 4


def test_unitxts_own_model_and_number(models):
    """unitxt's tests expect this of google/flan-t5-small for a question and a text."""
    if models.find("flan-t5-small") is None:
        pytest.skip("the model is not there: ragstone models pull flan-t5-small")
    [found] = open_language_model("hf/google/flan-t5-small").log_probabilities(
        [(f"{INSTRUCTION} we are the world", "who are we?")]
    )
    assert math.exp(sum(found) / len(found)) == pytest.approx(0.059865921735763, rel=1e-3)


def test_a_model_that_cannot_be_loaded(store, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(StorageError, match="nobody/nothing cannot be loaded"):
        open_language_model("hf/nobody/nothing").log_probabilities([("a", "b")])


@pytest.mark.parametrize("kind", ["reward", "toxicity"])
def test_classifiers_of_the_seeds_architectures(store, tmp_path, kind):
    """A DeBERTa with one number, as the reward model; a RoBERTa with two classes, as the one for hate speech."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, **SIZES}
    if kind == "reward":
        labels = {0: "LABEL_0"}
        config = transformers.DebertaV2Config(
            **sizes, relative_attention=True, pos_att_type=["p2c", "c2p"], id2label=labels
        )
        model = save(tmp_path / kind, transformers.DebertaV2ForSequenceClassification(config))
    else:
        labels = {0: "nothate", 1: "hate"}
        config = transformers.RobertaConfig(**sizes, max_position_embeddings=514, type_vocab_size=2, id2label=labels)
        model = save(tmp_path / kind, transformers.RobertaForSequenceClassification(config))
    store.pull(kind, origin=str(tmp_path / kind))
    classifier = open_classifier(kind)
    assert isinstance(classifier, TorchClassifier)
    assert classifier.labels == [label.lower() for label in labels.values()]
    second = BEFORE if kind == "reward" else ""
    found = classifier.logits([(TEXT, second), ("boat " * 5000, second and "mole " * 5000)])
    numbers = tokens(TEXT, second) if second else tokens(TEXT)
    given = {"input_ids": torch.tensor([numbers]), "attention_mask": torch.ones((1, len(numbers)), dtype=torch.long)}
    if second:
        given["token_type_ids"] = torch.tensor([[0] * len(tokens(TEXT)) + [1] * (len(numbers) - len(tokens(TEXT)))])
    with torch.no_grad():
        expected = model(**given).logits[0].numpy()
    assert found[0] == pytest.approx(expected, abs=1e-4)
    assert np.isfinite(found).all()


def test_a_model_of_sentence_transformers(tmp_path):
    """A tiny BERT, of which that library takes the mean of all words: against a mean of our own."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, **SIZES}
    model = save(tmp_path / "bert", transformers.BertModel(transformers.BertConfig(**sizes)))
    found = SentenceTransformers(str(tmp_path / "bert")).encode([TEXT, BEFORE])
    for row, text in zip(found, (TEXT, BEFORE), strict=True):
        with torch.no_grad():
            states = model(input_ids=torch.tensor([tokens(text)])).last_hidden_state[0].numpy()
        mean = states.mean(axis=0)
        assert row == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
