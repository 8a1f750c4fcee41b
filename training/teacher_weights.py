"""The teacher, Qwen2.5-Coder-1.5B-Instruct, from a GGUF file: packed in small pieces, unpacked as a model of transformers.

`python training/teacher_weights.py MODEL.gguf OUT --texts FILE...` keeps the tokens that occur in the texts only, so that less
has to travel to the machine with the GPU. For the adapter, `--verdicts yes no unknown` keeps the input matrix and, of
the output matrix, the rows of these tokens: llama.cpp uses both as they are. `--both` keeps the tokens in both matrices, to write and label.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

_PIECE = 56_000_000
_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def main() -> None:
    """Writes pieces of the weights, their index, the tokenizer and the kept tokens."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="without texts all tokens are kept")
    parser.add_argument("--verdicts", nargs="+", default=[])
    parser.add_argument("--both", action="store_true")
    options = parser.parse_args()
    pack(options.gguf, options.out, options.texts, options.verdicts, both=options.both)


def pack(gguf: Path, out: Path, texts: list[Path], verdicts: list[str], *, both: bool = False) -> None:
    """The quantised bytes of all tensors; of the embeddings only the rows of tokens that occur."""
    from gguf import GGUFReader  # noqa: PLC0415  (not needed where the model runs)

    out.mkdir(parents=True, exist_ok=True)
    reader = GGUFReader(str(gguf))
    field = lambda name: reader.fields[name].contents()  # noqa: E731
    tokens, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    made = _tokenizer(tokens, kinds, field("tokenizer.ggml.merges"))
    made.save(str(out / "tokenizer.json"))
    kept = _occurring(made, texts, tokens)
    np.save(out / "kept.npy", kept)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    tables = {"output.weight" if "output.weight" in tensors else "token_embd.weight": kept}
    if verdicts or both:
        asked = kept if both else np.array([made.token_to_id(word) for word in verdicts])
        tables = {"output.weight": asked, "token_embd.weight": kept}
    index, at = [], 0
    with (out / "weights.bin").open("wb") as whole:
        for name, tensor in tensors.items():
            if name in {"token_embd.weight", "output.weight"} - set(tables):
                continue
            shape = [int(size) for size in tensor.shape[::-1]]
            data = np.asarray(tensor.data)
            if name in tables:
                data, shape = data.reshape(len(tokens), -1)[tables[name]], [len(tables[name]), shape[1]]
            raw = np.ascontiguousarray(data).tobytes()
            whole.write(raw)
            index.append({"name": name, "type": tensor.tensor_type.name, "shape": shape, "at": at, "size": len(raw)})
            at += len(raw)
    sizes = {name: field(f"qwen2.{name}") for name in ("embedding_length", "block_count", "feed_forward_length")}
    sizes |= {name: field(f"qwen2.attention.{name}") for name in ("head_count", "head_count_kv")}
    (out / "index.json").write_text(json.dumps({"sizes": sizes, "embedding": next(iter(tables)), "tensors": index}))
    with (out / "weights.bin").open("rb") as whole:
        number = 0
        while piece := whole.read(_PIECE):
            (out / f"piece.{number:02d}").write_bytes(piece)
            number += 1
    print(f"{at / 1e6:.0f} MB in {number} pieces, {len(kept)} tokens kept")


def _tokenizer(tokens: list[str], kinds: list[int], merges: list[str]) -> Tokenizer:
    vocabulary = {token: number for number, token in enumerate(tokens) if kinds[number] == 1}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(merge.split(" ")) for merge in merges]))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    return made


def _occurring(tokenizer: Tokenizer, texts: list[Path], tokens: list[str]) -> np.ndarray:
    seen = np.full(len(tokens), not texts)
    seen[:256] = True
    # In files of JSON lines a line break is written as two other characters.
    seen[[number for number, token in enumerate(tokens) if "Ċ" in token]] = True
    seen[[tokens.index(mark) for mark in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]] = True
    for path in texts:
        lines = path.read_text(encoding="utf-8").splitlines()
        for begin in range(0, len(lines), 5000):
            for encoding in tokenizer.encode_batch_fast(lines[begin : begin + 5000]):
                seen[encoding.ids] = True
    return np.flatnonzero(seen).astype(np.int32)


class Words:
    """Texts as numbers of the kept tokens and back."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.kept = np.load(folder / "kept.npy")
        self._number = np.full(int(self.kept.max()) + 1, -1, np.int64)
        self._number[self.kept] = np.arange(len(self.kept))
        self.end = self.numbers("<|im_end|>")[0]
        self.pad = self.numbers("<|endoftext|>")[0]

    def numbers(self, text: str) -> list[int]:
        """The tokens of a text; those that were not kept are left out."""
        return self._known(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def all_numbers(self, texts: list[str]) -> list[list[int]]:
        """The tokens of many texts."""
        return [self._known(one.ids) for one in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def _known(self, ids: list[int]) -> list[int]:
        found = self._number[[number for number in ids if number < len(self._number)]]
        return found[found >= 0].tolist()

    def texts(self, rows: list[list[int]]) -> list[str]:
        """The texts of rows of tokens."""
        return self.tokenizer.decode_batch([self.kept[row].tolist() for row in rows], skip_special_tokens=True)


def load(folder: Path, device: str) -> Any:
    """The language model in bfloat16."""
    import torch  # noqa: PLC0415
    from transformers import Qwen2Config, Qwen2ForCausalLM  # noqa: PLC0415

    index = json.loads((folder / "index.json").read_text())
    sizes = index["sizes"]
    raw = np.memmap(folder / "weights.bin", np.uint8, "r")
    state: dict[str, torch.Tensor] = {}
    for tensor in index["tensors"]:
        packed = torch.from_numpy(np.array(raw[tensor["at"] : tensor["at"] + tensor["size"]])).to(device)
        name = _name(tensor["name"], index["embedding"])
        state[name] = unpack(packed, tensor["type"]).view(tensor["shape"]).to(torch.bfloat16)
    config = Qwen2Config(
        vocab_size=len(state["model.embed_tokens.weight"]),
        hidden_size=sizes["embedding_length"],
        intermediate_size=sizes["feed_forward_length"],
        num_hidden_layers=sizes["block_count"],
        num_attention_heads=sizes["head_count"],
        num_key_value_heads=sizes["head_count_kv"],
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        model = Qwen2ForCausalLM(config)
    model.to_empty(device=device)
    model.to(torch.bfloat16)
    model.model.rotary_emb = type(model.model.rotary_emb)(config).to(device)
    missing, unexpected = model.load_state_dict(state, strict=False)
    model.tie_weights()
    if unexpected or [name for name in missing if name != "lm_head.weight"]:
        raise SystemExit(f"weights do not fit: {missing} {unexpected}")
    return model.eval()


def _name(name: str, embedding: str) -> str:
    if name == embedding:
        return "model.embed_tokens.weight"
    if name == "output_norm.weight":
        return "model.norm.weight"
    _, number, part, kind = name.split(".")
    return f"model.layers.{number}.{_LAYER[part]}.{kind}"


def unpack(packed: Any, kind: str) -> Any:
    """The values of blocks of 256 that llama.cpp quantises as Q4_K or Q6_K; others must be plain."""
    import torch  # noqa: PLC0415

    if kind == "F32":
        return packed.view(torch.float32)
    if kind == "Q8_0":
        blocks = packed.view(-1, 34)
        return (_half(blocks[:, :2]) * blocks[:, 2:].contiguous().view(torch.int8).float()).reshape(-1)
    if kind == "Q5_0":
        return _five(packed.view(-1, 22))
    return (_four if kind == "Q4_K" else _six)(packed.view(-1, 144 if kind == "Q4_K" else 210))


def _half(two_bytes: Any) -> Any:
    import torch  # noqa: PLC0415

    return two_bytes.contiguous().view(torch.float16).float()


def _five(blocks: Any) -> Any:
    import torch  # noqa: PLC0415

    bits = blocks[:, 2:6].contiguous().view(torch.int32)
    high = (bits >> torch.arange(32, device=blocks.device)) & 1
    low = torch.cat([blocks[:, 6:] & 15, blocks[:, 6:] >> 4], 1)
    return (_half(blocks[:, :2]) * ((low.int() | (high << 4)).float() - 16)).reshape(-1)


def _four(blocks: Any) -> Any:
    """Eight groups of 32 values; each group has a six-bit scale and a six-bit minimum."""
    import torch  # noqa: PLC0415

    step, least = _half(blocks[:, 0:2]), _half(blocks[:, 2:4])
    first, second, third = blocks[:, 4:16].reshape(-1, 3, 4).unbind(1)
    scales = torch.cat([first & 63, (third & 15) | ((first >> 6) << 4)], 1).float()
    minima = torch.cat([second & 63, (third >> 4) | ((second >> 6) << 4)], 1).float()
    nibbles = blocks[:, 16:].reshape(-1, 4, 32)
    values = torch.stack([nibbles & 15, nibbles >> 4], 2).reshape(-1, 8, 32).float()
    return ((step * scales)[..., None] * values - (least * minima)[..., None]).reshape(-1)


def _six(blocks: Any) -> Any:
    """Two halves of 128 values, four low bits and two high bits each; 16 scales of eight bits."""
    import torch  # noqa: PLC0415

    low = blocks[:, :128].reshape(-1, 2, 64)
    low = torch.cat([low & 15, low >> 4], 2).reshape(-1, 2, 4, 32)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32)
    high = torch.cat([(high >> shift) & 3 for shift in (0, 2, 4, 6)], 2)
    values = (low | (high << 4)).float() - 32
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float()
    return ((_half(blocks[:, 208:210]) * scales)[..., None] * values.reshape(-1, 16, 16)).reshape(-1)


if __name__ == "__main__":
    main()
