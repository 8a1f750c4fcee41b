"""ragstone simulate: conversations are written, counted and quoted."""

import json
from pathlib import Path

import pytest

from ragstone.formats import read_dataset

USERS = '{"id": "a", "questions": ["Deep?"], "goal": [{"wants": "Deep?", "fact": 12}]}\n'
SYSTEM = "def answer(question, history=()):\n    return '12 m' if history else 'Hm.'\n"
COMMAND = ["simulate", "users.jsonl", "--system", "rag.py:answer", "-o", "talk.jsonl"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users.jsonl").write_text(USERS)
    (tmp_path / "rag.py").write_text(SYSTEM)


def test_conversations_are_written_and_their_ends_are_told(cli):
    told = json.loads(cli(*COMMAND, "--json").out)
    assert (told["conversations"], told["turns"], told["goal_reached"]) == (1, 2, 1)
    shown = cli(*COMMAND).out
    assert "1 conversation with function/rag.py:answer, 2 turns in all" in shown
    assert "goal reached in 1 of 1" in shown
    assert [row.answer for row in read_dataset("talk.jsonl")] == ["Hm.", "12 m"]
    assert "is guessed by its words" not in cli(*COMMAND).err
    Path("users.jsonl").write_text(USERS.replace(', "fact": 12', ""))
    assert "a part of a goal without a `fact` is guessed by its words" in cli(*COMMAND).err


def test_a_quote_asks_nobody(cli, tmp_path):
    (tmp_path / "rag.py").write_text("def answer(question, history=()):\n    raise SystemError\n")
    assert cli(*COMMAND, "--quote", "--json").code == 0
    assert not (tmp_path / "talk.jsonl").exists()


def test_other_endings_are_refused(cli):
    printed = cli(*COMMAND[:-1], "talk.txt")
    assert printed.code == 2
    assert "must end in" in printed.err
