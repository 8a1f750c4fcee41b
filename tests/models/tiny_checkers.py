"""Weights of the field's architectures, so small that a test makes them: T5 as safetensors, encoders as ONNX."""

import json
import struct

import numpy as np

from ragstone.models.store import Store


def write_safetensors(path, tensors, dtype="F32"):
    header, data, at = {}, b"", 0
    for name, array in tensors.items():
        values = np.asarray(array, "<f4")
        packed = (values.view("<u4") >> 16).astype("<u2").tobytes() if dtype == "BF16" else values.tobytes()
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [at, at + len(packed)]}
        data, at = data + packed, at + len(packed)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def t5_weights(words=256, gated=True, decoder=True, classes=0, prefix="", seed=3, width=16, heads=2, layers=2):
    """T5 of two layers, with the names of transformers."""
    rng = np.random.default_rng(seed)

    def make(*shape):
        return rng.normal(size=shape, scale=0.3).astype(np.float32)

    tensors = {"shared.weight": make(words, width)}
    for part in ("encoder", *(("decoder",) if decoder else ())):
        for number in range(layers):
            layer = f"{part}.block.{number}.layer"
            kinds = ["SelfAttention", *(["EncDecAttention"] if part == "decoder" else [])]
            for at, kind in enumerate(kinds):
                for name in "qkv":
                    tensors[f"{layer}.{at}.{kind}.{name}.weight"] = make(heads * 6, width)
                tensors[f"{layer}.{at}.{kind}.o.weight"] = make(width, heads * 6)
                tensors[f"{layer}.{at}.layer_norm.weight"] = 1 + make(width)
            if number == 0:
                tensors[f"{layer}.0.SelfAttention.relative_attention_bias.weight"] = make(32, heads)
            at = len(kinds)
            for name in ("wi_0", "wi_1") if gated else ("wi",):
                tensors[f"{layer}.{at}.DenseReluDense.{name}.weight"] = make(24, width)
            tensors[f"{layer}.{at}.DenseReluDense.wo.weight"] = make(width, 24)
            tensors[f"{layer}.{at}.layer_norm.weight"] = 1 + make(width)
        tensors[f"{part}.final_layer_norm.weight"] = 1 + make(width)
    if decoder and gated:
        tensors["lm_head.weight"] = make(words, width)
    named = {f"{prefix}{name}": value for name, value in tensors.items()}
    if classes:
        outer = prefix.removesuffix("transformer.")
        named |= {f"{outer}classifier.weight": make(classes, width), f"{outer}classifier.bias": make(classes)}
    return named


def byte_tokenizer(cls=None, sep=None):
    """One token per word, by a hash of the word; `</s>`, `<pad>` and `[SEP]` are special. With `cls` and `sep`, pairs are framed."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, processors

    words = {"<pad>": 0, "</s>": 1, "<unk>": 2, "[CLS]": 4, "[SEP]": 5}
    words |= {chr(code): number for number, code in enumerate(range(33, 127), start=6)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in ("<pad>", "</s>", "[CLS]", "[SEP]")])
    if cls:
        marks = [(mark, words[mark]) for mark in (cls, sep)]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} $B:1 {sep}:1", special_tokens=marks
        )
    else:
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def t5_folder(folder, tokenizer=None, **sizes):
    folder.mkdir(parents=True)
    write_safetensors(folder / "model.safetensors", weights := t5_weights(**sizes))
    (tokenizer or byte_tokenizer()).save(str(folder / "tokenizer.json"))
    return weights


def encoder_folder(folder, classes, tokens=False, seed=11):
    """An ONNX encoder: logits by the mean of all tokens' vectors (of both segments), or one row of logits per token."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    words = rng.normal(size=(128, classes)).astype(np.float32)
    segments = rng.normal(size=(2, classes)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["vectors"]),
        helper.make_node("Gather", ["segments", "token_type_ids"], ["segment"]),
        helper.make_node("Add", ["vectors", "segment"], ["both"]),
        helper.make_node("Identity", ["both"], ["logits"])
        if tokens
        else helper.make_node("ReduceMean", ["both"], ["logits"], axes=[1], keepdims=0),
    ]
    shape = ["batch", "length", classes] if tokens else ["batch", classes]
    graph = helper.make_graph(
        nodes,
        "encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(words, "words"), numpy_helper.from_array(segments, "segments")],
    )
    # The mask is an input of every encoder; this one has no padding.
    graph.node.append(helper.make_node("Identity", ["attention_mask"], ["unused"]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    byte_tokenizer("[CLS]", "[SEP]").save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text("{}")
    return words, segments


def installed(store_folder, folder, name):
    return Store(store_folder).pull(name, origin=str(folder))
