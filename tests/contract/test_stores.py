"""The laws that every store obeys: a local folder, an S3 bucket, whatever fsspec knows."""

import json
import uuid

import pytest

import ragstone
from ragstone.engine import execute as parts
from ragstone.errors import InterruptedRunError, StorageError
from ragstone.registry import evidence, metric
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder, unfinished_runs

ROWS = [
    {"id": f"s{number}", "question": f"q{number}", "answer": "one two", "references": ["one"], "contexts": ["one"]}
    for number in range(250)
]


def local_folder(request):
    return str(request.getfixturevalue("tmp_path") / "root")


def s3_bucket(request):
    return f"{request.getfixturevalue('bucket').url}/some/prefix"


def memory(_):
    return f"memory://{uuid.uuid4().hex}/root"


def folders_of_fsspec(request):
    """A file system behind fsspec that has real folders, as sftp and network shares do."""
    return f"local://{request.getfixturevalue('tmp_path')}/root"


STORES = [local_folder, s3_bucket, memory, folders_of_fsspec]


@pytest.fixture(params=STORES, ids=lambda store: store.__name__)
def root(request):
    return request.param(request)


@pytest.fixture
def place(root):
    return open_place(root)


def fail_while_writing(place, error):
    with place.writing() as stream:
        stream.write(b"half of something new")
        raise error


def test_what_is_written_is_read(place):
    for content in (b"", b"\0\xff", b"x" * (1 << 20)):
        (place / "deep" / "file").write_bytes(content)
        assert (place / "deep" / "file").read_bytes() == content


def test_what_is_not_there_is_not_there(place):
    assert not place.exists()
    assert not place.is_folder()
    assert place.children() == []
    with pytest.raises(StorageError, match=r"cannot read .*nothing: there is no such file"):
        (place / "nothing").read_bytes()


def test_files_and_folders_are_told_apart(place):
    (place / "folder" / "file").write_bytes(b"1")
    assert (place / "folder").is_folder()
    assert (place / "folder" / "file").exists()
    assert not (place / "folder" / "file").is_folder()


def test_children_are_sorted_by_name(place):
    for name in ("b", "a", "c/d"):
        (place / name).write_bytes(b"1")
    assert [child.name for child in place.children()] == ["a", "b", "c"]
    assert [child.name for child in (place / "c").children()] == ["d"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_nothing(place, error):
    with pytest.raises(error):
        fail_while_writing(place / "file", error)
    assert place.children() == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_the_old_content(place, error):
    (place / "file").write_bytes(b"old")
    with pytest.raises(error):
        fail_while_writing(place / "file", error)
    assert (place / "file").read_bytes() == b"old"
    assert [child.name for child in place.children()] == ["file"]


def test_nothing_is_visible_before_the_block_ends(place):
    with (place / "file").writing() as stream:
        stream.write(b"x" * 100_000)
        stream.flush()
        assert not (place / "file").exists()
    assert (place / "file").exists()


def test_removing(place):
    (place / "a" / "file").write_bytes(b"1")
    (place / "b" / "file").write_bytes(b"1")
    (place / "a").remove_folder()
    (place / "a").remove_folder()
    (place / "b" / "file").remove()
    (place / "b" / "file").remove()
    assert not (place / "a" / "file").exists()
    assert not (place / "b" / "file").exists()


def test_names_that_need_care(place):
    for name in ("with space", "ünïcödé", "100%", "a+b", "[brackets]", "#hash?"):
        (place / name).write_bytes(name.encode())
        assert (place / name).read_bytes() == name.encode()
        assert (place / name).name == name


def test_a_run_is_stored_and_opened_again(root):
    run = ragstone.evaluate(ROWS, "token_f1,k_precision", root, name="mine")
    again = ragstone.open_run(run.path)
    assert run.path.startswith(f"{root}/runs/")
    assert again.name == "mine"
    assert again.scores.equals(run.scores)
    assert list(again.summary()) == list(run.summary())
    assert len(again.samples) == len(ROWS)
    assert again.scores.num_rows == 2 * len(ROWS)


def test_data_is_read_from_it(root, place):
    (place / "data.jsonl").write_bytes("".join(json.dumps(row) + "\n" for row in ROWS).encode())
    run = ragstone.evaluate(f"{root}/data.jsonl", "token_f1")
    assert run.info["dataset"]["path"] == f"{root}/data.jsonl"
    assert run.info["dataset"]["rows"] == len(ROWS)


def test_bad_data_leaves_nothing(root, place):
    with pytest.raises(ragstone.RagstoneError, match="contexts"):
        ragstone.evaluate([*ROWS, {"question": "q", "contexts": 5}], "token_f1", root)
    assert [child for child in place.children() if child.children()] == []


def test_what_is_not_a_run_is_not_opened(root, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # away from the store that `make demo` leaves in a checkout
    with pytest.raises(StorageError, match=r"is not a run|there is no run"):
        ragstone.open_run(f"{root}/runs/nothing")
    (place / "runs" / "half" / "plan.json").write_bytes(b"{}")
    with pytest.raises(StorageError, match="unfinished"):
        ragstone.open_run(f"{root}/runs/half")


@pytest.mark.usefixtures("catalogue")
def test_an_interrupted_run_is_resumed(root, place):
    asked, broken = [], [True]

    @evidence
    async def verdict(question: str) -> str:
        asked.append(question)
        return question

    @metric("judged_row")
    def judged(verdict: str) -> float:
        if broken[0] and verdict == f"q{parts.WAITING_PART_ROWS + 1}":
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(InterruptedRunError, match="1 finished part is kept"):
        ragstone.evaluate(ROWS, "judged_row", root)
    [folder] = unfinished_runs(place)
    assert folder.finished_parts() == {0}
    broken[0], asked[:] = False, []
    run = ragstone.evaluate(ROWS, "judged_row", root, resume=True)
    assert run.id == folder.id
    assert asked == [row["question"] for row in ROWS[parts.WAITING_PART_ROWS :]]
    assert run.scores["sample_id"].to_pylist() == [row["id"] for row in ROWS]
    assert list(unfinished_runs(place)) == []


def test_two_runs_never_share_a_folder(place):
    folders = {RunFolder.create(place).id for _ in range(20)}
    assert len(folders) == 20
