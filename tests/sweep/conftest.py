"""A small world: 20 questions, and a system whose settings are good and bad on purpose. It writes down every answer."""

import json

import pytest

from tests.e2e.conftest import core_install, environment, shell  # noqa: F401  (fixtures)
from tests.http.loopback import loopback  # noqa: F401

QUESTIONS = 20
SYSTEM = """
import os, time

def answer(question, skill=1, style="plain", wait=0.0):
    number = int(question.split()[-1].rstrip("?"))
    if style == "broken":
        raise ValueError("no index for this style")
    if os.path.exists("pause"):
        time.sleep(float(open("pause").read()))
    # The bad skill is right for every fifth question only.
    right = skill == 2 or number % 5 == 0
    with open("calls.txt", "a") as calls:
        calls.write(f"{skill} {style} {number}\\n")
    return {"answer": f"{number} crowns" if right else "nothing", "contexts": [f"Ticket {number} costs {number} crowns."],
            "cost_usd": 0.01 * skill}
"""
PLAN = """
name = "tickets"
objective = "exact_match"
metrics = ["exact_match", "contains"]

[system]
target = "rag.py:answer"
concurrency = 1

[data]
questions = "questions.jsonl"

[settings]
skill = [1, 2]
style = ["plain", "long"]
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with the questions, the system and the plan."""
    rows = [
        {
            "id": f"q{number:02d}",
            "question": f"What is the price of ticket {number}?",
            "references": [f"{number} crowns"],
        }
        for number in range(QUESTIONS)
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rag.py").write_text(SYSTEM)
    (tmp_path / "sweep.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    return tmp_path


@pytest.fixture
def calls(home):
    """The calls of the system so far, as texts."""

    def read():
        path = home / "calls.txt"
        return path.read_text().splitlines() if path.exists() else []

    return read
