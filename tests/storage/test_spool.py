"""A spool has whole lines only, whatever happens to the disk or to the process that writes it."""

import asyncio
import json
import os

import pytest

from ragstone.errors import StorageError
from ragstone.storage.spool import Spool, SpoolFullError


@pytest.fixture
def spool(tmp_path):
    return tmp_path / "spool.jsonl"


def lines(spool):
    return [json.loads(line) for line in spool.read_text().splitlines()]


def test_one_process_per_spool_and_a_torn_line_is_cut_off(spool):
    spool.write_bytes(b'{"whole": 1}\n{"torn": ')
    first = Spool(str(spool), 1000)
    assert spool.read_bytes() == b'{"whole": 1}\n'
    with pytest.raises(StorageError, match="another process"):
        Spool(str(spool), 1000)
    first.close()


def test_a_failed_write_leaves_whole_lines(spool, monkeypatch):
    async def use():
        store = Spool(str(spool), 10_000)
        await store.append([{"a": 1}])
        real, calls = os.write, []

        def full(file, content):
            calls.append(1)
            if len(calls) == 1:
                return real(file, bytes(content)[:3])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StorageError, match="No space left"):
            await store.append([{"b": 2}])
        monkeypatch.setattr(os, "write", real)
        await asyncio.gather(*(store.append([{"c": number}]) for number in range(20)))
        store.close()

    asyncio.run(use())
    assert lines(spool) == [{"a": 1}, *({"c": number} for number in range(20))]


def test_a_limit_and_the_permissions(spool):
    async def use():
        store = Spool(str(spool), 20)
        await store.append([{"a": 1}])
        with pytest.raises(SpoolFullError, match="limit"):
            await store.append([{"b": "x" * 20}])
        await store.append([])
        store.close()

    asyncio.run(use())
    assert lines(spool) == [{"a": 1}]
    assert spool.stat().st_mode & 0o077 == 0
