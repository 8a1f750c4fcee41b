"""Growing, rotated and remote log files."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest

from ragstone.errors import InputError, UsageError
from ragstone.storage.places import open_place
from ragstone.watch import sources
from ragstone.watch.sources import changed_files, check_sources, find_files, kind_of_file, read_block, remember
from ragstone.watch.state import FileState, State
from tests.watch.logs import request, write_lines


class Tail:
    """Reads a source again and again, as a watch does, and collects the ids of new lines."""

    def __init__(self, url) -> None:
        self.url, self.state = str(url), State()

    def new(self) -> list[str]:
        ids = []
        for number, one in changed_files(0, list(find_files(self.url, None)), self.state):
            entry = self.state.files[number]
            entry.kind = kind_of_file(one) or ""
            while entry.kind == "lines":
                block = read_block(one.place, entry)
                if block.position == entry.position:
                    break
                ids += [line.values["id"] for line in block.lines]
                remember(entry, block)
            entry.looked = one.version
        return ids


def rows(first, last):
    return [request(number) for number in range(first, last)]


def ids(first, last):
    return [f"r{number}" for number in range(first, last)]


def test_only_new_lines_are_read(tmp_path):
    log = write_lines(tmp_path / "app.jsonl", rows(0, 5))
    tail = Tail(log)
    assert tail.new() == ids(0, 5)
    assert tail.new() == []
    write_lines(log, rows(5, 7))
    assert tail.new() == ids(5, 7)


def test_a_half_written_last_line_waits(tmp_path):
    log = tmp_path / "app.jsonl"
    text = json.dumps(request(0)) + "\n" + json.dumps(request(1))
    log.write_text(text[:-10])
    tail = Tail(log)
    assert tail.new() == ["r0"]
    with log.open("a") as stream:
        stream.write(text[-10:])  # complete, but without a line break: some writers never write the last one
    assert tail.new() == ["r1"]
    with log.open("a") as stream:
        stream.write("\n" + json.dumps(request(2)) + "\n")
    assert tail.new() == ["r2"]


def test_blocks_end_at_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_BYTES", 300)
    log = write_lines(tmp_path / "app.jsonl", [*rows(0, 20), request(20, answer="long " * 500), *rows(21, 30)])
    assert Tail(log).new() == ids(0, 30)


def test_broken_lines_are_counted(tmp_path):
    log = tmp_path / "app.jsonl"
    log.write_bytes(b'\xef\xbb\xbf{"id": "a"}\n[1]\nnot json\n\n{"id": "b"}\n\xff\n')
    block = read_block(open_place(log), FileState(0, ""))
    assert ([line.values["id"] for line in block.lines], block.broken) == (["a", "b"], 3)
    assert block.position == log.stat().st_size


def test_a_renamed_file_keeps_its_position(tmp_path):
    log = write_lines(tmp_path / "app.jsonl", rows(0, 5))
    tail = Tail(log)
    tail.new()
    write_lines(log, rows(5, 6))  # not read before the rotation
    log.rename(tmp_path / "app.jsonl.1")
    write_lines(log, rows(6, 8))
    assert sorted(tail.new()) == ids(5, 8)
    (tmp_path / "app.jsonl.1").rename(tmp_path / "app.jsonl.2")
    log.rename(tmp_path / "app.jsonl.1")
    write_lines(log, rows(8, 9))
    assert tail.new() == ids(8, 9)


def test_two_rotations_between_two_looks(tmp_path):
    log = write_lines(tmp_path / "app.jsonl", rows(0, 3))
    tail = Tail(log)
    tail.new()
    for number in (1, 2):
        log.rename(tmp_path / f"app.jsonl.{3 - number}")
        write_lines(log, rows(3 * number, 3 * number + 3))
    assert sorted(tail.new()) == ids(3, 9)


def test_a_compressed_rotation(tmp_path):
    log = write_lines(tmp_path / "app.jsonl", rows(0, 5))
    tail = Tail(log)
    tail.new()
    write_lines(log, rows(5, 6))
    with gzip.open(tmp_path / "app.jsonl.1.gz", "wb") as packed:
        packed.write(log.read_bytes())
    log.unlink()
    assert tail.new() == ids(5, 6)


def test_copy_and_truncate(tmp_path):
    log = write_lines(tmp_path / "app.jsonl", rows(0, 50))
    tail = Tail(log)
    tail.new()
    copy = tmp_path / "app.jsonl.1"
    copy.write_bytes(log.read_bytes()[:2000])  # while the copy is made
    assert tail.new() == []
    shutil.copy(log, copy)
    assert tail.new() == []
    log.write_bytes(b"")
    assert tail.new() == []
    write_lines(log, rows(50, 52))
    assert tail.new() == ids(50, 52)


def test_files_that_begin_alike_are_different(tmp_path):
    start = request(0, answer="the same beginning " * 100)
    write_lines(tmp_path / "a.jsonl", [start, *rows(1, 3)])
    write_lines(tmp_path / "b.jsonl", [start, *rows(3, 6)])
    tail = Tail(tmp_path)
    assert sorted(set(tail.new())) == ids(0, 6)
    write_lines(tmp_path / "a.jsonl", rows(6, 7))
    write_lines(tmp_path / "b.jsonl", rows(7, 8))
    assert sorted(tail.new()) == ids(6, 8)
    write_lines(tmp_path / "c.jsonl", [start])  # shorter than both
    assert tail.new() in (["r0"], [])


def test_folders_and_patterns(tmp_path):
    write_lines(tmp_path / "one" / "a.jsonl", rows(0, 1))
    write_lines(tmp_path / "one" / "deep" / "b.ndjson", rows(1, 2))
    for name in (".hidden.jsonl", "c.jsonl.tmp", "notes.txt"):
        write_lines(tmp_path / "one" / name, rows(9, 10))
    assert sorted(Tail(tmp_path / "one").new()) == ids(0, 2)
    assert Tail(tmp_path / "*" / "*.jsonl").new() == ["r0"]
    assert Tail(tmp_path / "none.jsonl").new() == []


def test_sources_that_cannot_be_watched(tmp_path):
    with pytest.raises(UsageError, match="standard input"):
        check_sources(["-"])
    with pytest.raises(UsageError, match="there is no folder"):
        check_sources([str(tmp_path / "no" / "log.jsonl")])
    check_sources([str(tmp_path / "later.jsonl")])  # the first request will create it


def test_s3(bucket):
    content = "".join(json.dumps(row) + "\n" for row in rows(0, 3))
    bucket.write("logs/a/x.jsonl", content.encode())
    bucket.write("logs/b/y.jsonl", (json.dumps(request(3)) + "\n").encode())
    tails = [Tail(f"{bucket.url}/logs"), Tail(f"{bucket.url}/logs/*/x.jsonl"), Tail(f"{bucket.url}/logs/a/x.jsonl")]
    assert [sorted(tail.new()) for tail in tails] == [ids(0, 4), ids(0, 3), ids(0, 3)]
    bucket.write("logs/a/x.jsonl", (content + json.dumps(request(4)) + "\n").encode())
    assert [tail.new() for tail in tails] == [["r4"]] * 3


def test_a_gzip_file_has_a_limit_and_is_unpacked_once(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000))
    opened = []
    real = gzip.GzipFile
    monkeypatch.setattr(sources.gzip, "GzipFile", lambda **how: opened.append(1) or real(**how))
    monkeypatch.setattr(sources, "BLOCK_BYTES", 100)
    entry = FileState(0, "")
    for _ in range(20):
        remember(entry, read_block(open_place(path), entry))
    assert (entry.position, len(opened)) == (20 * 99, 1)
    monkeypatch.setattr(sources, "LARGEST_GZIP_BYTES", 5000)
    path.write_bytes(gzip.compress(b'{"b": 1}\n' * 1000))
    with pytest.raises(InputError, match="when it is decompressed"):
        read_block(open_place(path), FileState(0, ""))
