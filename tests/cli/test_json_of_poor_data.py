"""`--json` of runs with few rows, without a judge, or with failures: what is unknown is null, and the published schemas allow it."""

import json

import pytest

ROW = {"question": "How long is the pool?", "answer": "The pool is 50 metres long.", "reference": "50 metres"}
CHUNKS = ["The pool is 50 metres long.", "The sauna costs 14 euros.", "The slide is 86 metres long."]
SYSTEM = """
def answer(question, contexts=(), history=()):
    if history:
        raise ValueError("gone")
    return contexts[0] if contexts else "Hm."
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lengths = {"one": 1, "two": 2}
    for name, rows in lengths.items():
        lines = [json.dumps({**ROW, "id": str(at), "contexts": CHUNKS}) for at in range(rows)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "bare.jsonl").write_text(
        json.dumps({"question": "Q?", "answer": None}) + '\n{"question": "R?", "answer": "x"}'
    )
    (tmp_path / "users.jsonl").write_text('{"id": "a", "questions": ["Deep?", "Long?"], "goal": "the depth"}')
    (tmp_path / "rag.py").write_text(SYSTEM)


def test_what_is_unknown_is_null(cli, home):
    def read(*arguments):
        printed = cli(*arguments, "--json")
        return json.loads(printed.out) if printed.out else printed.err

    for name in ("one", "two", "bare"):
        read("run", f"{name}.jsonl", "-m", "token_f1,refusal", "--name", name, "-q")
        read("show", name)
        read("diagnose", name)
        read("validate", f"{name}.jsonl")
    assert read("explain", "one", "1")["wrong"] is None
    read("explain", "bare", "1")
    for pair in (("one", "one"), ("one", "two"), ("bare", "one"), ("bare", "bare")):
        read("compare", *pair)
        read("gate", pair[0], "--against", pair[1])
    read("gate", "one", "--min", "token_f1=0.1")
    system = ("--system", "rag.py:answer")
    attacked = read("stress", "two.jsonl", *system, "--bed", "injection", "--bed", "overload", "-q")
    assert {loss["low"] for loss in attacked["tests"][0]["losses"]} == {None}
    both = ("--system", "rag.py:answer", *system)
    read("stress", "one.jsonl", *both, "--bed", "injection", "-q")
    read("stress", "one.jsonl", *system, "--bed", "noise", "-q")
    read("erag", "one.jsonl", *system, "-q")
    assert read("simulate", "users.jsonl", *system)["failures"]
