"""A judge of a few kilobytes with the interface of the real one: it counts the words of the second text that stand in the first.

A text that has "not" where the other has none is contradicted. Words that it was not made with are all unknown, and no
unknown word is found anywhere.
"""

import json

import numpy as np

from ragstone.models.fetch import checksum_of
from ragstone.text.words import words

FIRST_WORD = 4


def make_toy_judge(folder, texts, **changes):
    """Write model.onnx, tokenizer.json and card.json; `changes` replace entries of the card."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = sorted({"not", "question", "answer"} | {word.text for text in texts for word in words(text)})
    _write_tokenizer(folder / "tokenizer.json", vocabulary)
    _write_model(folder / "model.onnx", FIRST_WORD + vocabulary.index("not"))
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": checksum_of(folder / name)}
        for name in ("model.onnx", "tokenizer.json")
    }
    card = {
        "name": "local-judge",
        "version": "toy",
        "what": "A toy.",
        "files": files,
        "max_length": 384,
        "second_limit": {"match": 240, "support": 128, "fraction": 192},
        "templates": {
            "match": ["question: {question} answer: {reference}", "{answer}"],
            "support": ["{evidence}", "{claim}"],
            "fraction": ["{evidence}", "{text}"],
        },
        "match": {"scale": 1.0, "bias": 0.0, "overlap": 0.0, "threshold": 0.5},
        "support": {"scale": 1.0, "bias": 0.0, "overlap": 0.0, "threshold": 0.5, "contradiction": 0.9},
        "fraction": {"scale": 1.0, "bias": 0.0, "overlap": 0.5},
        "ladder": {},
        "figures": [
            {
                "task": "support",
                "data": "made up",
                "rows": 1200,
                "measure": "ROC-AUC",
                "judge": 0.8125,
                "low": 0.79,
                "high": 0.83,
                "overlap": 0.7,
                "cosine": 0.65,
            }
        ],
        "limits": ["It can only count."],
    }
    (folder / "card.json").write_text(json.dumps({**card, **changes}), encoding="utf-8")
    return folder


def _write_tokenizer(path, vocabulary):
    ids = {word: at for at, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *vocabulary])}
    kind = {"model": {"type": "WordPiece", "vocab": ids}, "normalizer": {"lowercase": True}}
    path.write_text(json.dumps(kind), encoding="utf-8")


def _write_model(path, word_not):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants = [], []

    def constant(name, value, kind=np.float32):
        constants.append(numpy_helper.from_array(np.array(value, dtype=kind), name))
        return name

    def node(kind, *inputs, out=None, **settings):
        out = out or f"n{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [out], **settings))
        return out

    def number(name):
        return node("Cast", name, to=TensorProto.FLOAT)

    one, axis1, axis2 = constant("one", 1.0), constant("axis1", [1], np.int64), constant("axis2", [2], np.int64)
    word = node(
        "Mul",
        number(node("Greater", "input_ids", constant("last_mark", FIRST_WORD - 1, np.int64))),
        number("attention_mask"),
    )
    second = node("Mul", number("token_type_ids"), word)
    first = node("Mul", node("Sub", one, number("token_type_ids")), word)
    same = number(node("Equal", node("Unsqueeze", "input_ids", axis1), node("Unsqueeze", "input_ids", axis2)))
    found = node("ReduceMax", node("Mul", same, node("Unsqueeze", first, axis1)), axis2, keepdims=0)
    # Unknown words count as words of the second text, and are never found.
    own = node(
        "Mul", number("token_type_ids"), number(node("Not", node("Equal", "input_ids", constant("sep", 3, np.int64))))
    )
    size = node("Max", node("ReduceSum", own, axis1, keepdims=0), one)
    share = node("Div", node("ReduceSum", node("Mul", found, second), axis1, keepdims=0), size)
    denies = number(node("Equal", "input_ids", constant("word_not", word_not, np.int64)))
    sides = [node("ReduceMax", node("Mul", denies, side), axis1, keepdims=0) for side in (first, second)]
    denied = node("Abs", node("Sub", *sides))

    def line(name, slope, shift, denial):
        scaled = node("Add", node("Mul", share, constant(f"{name}_slope", slope)), constant(f"{name}_shift", shift))
        return node("Add", scaled, node("Mul", denied, constant(f"{name}_denial", denial)))

    node("Identity", line("m", 16.0, -10.0, -12.0), out="match")
    heads = [line("s", 16.0, -10.0, -12.0), line("n", 0.0, 0.0, 0.0), line("c", 0.0, -6.0, 12.0)]
    node("Concat", *(node("Unsqueeze", head, axis1) for head in heads), out="support", axis=1)
    node("Identity", line("f", 10.0, -5.0, 0.0), out="fraction")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("match", ["batch"]), ("support", ["batch", 3]), ("fraction", ["batch"]))
    ]
    graph = helper.make_graph(nodes, "toy", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
