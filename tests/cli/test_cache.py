"""`ragstone cache`."""

from ragstone.llm.cache import Cache, make_key
from ragstone.models.judge_memory import memory_file


def fill(folder, count):
    for number in range(count):
        Cache(folder).write(make_key(number), "x" * 900)


def test_size_and_clear(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cli("cache").out == f"0 replies, 0 bytes in {tmp_path}/replies\n"
    fill(tmp_path / "replies", 3)
    assert cli("cache", "size").out.startswith(f"3 replies, 3 kB in {tmp_path}/replies\n")
    cleared = cli("cache", "clear").out
    assert cleared.startswith(f"removed 3 replies, 3 kB from {tmp_path}/replies\n")
    assert "next: ragstone run DATA --judge MODEL --quote" in cleared
    assert "next" not in cli("cache", "clear").out
    assert cli("cache").out.startswith("0 replies")


def test_what_the_local_judge_computed(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    file = memory_file()
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x" * 2_000)
    assert "0 replies, 0 bytes, and 2 kB that the local judge computed, in " in cli("cache").out
    assert "local judge" not in cli("cache", "clear", "--folder", str(tmp_path)).out
    assert file.exists(), "another folder was named"
    assert "removed 0 replies, 0 bytes, and 2 kB that the local judge computed, from " in cli("cache", "clear").out
    assert not file.exists()


def test_another_folder(cli, tmp_path):
    fill(tmp_path, 1)
    assert cli("cache", "--folder", str(tmp_path)).out.startswith("1 reply, ")


def test_something_else(cli):
    printed = cli("cache", "empty")
    assert printed.code == 2
    assert "Choose from: size, clear." in printed.err
