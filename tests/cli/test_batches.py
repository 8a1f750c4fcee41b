"""`ragstone batches`."""

import asyncio
import json

import pytest

from ragstone.llm.base import Message, Request
from ragstone.llm.batches import BatchRecords, BatchSettings
from ragstone.llm.cache import open_cache
from ragstone.llm.gateway import Gateway, GatewaySettings
from tests.oracle.batches import BatchOracle


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def requests(count):
    return [Request((Message("system", "s"), Message("user", f"question {number}"))) for number in range(count)]


def leave_batch(base_url, folder=None, count=3):
    """Submit a batch and stop before it has ended."""
    settings = BatchSettings(folder=folder, quiet_s=0.02, first_poll_s=0.02)
    options = GatewaySettings(cache=open_cache(), batch=settings, base_url=base_url, deadline_s=None if folder else 0.5)

    async def ask():
        gateway = Gateway(options)
        llm = gateway.open_llm("openai/oracle")
        try:
            await asyncio.gather(*map(llm.complete, requests(count)), return_exceptions=True)
        finally:
            await gateway.close()

    asyncio.run(ask())
    [record] = BatchRecords(open_cache().place).all()
    return record


def test_nothing(cli):
    assert cli("batches").out == "no batches are waiting\n"
    assert json.loads(cli("batches", "--json").out) == []


@pytest.mark.slow
@pytest.mark.parametrize("by", ["id", "batch"])
def test_list_and_cancel(cli, by):
    with BatchOracle(steps=["in_progress"] * 100_000) as server:
        record = leave_batch(server.base_url)
        listed = cli("batches").out
        assert "batch_0" in listed
        assert "openai/oracle" in listed
        [shown] = json.loads(cli("batches", "--json").out)
        assert (shown["batch"], shown["requests"]) == ("batch_0", len(record.keys))
        wrong = cli("batches", "cancel", "batch_0", "--base-url", "http://127.0.0.1:9/v1")
        assert wrong.code == 2
        assert server.base_url in wrong.err
        done = cli("batches", "cancel", getattr(record, by), "--base-url", server.base_url)
        assert done.code == 0, done.err
        assert server.cancelled == ["batch_0"]
    assert cli("batches").out == "no batches are waiting\n"


def test_a_batch_that_the_server_does_not_know(cli):
    with BatchOracle(steps=["in_progress"] * 100_000) as server:
        leave_batch(server.base_url)
        server.batches.clear()
        gone = cli("batches", "cancel", "batch_0", "--base-url", server.base_url)
    assert gone.code == 0
    assert "stored 0 of" in gone.out
    assert cli("batches").out == "no batches are waiting\n"


def test_files(cli, tmp_path):
    leave_batch("http://127.0.0.1:9/v1", folder=str(tmp_path / "files"))
    [path] = (tmp_path / "files").iterdir()
    done = cli("batches", "cancel", path.name.split(".")[0].removeprefix("ragstone-"))
    assert done.code == 0, done.err
    assert list((tmp_path / "files").iterdir()) == []


def test_mistakes(cli):
    assert "Choose from: list, cancel." in cli("batches", "stop").err
    assert "there is no batch 'x'" in cli("batches", "cancel", "x").err
