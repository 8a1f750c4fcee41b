"""Models so small that a test makes them itself: words by number, a few weights, the files that a real model has."""

import json

import numpy as np

from ragstone.models.store import Store

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "light",
    "stands",
    "on",
    "mole",
    "where",
    "is",
    "it",
    "scum",
    "boat",
]


def make_tokenizer(marks=True):
    """A tokenizer of few words, which puts marks around texts as BERT's does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if marks:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    return tokenizer


def tokens(*texts, most=None):
    """The numbers of one text or two, with their marks, as the tokenizer should give them."""
    parts = [[WORDS.index(word) if word in WORDS else 1 for word in text.lower().split()] for text in texts]
    found = [2, *parts[0], 3, *((*parts[1], 3) if len(parts) > 1 else ())]
    return found[:most]


def make_classifier(folder, classes, seed=7, inputs=("input_ids", "attention_mask", "token_type_ids"), **config):
    """A folder with an ONNX model: the mean of the words' vectors (and of their segments'), times a matrix. Returns the weights."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    weights = {
        "words": rng.normal(size=(len(WORDS), 4)).astype(np.float32),
        "segments": rng.normal(size=(2, 4)).astype(np.float32),
        "head": rng.normal(size=(4, len(classes))).astype(np.float32) * 3,
    }
    second = "token_type_ids" in inputs
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["vectors"]),
        *([helper.make_node("Gather", ["segments", "token_type_ids"], ["segment"])] if second else []),
        helper.make_node("Add", ["vectors", "segment"], ["both"])
        if second
        else helper.make_node("Identity", ["vectors"], ["both"]),
        helper.make_node("Cast", ["attention_mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["seen", "last"], ["column"]),
        helper.make_node("Mul", ["both", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["total"], keepdims=0),
        helper.make_node("ReduceSum", ["seen", "middle"], ["count"], keepdims=1),
        helper.make_node("Div", ["total", "count"], ["mean"]),
        helper.make_node("MatMul", ["mean", "head"], ["logits"]),
    ]
    constants = {**weights, "last": np.array([2]), "middle": np.array([1])}
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(classes)])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    make_tokenizer().save(str(folder / "tokenizer.json"))
    told = {"id2label": dict(enumerate(classes)), "pad_token_id": 0, "max_position_embeddings": 514, **config}
    (folder / "config.json").write_text(json.dumps(told))
    return weights


def logits(weights, *texts, most=None):
    """What the model says of one text or two, computed by hand."""
    numbers = tokens(*texts, most=most)
    vectors = weights["words"][numbers].astype(float)
    end = numbers.index(3) + 1 if 3 in numbers else len(numbers)
    segments = [0] * end + [1] * (len(numbers) - end)
    return (vectors + weights["segments"][segments]).mean(axis=0) @ weights["head"]


def pull_as(store: Store, folder, name):
    """Put a folder into the store under a name of the catalogue."""
    return store.pull(name, origin=str(folder))
