"""A model is there whole or not at all, whatever happens on the way."""

import hashlib
import subprocess
import sys

import pytest

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models import store
from ragstone.models.store import Store
from tests.models.index import FILES, nothing_is_left


def test_a_model_cut_in_half_later_is_found(home, tiny):
    found = home.pull("tiny", str(tiny))
    path = found.path("model.onnx")
    path.write_bytes(FILES["model.onnx"][:350])
    with pytest.raises(StorageError, match=r"tiny.*model\.onnx has 350 bytes.*700.*ragstone models pull tiny"):
        home.get("tiny")
    assert home.pull("tiny", str(tiny)).path("model.onnx").read_bytes() == FILES["model.onnx"]


def test_changed_bytes_of_the_same_size_are_found_when_looked_for(home, tiny):
    found = home.pull("tiny", str(tiny))
    found.path("model.onnx").write_bytes(b"W" * 700)
    home.get("tiny")
    with pytest.raises(StorageError, match=r"model\.onnx.*checksum"):
        found.check(thoroughly=True)


def test_a_broken_manifest_is_no_whole_model(home, tiny):
    found = home.pull("tiny", str(tiny))
    (found.folder / "model.json").write_text("{")
    with pytest.raises(StorageError, match="is broken"):
        home.get("tiny")
    assert home.pull("tiny", str(tiny)).files.keys() == FILES.keys()


PULL = """
import sys
from pathlib import Path
from ragstone.models.catalogue import MODELS
from ragstone.models.store import Store
from tests.models.index import FILES, describe
MODELS["tiny"] = describe(Path(sys.argv[1]), FILES)
for _ in range(20):
    Store(sys.argv[2]).pull("tiny", sys.argv[1]).check(thoroughly=True)
"""


def test_processes_that_pull_at_once(home, tiny):
    command = [sys.executable, "-c", PULL, str(tiny), str(home.folder)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=120)[1] for process in processes] == ["", "", ""]
    assert [path.name for path in home.folder.iterdir()] == ["tiny"]
    assert Store(home.folder).get("tiny").path("model.onnx").read_bytes() == FILES["model.onnx"]


def test_a_folder_of_ones_own(home, tmp_path):
    mine = tmp_path / "mine"
    (mine / "deep").mkdir(parents=True)
    for name in ("model.safetensors", "config.json", "LICENSE", "notes.py", "deep/x.json", "pytorch_model.bin"):
        (mine / name).write_text(name)
    found = home.pull(str(mine))
    assert found.name == "mine"
    assert set(found.files) == {"model.safetensors", "config.json", "LICENSE"}
    assert home.get("mine") == found
    assert found.signature == f"local/mine#{hashlib.sha256(b'model.safetensors').hexdigest()[:8]}"


@pytest.mark.parametrize("name", ["nothing", "../up", "/etc", "a/../b", "-x/y:../z", "", "a b"])
def test_names_that_mean_nothing(home, name):
    for action in (home.get, home.pull):
        with pytest.raises((UnknownNameError, UsageError)):
            action(name)
    assert nothing_is_left(home)


def test_models_that_are_not_there_say_how_to_get_them(home):
    for name in ("minilm", "reward", "some/model"):
        with pytest.raises(UsageError, match=f"'{name}'.*ragstone models pull {name}"):
            home.get(name)
    with pytest.raises(UnknownNameError, match="Did you mean minilm"):
        home.pull("minilmm")


def test_what_does_not_live_in_the_store_is_not_removed_from_it(home):
    with pytest.raises(UsageError, match="not in the store"):
        home.remove("wordllama")
    assert home.remove("minilm") is None


def test_a_folder_that_cannot_be_written(tmp_path, tiny):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write to"):
        Store(tmp_path / "file" / "models").pull("tiny", str(tiny))


def test_where_models_live(monkeypatch, tmp_path):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path))
    assert Store().folder == tmp_path
    monkeypatch.delenv("RAGSTONE_MODELS")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert str(store.default_folder()) == "/data/ragstone/models"
