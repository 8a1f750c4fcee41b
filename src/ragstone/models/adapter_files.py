"""The adapter of the large judge for servers: its GGUF file as PEFT safetensors, and what to paste for each server."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models.catalogue import SERVED
from ragstone.models.large_judge import ADAPTER, NAME, LargeCard, read_large_card
from ragstone.models.store import Store

# The layers of Qwen2 by their names in GGUF.
_LAYERS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_TYPES: dict[int, np.dtype[Any]] = {0: np.dtype("<f4"), 1: np.dtype("<f2")}
_SAFETENSORS = {"<f4": "F32", "<f2": "F16"}


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The metadata and the tensors of a small GGUF file with plain numbers (F32, F16), rows first."""
    with open(path, "rb") as stream:
        if stream.read(4) != b"GGUF":
            raise StorageError(f"{path} is not a GGUF file")
        version, tensors, pairs = struct.unpack("<IQQ", stream.read(20))
        if version < 2:
            raise StorageError(f"{path} is GGUF version {version}; 2 or 3 is needed")
        metadata = dict(_pair(stream) for _ in range(pairs))
        places = [_place(stream) for _ in range(tensors)]
        align = int(metadata.get("general.alignment", 32))
        start = -(-stream.tell() // align) * align
        found = {}
        for name, shape, kind, offset in places:
            if kind not in _TYPES:
                raise StorageError(f"{path}: the tensor {name} is not F32 or F16")
            stream.seek(start + offset)
            size = int(np.prod(shape))
            data = np.frombuffer(stream.read(size * _TYPES[kind].itemsize), _TYPES[kind])
            # GGUF names the fastest axis first.
            found[name] = data.reshape(shape[::-1])
        return metadata, found


def _read(stream: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", stream.read(struct.calcsize(f"<{form}")))[0]


def _text(stream: BinaryIO) -> str:
    return stream.read(_read(stream, "Q")).decode()


def _value(stream: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(stream)
    if kind == _ARRAY:
        inner, count = _read(stream, "I"), _read(stream, "Q")
        return [_value(stream, inner) for _ in range(count)]
    return _read(stream, _NUMBERS[kind])


def _pair(stream: BinaryIO) -> tuple[str, Any]:
    name = _text(stream)
    return name, _value(stream, _read(stream, "I"))


def _place(stream: BinaryIO) -> tuple[str, list[int], int, int]:
    name = _text(stream)
    shape = [_read(stream, "Q") for _ in range(_read(stream, "I"))]
    return name, shape, _read(stream, "I"), _read(stream, "Q")


def peft_name(name: str) -> str:
    """The name in PEFT of a tensor such as `blk.0.attn_q.weight.lora_a`."""
    _, layer, part, _, side = name.split(".")
    return f"base_model.model.model.layers.{layer}.{_LAYERS[part]}.lora_{side[-1].upper()}.weight"


def write_peft(folder: Path, card: LargeCard) -> Path:
    """Write the adapter as `adapter_model.safetensors` and `adapter_config.json`."""
    metadata, tensors = read_gguf(card.adapter)
    named = {peft_name(name): tensor for name, tensor in tensors.items()}
    rank = next(tensor.shape[0] for name, tensor in named.items() if ".lora_A." in name)
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": card.base["repository"],
        "r": rank,
        "lora_alpha": float(metadata["adapter.lora.alpha"]),
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "target_modules": sorted({name.split(".")[-3] for name in named}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    _write_safetensors(folder / "adapter_model.safetensors", named)
    return folder


def _write_safetensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        kind = _SAFETENSORS[tensor.dtype.str]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            stream.write(np.ascontiguousarray(tensor).tobytes())


def _ollama(base: str, adapter: str, folder: str) -> str:
    return f'''# {folder}/Modelfile (Ollama 0.12.11 or later: it must return log-probabilities)
FROM {base}
ADAPTER {adapter}
TEMPLATE """{{{{- range .Messages }}}}<|im_start|>{{{{ .Role }}}}
{{{{ .Content }}}}<|im_end|>
{{{{ end }}}}<|im_start|>assistant
"""
PARAMETER temperature 0
PARAMETER num_ctx 4096

# then
ollama create {SERVED} -f {folder}/Modelfile
ragstone run DATA --judge ollama/{SERVED}
'''


def _vllm(base: str, adapter: str, folder: str) -> str:  # noqa: ARG001  (the signature of all three)
    repository = read_large_card().base["repository"]
    return f"""# {folder} has the adapter as PEFT safetensors: ragstone models serve-config {NAME} --for vllm --write {folder}
vllm serve {repository} --enable-lora --max-lora-rank 16 --lora-modules {SERVED}={folder} --enable-prefix-caching

# then
ragstone run DATA --judge vllm/{SERVED}
"""


def _llamacpp(base: str, adapter: str, folder: str) -> str:  # noqa: ARG001
    return f"""llama-server -m {base} --lora {adapter} --alias {SERVED} -c 8192 -np 2 --port 8080

# then
ragstone run DATA --judge llamacpp/{SERVED} --concurrency 2
"""


_SERVERS: dict[str, Callable[[str, str, str], str]] = {"ollama": _ollama, "vllm": _vllm, "llamacpp": _llamacpp}
SERVERS = tuple(_SERVERS)


def serve_config(name: str, server: str, folder: Path | None = None) -> str:
    """The text to paste to serve the large judge. With a folder, the files that the server needs are written there."""
    if name != NAME:
        raise UsageError(f"'{name}' has no adapter to serve. Choose {NAME}")
    if server not in _SERVERS:
        raise UnknownNameError("server", server, SERVERS, f"Choose from: {', '.join(SERVERS)}.")
    card, found = read_large_card(), Store().find(NAME)
    files = [file for file in found.files if file.endswith(".gguf")] if found else []
    # vLLM reads the original weights, which it fetches itself.
    base = str(found.path(files[0])) if found and files else f"BASE.gguf  # get it with: ragstone models pull {NAME}"
    adapter, shown = card.adapter, str(folder or SERVED)
    if folder and server == "vllm":
        write_peft(folder, card)
    elif folder:
        folder.mkdir(parents=True, exist_ok=True)
        adapter = folder / ADAPTER
        adapter.write_bytes(card.adapter.read_bytes())
    text = _SERVERS[server](base, str(adapter), shown)
    if folder and server == "ollama":
        (folder / "Modelfile").write_text(text.partition("\n# then")[0], encoding="utf-8")
    return text
