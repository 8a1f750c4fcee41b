"""The folder of a run, and the finished run as an object."""

import json
import os
import re
import socket
import sys

import pytest

import ragstone
from ragstone.errors import StorageError, UsageError
from ragstone.storage.durable import describe_process, process_start
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, RunFolder, free_name, unfinished_runs

ROWS = [{"id": "a", "question": "q", "answer": "one two", "references": ["one"]}]


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(open_place(tmp_path))


def test_names_sort_by_time(folder):
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]+", folder.id)


@pytest.mark.parametrize("out", [".", "deep/er/root"])
def test_discarding_removes_the_folders_that_were_made_for_it_and_no_others(out, tmp_path):
    (tmp_path / "mine").mkdir()
    folder = RunFolder.create(open_place(tmp_path / "mine" / out))
    folder.samples.write_bytes(b"1")
    folder.discard()
    assert list((tmp_path / "mine").iterdir()) == []


def test_discarding_leaves_other_runs_alone(tmp_path):
    root = open_place(tmp_path / "root")
    first, second = RunFolder.create(root), RunFolder.create(root)
    first.samples.write_bytes(b"1")
    second.samples.write_bytes(b"1")
    first.discard()
    assert second.samples.exists()


def test_while_a_run_is_worked_on_its_owner_is_known(folder):
    owner = open_place(folder.place.path) / "owner.json"
    with folder.owned():
        assert json.loads(owner.read_bytes()) == describe_process()
    assert not owner.exists()


def test_an_owner_that_cannot_be_removed_does_not_hide_what_went_wrong(folder, monkeypatch):
    def work():
        with folder.owned():
            monkeypatch.setattr("ragstone.storage.places.Place.remove", fail)
            raise ValueError("what went wrong")

    def fail(_):
        raise StorageError("cannot remove")

    with pytest.raises(ValueError, match="what went wrong"):
        work()


@pytest.mark.parametrize("pid", [2**22 + 1, 0x7FFFFFFF])
def test_a_dead_owner_is_no_obstacle(folder, pid):
    (folder.place / "owner.json").write_bytes(json.dumps({"host": socket.gethostname(), "pid": pid}).encode())
    with folder.owned():
        assert json.loads((folder.place / "owner.json").read_bytes())["pid"] == os.getpid()


def test_a_stranger_with_the_number_of_a_dead_owner_is_no_obstacle(folder):
    owner = {"host": socket.gethostname(), "pid": os.getppid(), "started": "another boot:1"}
    (folder.place / "owner.json").write_bytes(json.dumps(owner).encode())
    assert not folder.is_worked_on()
    with folder.owned():
        assert folder.is_worked_on()


def test_a_live_owner_is_waited_for_and_never_to_be_ended(folder):
    owner = {"host": socket.gethostname(), "pid": os.getppid(), "started": process_start(os.getppid())}
    (folder.place / "owner.json").write_bytes(json.dumps(owner).encode())
    with pytest.raises(StorageError, match="Wait until") as caught, folder.owned():
        pass
    assert "stop" not in str(caught.value)
    assert "kill" not in str(caught.value)


def test_unfinished_runs_come_newest_first(tmp_path):
    root = open_place(tmp_path)
    for name in ("20250101-000000-aaaa", "20260101-000000-aaaa", "20240101-000000-aaaa"):
        (root / "runs" / name / "plan.json").write_bytes(b"{}")
    (root / "runs" / "20270101-000000-aaaa" / "run.json").write_bytes(b"{}")
    assert [folder.id[:4] for folder in unfinished_runs(root)] == ["2026", "2025", "2024"]


def test_a_run_prints_what_it_is(tmp_path):
    run = ragstone.evaluate(ROWS, "token_f1", tmp_path)
    inner = Run(run.folder)
    assert repr(inner) == f"Run({run.id}: 1 samples, 1 metrics, {tmp_path}/runs/{run.id})"
    assert repr(run) == f"Run {run.id}: 1 sample, 1 metric\n  token_f1 0.667"
    assert "token_f1" in str(run.summary())


def test_a_run_that_was_moved_is_still_a_run(tmp_path):
    run = ragstone.evaluate(ROWS, "token_f1", tmp_path / "here")
    (tmp_path / "here" / "runs" / run.id).rename(tmp_path / "elsewhere")
    moved = ragstone.open_run(tmp_path / "elsewhere")
    assert moved.scores.num_rows == 1
    assert moved.info["id"] == run.id


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "not JSON"), (b"{", "not JSON"), (b"\xff", "not JSON"), (b"[]", "layout"), (b'{"layout": 99}', "Upgrade")],
)
def test_a_run_json_that_is_none(tmp_path, content, words):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(StorageError, match=words):
        ragstone.open_run(tmp_path)


def test_a_damaged_table_is_told(tmp_path):
    run = ragstone.evaluate(ROWS, "token_f1", tmp_path)
    path = tmp_path / "runs" / run.id / "scores.parquet"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(StorageError, match=r"cannot read .*scores\.parquet"):
        _ = ragstone.open_run(run.path).scores
    path.unlink()
    with pytest.raises(StorageError, match="there is no such file"):
        _ = ragstone.open_run(run.path).scores


def test_without_pandas_there_is_a_clear_message(tmp_path, monkeypatch):
    run = ragstone.evaluate([{"question": "a?", "answer": "b"}], ["ari"], tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        run.to_pandas()


def test_a_run_without_a_name_is_named_after_its_data(tmp_path):
    path = tmp_path / "my rows.v2.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    found = [ragstone.evaluate(str(path), ["token_f1"], tmp_path / "store").name for _ in range(3)]
    assert found == ["my-rows", "my-rows-2", "my-rows-3"]
    # The word `latest` means the newest run, and standard input has no name.
    assert free_name(open_place(tmp_path), "s3://bucket/latest.parquet?x=1") == "latest-2"
    assert free_name(open_place(tmp_path), "-") == "run"
    in_memory = ragstone.evaluate(ROWS, ["token_f1"], tmp_path / "store")
    assert in_memory.name == in_memory.id
