"""Runs, ground truth and cached replies are for their owner only; folders and exports of the user keep their permissions."""

import os
import stat

import pytest

import ragstone
from ragstone.llm.cache import Cache
from ragstone.models.store import Store
from ragstone.storage.places import make_private_folders, open_place, open_private
from ragstone.storage.runs import RunFolder
from ragstone.truth.model import Case
from ragstone.truth.store import TruthStore

ROWS = [{"question": "q", "answer": "a b", "references": ["a"]}]


@pytest.fixture(params=[0o022, 0o000, 0o077], autouse=True)
def _umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder):
    """The modes of all folders and all files under a folder, itself included."""
    paths = [folder, *folder.rglob("*")]
    found = [(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in paths]
    return {mode for is_dir, mode in found if is_dir}, {mode for is_dir, mode in found if not is_dir}


def test_a_run_and_its_store(tmp_path):
    ragstone.evaluate(ROWS, ["token_f1"], tmp_path / "new" / "store")
    assert modes(tmp_path / "new") == ({0o700}, {0o600})


def test_an_unfinished_run(tmp_path):
    folder = RunFolder.create(open_place(tmp_path / "store"))
    with folder.owned(), folder.part(0).scores.writing() as stream:
        stream.write(b"1")
        assert modes(tmp_path / "store") == ({0o700}, {0o600})


def test_a_folder_of_the_user_keeps_its_permissions(tmp_path):
    (tmp_path / "mine").mkdir()
    os.chmod(tmp_path / "mine", 0o755)
    ragstone.evaluate(ROWS, ["token_f1"], tmp_path / "mine")
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o755
    assert modes(tmp_path / "mine" / "runs") == ({0o700}, {0o600})


def test_ground_truth(tmp_path):
    TruthStore(str(tmp_path / "store")).save("mine", [Case("1", "q")], author="me")
    assert modes(tmp_path / "store") == ({0o700}, {0o600})


def test_replies(tmp_path):
    cache = Cache(tmp_path / "cache")
    cache.write("ab" * 16, {"text": "secret"})
    assert cache.read("ab" * 16) == {"text": "secret"}
    assert modes(tmp_path / "cache") == ({0o700}, {0o600})


def test_a_model_that_was_trained_here(tmp_path):
    Store(tmp_path / "models").put("judge", {"weights.json": b"{}"}, "trained here")
    assert modes(tmp_path / "models" / "judge") == ({0o700}, {0o600})


def test_an_export_has_the_usual_permissions(tmp_path):
    mask = os.umask(0)
    os.umask(mask)
    open_place(tmp_path / "out" / "report.html").write_bytes(b"1")
    assert modes(tmp_path / "out") == ({0o777 & ~mask}, {0o666 & ~mask})


def test_a_file_in_the_way_is_an_error(tmp_path):
    with open_private(str(tmp_path / "file")) as stream:
        stream.write(b"1")
    with pytest.raises(OSError, match="exists"):
        make_private_folders(str(tmp_path / "file" / "below"))
