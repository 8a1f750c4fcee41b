"""The adapter for servers: GGUF to PEFT and back, and what is printed for each server."""

import json
import struct

import numpy as np
import pytest

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models.adapter_files import peft_name, read_gguf, serve_config, write_peft
from ragstone.models.large_judge import read_large_card


def read_safetensors(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    kinds = {"F16": np.float16, "F32": np.float32}
    tensors = {}
    for name, facts in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in facts["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], kinds[facts["dtype"]]).reshape(facts["shape"])
    assert end == len(data)
    return tensors


def test_the_shipped_adapter_as_peft(tmp_path):
    card = read_large_card()
    write_peft(tmp_path / "peft", card)
    metadata, tensors = read_gguf(card.adapter)
    written = read_safetensors(tmp_path / "peft" / "adapter_model.safetensors")
    assert written.keys() == {peft_name(name) for name in tensors}
    assert all(np.array_equal(written[peft_name(name)], tensor) for name, tensor in tensors.items())
    config = json.loads((tmp_path / "peft" / "adapter_config.json").read_text())
    assert metadata["general.architecture"] == "qwen2"
    assert config["lora_alpha"] == metadata["adapter.lora.alpha"]
    assert len(config["target_modules"]) == 7
    # 28 layers of 7 matrices, each with A [rank, in] and B [out, rank].
    assert len(written) == 28 * 7 * 2
    name = "base_model.model.model.layers.3.mlp.down_proj.lora_{}.weight"
    assert written[name.format("A")].shape == (config["r"], 8960)
    assert written[name.format("B")].shape == (1536, config["r"])


def test_another_reader_agrees(tmp_path):
    load = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed").load_file
    write_peft(tmp_path, read_large_card())
    ours = read_safetensors(tmp_path / "adapter_model.safetensors")
    theirs = load(tmp_path / "adapter_model.safetensors")
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert theirs.keys() == ours.keys()


def test_what_is_not_an_adapter(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GG")
    with pytest.raises(StorageError, match="not a GGUF file"):
        read_gguf(tmp_path / "x.gguf")
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 1, 0, 0))
    with pytest.raises(StorageError, match="version 1"):
        read_gguf(tmp_path / "x.gguf")


@pytest.mark.parametrize("server", ["ollama", "vllm", "llamacpp"])
def test_each_server_gets_the_name_that_asks_in_the_trained_form(server, tmp_path):
    text = serve_config("judge-1.5b", server, tmp_path / "out")
    assert f"--judge {server}/ragstone-judge" in text
    assert str(tmp_path / "out") in text
    if server == "vllm":
        assert "--lora-modules ragstone-judge=" in text
        assert (tmp_path / "out" / "adapter_model.safetensors").is_file()
    else:
        assert (tmp_path / "out" / "adapter.gguf").read_bytes() == read_large_card().adapter.read_bytes()
        assert "ragstone models pull judge-1.5b" in text, "the base is not installed here"
    if server == "ollama":
        modelfile = (tmp_path / "out" / "Modelfile").read_text()
        assert f"ADAPTER {tmp_path / 'out' / 'adapter.gguf'}\n" in modelfile
        assert "ollama create" not in modelfile


def test_nothing_is_written_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "llama-server" in serve_config("judge-1.5b", "llamacpp")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UnknownNameError, match="llamacpp"):
        serve_config("judge-1.5b", "tgi")
    with pytest.raises(UsageError, match=r"judge-1\.5b"):
        serve_config("minilm", "vllm")
