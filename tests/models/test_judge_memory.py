"""What the local judge computed is kept between runs, and never changes a result."""

import sqlite3

import numpy as np
import pytest

from ragstone.models.judge_memory import JudgeMemory
from ragstone.models.local_judge import Pair, open_local_judge
from tests.models.toy_judge import make_toy_judge

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

LIGHT = "The light stands on the mole."
PAIRS = [
    Pair("support", LIGHT, "The light stands."),
    Pair("support", LIGHT, "The horn stands."),
    Pair("match", "a", "b"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = make_toy_judge(tmp_path / "toy", [LIGHT])
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(made))
    return made


class Counted:
    """The judge, and the pairs that it computed."""

    def __init__(self):
        self._judge, self.asked = open_local_judge(), []
        self.card = self._judge.card

    def run(self, pairs):
        self.asked += pairs
        return self._judge.run(pairs)


def run(file, pairs=PAIRS):
    judge = Counted()
    return JudgeMemory(judge, file).run(pairs), judge.asked


def test_the_second_run_computes_only_what_is_new(folder, tmp_path):
    file = tmp_path / "cache" / "outputs.sqlite"
    first, asked = run(file, PAIRS[:2])
    assert asked == PAIRS[:2]
    again, asked = run(file, [PAIRS[2], *PAIRS[:2], PAIRS[0]])
    assert asked == PAIRS[2:]
    whole = open_local_judge().run(PAIRS)
    for one, other in zip([*first, *again], [*whole[:2], whole[2], whole[0], whole[1], whole[0]], strict=True):
        assert (one == other).all()


def test_the_file_has_no_text(folder, tmp_path):
    file = tmp_path / "outputs.sqlite"
    run(file)
    assert b"light" not in file.read_bytes().lower()
    assert b"horn" not in file.read_bytes().lower()


def test_a_pair_cut_elsewhere_is_another_one(folder, tmp_path):
    file = tmp_path / "outputs.sqlite"
    run(file, [Pair("support", "a', 'b", "c")])
    _, asked = run(file, [Pair("support", "a", "b', 'c"), Pair("match", "a', 'b", "c")])
    assert len(asked) == 2


def test_another_judge_uses_nothing_of_it(folder, tmp_path, monkeypatch):
    file = tmp_path / "outputs.sqlite"
    run(file)
    other = make_toy_judge(tmp_path / "other", [LIGHT, "More words."])
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(other))
    assert run(file)[1] == PAIRS


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\x00" + b"\xff" * 5_000])
def test_a_broken_file_is_made_again(folder, tmp_path, content):
    file = tmp_path / "outputs.sqlite"
    file.write_bytes(content)
    assert run(file)[1] == PAIRS
    run(file)
    assert run(file)[1] == []


def test_values_of_another_length_are_computed_again(folder, tmp_path):
    file = tmp_path / "outputs.sqlite"
    good, _ = run(file)
    with sqlite3.connect(file) as stored:
        stored.execute("UPDATE outputs SET value = x'00'")
    again, asked = run(file)
    assert asked == PAIRS
    assert all((one == other).all() for one, other in zip(good, again, strict=True))


def test_a_locked_file_fails_no_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.models.judge_memory._WAIT_S", 0.01)
    file = tmp_path / "outputs.sqlite"
    run(file, PAIRS[:1])
    with sqlite3.connect(file) as held:
        held.execute("BEGIN EXCLUSIVE")
        outputs, asked = run(file)
        assert asked == PAIRS
        assert len(outputs) == len(PAIRS)
    assert run(file)[1] == PAIRS[1:], "nothing was written while it was locked"


def test_a_folder_that_cannot_be_written_fails_no_run(folder, tmp_path):
    (tmp_path / "taken").write_text("a file")
    assert run(tmp_path / "taken" / "outputs.sqlite")[1] == PAIRS


def test_a_large_file_is_begun_again(folder, tmp_path, monkeypatch):
    file = tmp_path / "outputs.sqlite"
    run(file)
    monkeypatch.setattr("ragstone.models.judge_memory._MOST_BYTES", 100)
    assert run(file)[1] == PAIRS


def test_many_pairs_at_once(folder, tmp_path):
    many = [Pair("support", LIGHT, f"The light stands {number}.") for number in range(300)]
    first, _ = run(tmp_path / "outputs.sqlite", many)
    again, asked = run(tmp_path / "outputs.sqlite", many)
    assert asked == []
    assert np.array_equal(np.array(first), np.array(again))
