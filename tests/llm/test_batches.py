"""Records of batches."""

import time
from dataclasses import replace

import pytest

from ragstone.llm.batches import BatchRecord, BatchRecords, BatchSettings, read_batch_option
from ragstone.llm.cache import open_cache
from ragstone.storage.durable import describe_process
from ragstone.storage.places import open_place


@pytest.fixture
def records(tmp_path):
    return BatchRecords(open_place(tmp_path).as_private())


def test_a_record_is_stored_until_it_is_removed(records):
    first = records.create("openai", "openai/m", "address", "where", ["k1", "k2"])
    second = records.create("files", "vllm/m", "", "/folder", ["k3"])
    assert records.all() == [first, second]
    found = replace(first, batch="batch_1", rejected=("batch_0",))
    records.write(found)
    assert records.read(first.id) == found
    records.remove(found)
    records.remove(found)
    assert records.all() == [second]
    assert records.read(first.id) is None


def test_records_in_object_storage(bucket):
    records = BatchRecords(open_cache(f"{bucket.url}/replies").place)
    assert records.all() == []
    record = records.create("openai", "openai/m", "", "where", ["k1"])
    assert BatchRecords(open_cache(f"{bucket.url}/replies").place).all() == [record]
    assert open_cache(f"{bucket.url}/replies").clear().entries == 0
    records.remove(record)
    records.remove(record)
    assert records.all() == []


def test_no_folder_and_broken_files(records, tmp_path):
    assert records.all() == []
    kept = records.create("openai", "openai/m", "", "w", ["k"])
    for number, content in enumerate(["", "{", "[]", '{"id": 1}', '{"id": "x", "keys": 3, "rejected": []}']):
        (tmp_path / "batches" / f"broken{number}.json").write_text(content)
    assert records.all() == [kept]


def test_a_record_contains_no_secret(records, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1")
    records.create("openai", "openai/m", "", "https://api.openai.com/v1", ["k"])
    [path] = (tmp_path / "batches").iterdir()
    assert "very-secret" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("change", "is_starting"),
    [
        ({}, False),  # our own
        ({"owner": {**describe_process(), "pid": 1, "started": None}}, True),
        ({"owner": {**describe_process(), "pid": 1, "started": "another"}}, False),
        ({"owner": {**describe_process(), "pid": 2**30}}, False),
        ({"owner": {"host": "elsewhere", "pid": 1}}, True),
        ({"owner": {"host": "elsewhere", "pid": 1}, "created": time.time() - 10_000}, False),
        ({"owner": {"host": "elsewhere", "pid": 1}, "batch": "batch_1"}, False),
        ({"owner": {}}, False),
    ],
)
def test_whether_another_process_is_about_to_submit_it(change, is_starting):
    record = BatchRecord("id", "openai", "m", "", "w", ("k",), time.time(), describe_process())
    assert replace(record, **change).is_starting == is_starting


def test_the_option(tmp_path):
    assert read_batch_option(None) is read_batch_option(False) is None
    assert read_batch_option(True) == BatchSettings()
    assert read_batch_option(tmp_path) == read_batch_option(str(tmp_path)) == BatchSettings(folder=str(tmp_path))
    assert read_batch_option("files").folder.startswith("/")
    settings = BatchSettings(quiet_s=1)
    assert read_batch_option(settings) is settings
