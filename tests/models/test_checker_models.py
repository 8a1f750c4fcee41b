"""The field's checkers in this process, with toy weights of the same architectures."""

import numpy as np
import pytest

from ragstone.errors import StopRunError, UsageError
from ragstone.models.checker_facts import CHECKERS
from ragstone.models.checker_models import CheckerModel, open_checker_model
from ragstone.models.store import Store
from tests.models.tiny_checkers import byte_tokenizer, encoder_folder, installed, t5_folder

TEXT, CLAIM = "the light stands on the mole", "it is a light"


def softmax(logits):
    powers = np.exp(np.asarray(logits, float) - np.max(logits, axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def open_toy(tmp_path, name, make, *arguments, **named):
    weights = make(tmp_path / "made" / name, *arguments, **named)
    installed(tmp_path / "store", tmp_path / "made" / name, name)
    return weights, open_checker_model(CHECKERS[name], name, Store(tmp_path / "store"))


def mean_logits(weights, *texts):
    """Logits of the toy encoder: one text, or a pair whose second segment has its own vector."""
    words, segments = weights
    encoded = byte_tokenizer("[CLS]", "[SEP]").encode(*texts)
    return (words[encoded.ids] + segments[encoded.type_ids]).mean(axis=0)


@pytest.mark.parametrize("name", ["factcg", "minicheck-deberta", "minicheck-roberta"])
def test_classifiers_read_one_text_and_return_class_1(tmp_path, name):
    weights, model = open_toy(tmp_path, name, encoder_folder, 2)
    filled = CHECKERS[name].fill("", CLAIM, TEXT)
    found = model.read("", CLAIM, TEXT)
    assert found.support == pytest.approx(softmax(mean_logits(weights, filled))[1], abs=1e-6)
    assert found.contradiction == 0


def test_nli_reads_a_pair_and_knows_contradiction(tmp_path):
    weights, model = open_toy(tmp_path, "nli-deberta-v3-xsmall", encoder_folder, 3)
    contradicted, entailed, _ = softmax(mean_logits(weights, TEXT, CLAIM))
    found = model.read("", CLAIM, TEXT)
    assert found.support == pytest.approx(entailed, abs=1e-6)
    assert found.contradiction == pytest.approx(min(contradicted, 1 - entailed), abs=1e-6)


def test_alignscore_takes_the_mean_over_sentences_of_the_best_chunk(tmp_path):
    weights, model = open_toy(tmp_path, "alignscore", encoder_folder, 3)
    claim = "The light is on. The mole is wet."
    by_sentence = [softmax(mean_logits(weights, TEXT, part))[0] for part in ("The light is on.", "The mole is wet.")]
    assert model.read("", claim, TEXT).support == pytest.approx(np.mean(by_sentence), abs=1e-6)


def test_windows_are_read_one_by_one_and_the_best_counts(tmp_path, monkeypatch):
    _, model = open_toy(tmp_path, "minicheck-flan-t5", t5_folder)
    asked = []

    def count(question, claim, window):
        asked.append(window)
        return type("R", (tuple,), {"support": 0, "contradiction": 0})((len(asked) / 10, 0.0))

    monkeypatch.setattr(model, "_pair", count)
    text = " ".join(f"The number {n} is an ordinary number." for n in range(200))
    assert model.read("", CLAIM, text).support == pytest.approx(0.3)
    assert [len(window.split()) for window in asked] == [497, 497, 406]


def test_hhem_is_the_first_token_of_the_encoder(tmp_path):
    from ragstone.models.t5_reader import T5Reader

    sizes = {"decoder": False, "classes": 2, "prefix": "t5.transformer."}
    weights, model = open_toy(tmp_path, "hhem-2.1-open", t5_folder, **sizes)
    ids = byte_tokenizer().encode(CHECKERS["hhem-2.1-open"].fill("", CLAIM, TEXT)).ids
    assert ids[0] == 0  # <pad>
    assert model.read("", CLAIM, TEXT).support == pytest.approx(softmax(T5Reader(weights).classify(ids))[1])


@pytest.mark.parametrize("name", ["minicheck-flan-t5", "true-nli"])
def test_t5_compares_the_tokens_for_no_and_yes(tmp_path, name):
    from ragstone.models.t5_reader import T5Reader

    weights, model = open_toy(tmp_path, name, t5_folder)
    ids = byte_tokenizer().encode(CHECKERS[name].fill("", CLAIM, TEXT)).ids
    no, yes = T5Reader(weights).first_token(ids)[[3, 209]]
    assert model.read("", CLAIM, TEXT).support == pytest.approx(softmax([no, yes])[1])
    if name == "minicheck-flan-t5":
        assert ids.count(1) == 2  # </s> between text and claim, and at the end


def test_lettucedetect_supports_a_claim_unless_one_of_its_tokens_is_unsupported(tmp_path):
    (words, segments), model = open_toy(tmp_path, "lettucedetect-base", encoder_folder, 2, tokens=True)
    prompt = (
        "Briefly answer the following question:\nWhere is it?\nBear in mind that your response should be strictly based on the "
        f"following 2 passages:\npassage 1: {TEXT}\npassage 2: a boat\nIn case the passages do not contain the necessary "
        'information to answer the question, please reply with: "Unable to answer based on given passages."\noutput:'
    )
    encoded = byte_tokenizer("[CLS]", "[SEP]").encode(prompt, CLAIM)
    own = [at for at, part in enumerate(encoded.sequence_ids) if part == 1]
    unsupported = softmax(words[np.array(encoded.ids)[own]] + segments[1])[:, 1]
    assert len(own) == len(CLAIM.replace(" ", ""))
    assert model.read("Where is it?", CLAIM, TEXT, "a boat").support == pytest.approx(1 - unsupported.max(), abs=1e-6)
    assert model._prompt("", [TEXT]) == f"Summarize the following text:\npassage 1: {TEXT}\noutput:"


def test_lettucedetect_groups_passages_that_do_not_fit(tmp_path, monkeypatch):
    _, model = open_toy(tmp_path, "lettucedetect-base", encoder_folder, 2, tokens=True)
    passages = ["x" * 1_500, "y" * 1_500, "z" * 1_500]
    groups = model._groups("Where?", CLAIM, passages)
    assert groups == [passages[:2], passages[2:]]
    assert model.count_tokens(model._prompt("Where?", groups[0])) + 20 < 4_096
    alone = [model.read("Where?", CLAIM, *group).support for group in groups]
    assert model.read("Where?", CLAIM, *passages).support == pytest.approx(min(alone))


def test_very_long_texts_and_odd_characters(tmp_path):
    _, model = open_toy(tmp_path, "nli-deberta-v3-small", encoder_folder, 3)
    for text in ("x" * 100_000, "| --- |\n" * 500, "", "\x00￿🙂", "long claim " * 3_000):
        found = model.read("", text or CLAIM, text)
        assert 0 <= found.support <= 1


def test_wrong_weights_stop_the_run(tmp_path):
    _, model = open_toy(tmp_path, "factcg", encoder_folder, 3)
    with pytest.raises(StopRunError, match=r"'factcg' cannot be used: its weights return \(3,\) numbers, not 2"):
        model.read_all([("", CLAIM, TEXT)])
    _, model = open_toy(tmp_path, "minicheck-roberta", encoder_folder, 2, tokens=True)
    with pytest.raises(StopRunError, match="cannot be used"):
        model.read_all([("", CLAIM, TEXT)])


def test_missing_weights_say_what_to_type(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(UsageError, match="ragstone models pull factcg"):
        open_checker_model(CHECKERS["factcg"], "factcg", store)
    with pytest.raises(UsageError, match=r"ragstone models pull yaxili96/FactCG-DeBERTa-v3-Large@abc"):
        open_checker_model(CHECKERS["factcg"], "yaxili96/FactCG-DeBERTa-v3-Large@abc", store)
    with pytest.raises(UsageError, match=r"can run code when it is loaded.*--from FOLDER"):
        open_checker_model(CHECKERS["alignscore"], "alignscore", store)
    with pytest.raises(UsageError, match="runs on a server: ollama pull"):
        open_checker_model(CHECKERS["bespoke-minicheck"], "bespoke-minicheck", store)


def test_safetensors_of_encoders_need_torch(tmp_path, monkeypatch):
    t5_folder(tmp_path / "made")  # any safetensors
    store = Store(tmp_path / "store")
    store.pull("factcg", origin=str(tmp_path / "made"))
    monkeypatch.setattr("ragstone.models.runtime.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install torch transformers. Or export it to ONNX"):
        open_checker_model(CHECKERS["factcg"], "factcg", store)


def test_a_folder_by_its_own_name_is_found(tmp_path):
    encoder_folder(tmp_path / "FactCG-DeBERTa-v3-Large", 2)
    store = Store(tmp_path / "store")
    store.pull(str(tmp_path / "FactCG-DeBERTa-v3-Large"))
    assert isinstance(open_checker_model(CHECKERS["factcg"], "factcg", store), CheckerModel)


def torch_folder(folder, kind, architecture, classes, **sizes):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    small = {"vocab_size": 128, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = getattr(transformers, f"{architecture}Config")(
        **small, intermediate_size=24, num_labels=classes, pad_token_id=0, **sizes
    )
    torch.manual_seed(2)
    model = getattr(transformers, f"{architecture}For{kind}")(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    byte_tokenizer("[CLS]", "[SEP]").save(str(folder / "tokenizer.json"))
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "architecture"),
    [("factcg", "DebertaV2"), ("minicheck-roberta", "Roberta"), ("lettucedetect-base", "ModernBert")],
)
def test_the_architectures_run_on_transformers(tmp_path, name, architecture):
    torch = pytest.importorskip("torch")
    kind = "TokenClassification" if name.startswith("lettuce") else "SequenceClassification"
    sizes = {"DebertaV2": {"relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]}}
    made, model = open_toy(tmp_path, name, torch_folder, kind, architecture, 2, **sizes.get(architecture, {}))
    texts = (model._prompt("", [TEXT]), CLAIM) if kind[0] == "T" else (CHECKERS[name].fill("", CLAIM, TEXT),)
    encoded = byte_tokenizer("[CLS]", "[SEP]").encode(*texts)
    with torch.inference_mode():
        logits = made(input_ids=torch.tensor([encoded.ids])).logits[0].numpy()
    if kind[0] == "T":
        own = [at for at, part in enumerate(encoded.sequence_ids) if part == 1]
        expected = 1 - softmax(logits[own])[:, 1].max()
    else:
        expected = softmax(logits)[1]
    assert model.read("", CLAIM, TEXT).support == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", [name for name, one in CHECKERS.items() if one.published and one.runner != "chat"])
def test_published_results(name):
    """Runs where the weights are installed: `ragstone models pull NAME`."""
    try:
        model = open_checker_model(CHECKERS[name], name)
    except UsageError as error:
        pytest.skip(str(error))
    for text, claim, expected in CHECKERS[name].published:
        assert model.read("", claim, text).support == pytest.approx(expected, abs=5e-3)
