"""Reward models and classifiers of hate speech: the files of the store, the numbers of their weights, and what is wrong in words."""

import asyncio
import json

import numpy as np
import pytest

import ragstone
from ragstone.errors import StopRunError, StorageError, UsageError
from ragstone.models.classifiers import LocalRewarder, LocalToxicity, OnnxClassifier, find_classifier, open_classifier
from ragstone.models.store import Store
from tests.models.tiny import logits, make_classifier, pull_as

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
pytest.importorskip("onnx")

QUESTION, ANSWER = "Where is the light", "It stands on the mole"
PAIRS = [(QUESTION, ANSWER), ("where", "boat"), (QUESTION, "scum " * 30), ("boat", ""), ("", "boat")]


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    return Store()


@pytest.fixture
def reward(store, tmp_path):
    """A reward model in the store, and its weights."""
    weights = make_classifier(tmp_path / "made", ["score"])
    pull_as(store, tmp_path / "made", "reward")
    return weights


@pytest.fixture
def toxicity(store, tmp_path):
    weights = make_classifier(tmp_path / "hate", ["nothate", "hate"], seed=3)
    pull_as(store, tmp_path / "hate", "toxicity")
    return weights


def rate(tool, items):
    async def run():
        return await tool.rate(items)

    return asyncio.run(run())


def test_a_reward_is_the_models_own_number(reward):
    found = rate(LocalRewarder(open_classifier("reward")), PAIRS[:3])
    assert found == pytest.approx([logits(reward, *pair)[0] for pair in PAIRS[:3]], abs=1e-5)
    # The order of the two texts matters.
    turned = rate(LocalRewarder(open_classifier("reward")), [(ANSWER, QUESTION)])
    assert turned != pytest.approx(found[:1], abs=1e-3)


def test_a_row_is_the_same_alone_and_with_others(reward):
    model = open_classifier("reward")
    together = rate(LocalRewarder(model), PAIRS)
    alone = [rate(LocalRewarder(model), [pair])[0] for pair in PAIRS]
    assert together == pytest.approx(alone, abs=1e-5)


def test_hatefulness_is_the_probability_of_its_class(toxicity):
    texts = ["the light", "scum scum", "where is it the boat"]
    found = rate(LocalToxicity(open_classifier("toxicity")), texts)
    powers = np.exp([logits(toxicity, text) for text in texts])
    assert found == pytest.approx(powers[:, 1] / powers.sum(axis=1), abs=1e-6)
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("classes", "config", "place"),
    [
        (["Toxic", "Welcome"], {}, 0),
        (["obscene", "toxicity", "threat"], {"problem_type": "multi_label_classification"}, 1),
        (["LABEL_0", "LABEL_1"], {}, 1),
        (["anything"], {}, 0),
    ],
)
def test_classes_by_other_names(store, tmp_path, classes, config, place):
    weights = make_classifier(tmp_path / "other", classes, **config)
    store.pull(str(tmp_path / "other"))
    [found] = rate(LocalToxicity(open_classifier("local/other")), ["the light"])
    numbers = logits(weights, "the light")
    several = len(classes) > 1 and not config
    expected = np.exp(numbers[place]) / np.exp(numbers).sum() if several else sigmoid(numbers[place])
    assert found == pytest.approx(expected, abs=1e-6)


def test_long_texts_are_cut_to_what_the_model_reads(store, tmp_path):
    weights = make_classifier(tmp_path / "short", ["score"], max_position_embeddings=18)
    store.pull(str(tmp_path / "short"))
    model = open_classifier("short")
    long = "boat mole " * 50_000
    [found] = model.logits([(long, "")])
    expected = logits(weights, " ".join(["boat", "mole"] * 7))
    assert found == pytest.approx(expected, abs=1e-5)
    assert np.isfinite(model.logits([(QUESTION, long), (long, long)])).all()


def test_a_model_may_want_no_segments(store, tmp_path):
    weights = make_classifier(tmp_path / "plain", ["score"], inputs=("input_ids", "attention_mask"))
    store.pull(str(tmp_path / "plain"))
    [found] = open_classifier("plain").logits([("the light", "")])
    weights["segments"][:] = 0
    assert found == pytest.approx(logits(weights, "the light"), abs=1e-5)


def test_a_run_with_both(reward, toxicity):
    row = {"question": QUESTION, "answer": ANSWER}
    run = ragstone.evaluate([row, {**row, "answer": ""}], ["answer_reward", "toxicity"])
    cells = {(row["metric"], row["status"]): row for row in run.scores.to_pylist()}
    assert cells["answer_reward", "ok"]["value"] == pytest.approx(
        sigmoid(logits(reward, QUESTION, ANSWER)[0]), abs=1e-6
    )
    powers = np.exp(logits(toxicity, ANSWER))
    assert cells["toxicity", "ok"]["value"] == pytest.approx(powers[1] / powers.sum(), abs=1e-6)
    assert (
        cells["toxicity", "skipped"]["reason"] == cells["answer_reward", "skipped"]["reason"] == "the answer is empty"
    )
    assert set(run.info["judge"]) == {"reward_model", "toxicity_model"}
    assert "reward_model:local/OpenAssistant" in cells["answer_reward", "ok"]["signature"]


def test_they_are_computed_only_by_name(reward, toxicity):
    names = {line.metric for line in ragstone.evaluate([{"question": QUESTION, "answer": ANSWER}]).summary()}
    assert not names & {"answer_reward", "toxicity"}


def test_a_model_of_ones_own_by_name(store, tmp_path):
    weights = make_classifier(tmp_path / "mine", ["score"], seed=11)
    store.pull(str(tmp_path / "mine"))
    [line] = ragstone.evaluate(
        [{"question": QUESTION, "answer": ANSWER}], "answer_reward", reward_model="local/mine"
    ).summary()
    assert line.mean == pytest.approx(sigmoid(logits(weights, QUESTION, ANSWER)[0]), abs=1e-6)


def test_without_weights_the_command_that_gets_them(store):
    row = {"question": QUESTION, "answer": ANSWER}
    reasons = {line.metric: line.reason for line in ragstone.evaluate([row], ["answer_reward", "toxicity"]).summary()}
    assert reasons["answer_reward"].startswith("needs a reward model: install one: ragstone models pull reward")
    assert reasons["toxicity"].startswith("needs a toxicity model: install one: ragstone models pull toxicity")
    assert find_classifier("reward") is None
    with pytest.raises(UsageError, match="ragstone models pull reward"):
        ragstone.evaluate([row], "answer_reward", reward_model="reward")


def test_pickles_are_refused(store, tmp_path):
    folder = tmp_path / "pickled"
    folder.mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    (folder / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="can run code"):
        store.pull("reward", origin=str(folder))
    assert find_classifier("reward") is None


def test_safetensors_say_that_they_need_torch(store, tmp_path, monkeypatch):
    folder = tmp_path / "tensors"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"x")
    (folder / "config.json").write_text("{}")
    pull_as(store, folder, "reward")
    monkeypatch.setattr("ragstone.models.runtime.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install torch transformers.*export it to ONNX"):
        open_classifier("reward")
    assert find_classifier("reward") is None


def test_models_that_are_something_else(store, tmp_path):
    make_classifier(tmp_path / "colours", ["red", "green"])
    store.pull(str(tmp_path / "colours"))
    with pytest.raises(StopRunError, match="no class for hateful or toxic texts: red, green"):
        rate(LocalToxicity(open_classifier("colours")), ["x"])
    with pytest.raises(StopRunError, match="not a reward model: it has 2 classes"):
        rate(LocalRewarder(open_classifier("colours")), [("x", "y")])


def test_weights_that_do_not_fit_what_is_told_of_them(store, tmp_path):
    folder = tmp_path / "odd"
    make_classifier(folder, ["score"])
    (folder / "config.json").write_text(json.dumps({"id2label": {"0": "a", "1": "b", "2": "c"}}))
    store.pull(str(folder))
    with pytest.raises(StorageError, match=r"3 classes.*\(1, 1\)"):
        open_classifier("odd").logits([("a", "b")])
    for text in ("{", "[]", '{"id2label": {"x": "y"}}'):
        (folder / "config.json").write_text(text)
        store.remove("odd")
        store.pull(str(folder))
        with pytest.raises(StorageError, match=r"config\.json is broken"):
            open_classifier("odd").logits([("a", "b")])


def test_broken_weights_stop_a_run_with_a_line(store, tmp_path):
    folder = tmp_path / "broken"
    make_classifier(folder, ["score"])
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:100])
    pull_as(store, folder, "reward")
    with pytest.raises(StopRunError, match=r"cannot be used: model\.onnx"):
        ragstone.evaluate([{"question": QUESTION, "answer": ANSWER}], "answer_reward")


def test_nothing_to_rate(reward):
    assert OnnxClassifier(Store().get("reward")).logits([]).shape == (0, 1)
