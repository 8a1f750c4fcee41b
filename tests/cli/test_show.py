"""ragstone show."""

import json

import ragstone
from ragstone.cli import explain

ROWS = [{"question": f"When does boat {n} leave?", "answer": "At nine.", "references": ["At nine."]} for n in range(3)]


def test_a_stored_run_is_printed_as_after_the_run(cli, tmp_path):
    ragstone.evaluate(ROWS, ["token_f1", "ari"], tmp_path, name="mine")
    short = cli("show", "mine", "-o", str(tmp_path))
    assert short.code == 0
    assert "token_f1" in short.out
    assert "stored in" in short.out
    full = cli("show", "latest", "--full", "-o", str(tmp_path)).out
    assert "ari" in full
    found = json.loads(cli("show", "mine", "--json", "-o", str(tmp_path)).out)
    assert [row["metric"] for row in found["summary"]] == ["token_f1", "ari"]


def test_runs_are_listed_with_names_that_commands_accept(cli, home):
    assert "no finished run in store" in cli("runs", "-o", "store").out
    for _ in range(2):
        assert cli("run", "answers.jsonl", "-m", "token_f1", "-o", "store").code == 0
    printed = cli("runs", "-o", "store").out
    assert [line.split()[0] for line in printed.splitlines()[1:3]] == ["answers-2", "answers"]
    assert "ragstone show answers-2 -o store" in printed
    assert [row["name"] for row in json.loads(cli("runs", "-o", "store", "--json").out)] == ["answers-2", "answers"]
    assert cli("show", "answers-2", "-o", "store").code == 0


def test_a_run_is_deleted(cli, home):
    (home / "mine.jsonl").write_text('{"question": "Why?", "answer": "So.", "references": ["So."]}\n')
    for name in ("one", "two"):
        cli("run", "mine.jsonl", "-m", "token_f1", "--name", name)
    gone = cli("runs", "--delete", "one")
    assert (gone.code, gone.out.startswith("deleted ")) == (0, True), gone.err
    assert [run["name"] for run in json.loads(cli("runs", "--json").out)] == ["two"]
    assert [path.name for path in (home / "ragstone-store" / "runs").iterdir()] == [
        json.loads(cli("show", "two", "--json").out)["id"]
    ]
    wrong = cli("runs", "--delete", "thre")
    assert wrong.code == 2
    assert len(json.loads(cli("runs", "--json").out)) == 1


def test_rows_are_listed_by_status_or_by_a_filter(cli, home, monkeypatch):
    rows = [
        {
            "id": f"r{n}",
            "question": f"When does boat {n} leave?",
            "answer": "" if n > 2 else "At nine.",
            "references": ["At nine."],
        }
        for n in range(7)
    ]
    (home / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed = cli("run", "mine.jsonl", "-m", "token_f1,answer_match").out
    listed = cli("show", "mine", "--rows", "wrong,look").out
    # The reason has a line of its own.
    assert [line.split()[0] for line in listed.splitlines()[:8:2]] == ["r3", "r4", "r5", "r6"]
    assert [line.strip() for line in listed.splitlines()[1:8:2]] == ['it is empty: ""'] * 4
    assert "4 of 7 rows" in listed
    assert "show mine --rows wrong,look" in printed
    assert "all 4 rows that are not fine" in printed
    full = cli("show", "mine", "--full").out.partition("rows that are not fine")[2]
    assert {line.split()[0] for line in full.splitlines()[1:5]} == {"r3", "r4", "r5", "r6"}
    [only] = json.loads(cli("show", "mine", "--rows", 'id = "r3"', "--json").out)["rows"]
    assert (only["id"], only["word"], only["question"]) == ("r3", "r3", "When does boat 3 leave?")
    assert only["wrong"] > 0.9
    assert json.loads(cli("show", "mine", "--json").out)["statuses"] == {"no judgement": 3, "wrong": 4}
    assert json.loads(cli("runs", "--json").out)[0]["statuses"] == {"no judgement": 3, "wrong": 4}
    assert [line.split()[:5] for line in cli("runs").out.splitlines()[:2]] == [
        ["name", "rows", "wrong", "look", "fine"],
        ["mine", "7", "4", "0", "0"],
    ]
    monkeypatch.setattr(explain, "_MOST_COUNTED", 6)
    assert cli("runs").out.splitlines()[1].split()[:5] == ["mine", "7", "–", "–", "–"]
    assert "7 of 7 rows" in cli("show", "mine", "--rows", "all").out
    causes = {view["cause"] for view in json.loads(cli("show", "mine", "--rows", "wrong", "--json").out)["rows"]}
    for cause in causes:
        assert (
            cli("show", "mine", "--rows", cause.upper()).out == cli("show", "mine", "--rows", f'cause = "{cause}"').out
        )
    assert causes
    assert cli("show", "mine", "--rows", "nonsense > 3").code == 2
    assert "the statuses are wrong, look and fine" in " ".join(cli("show", "mine", "--rows", "rong").err.split())
    misspelt = cli("show", "mine", "--rows", "wrong,none")
    assert misspelt.code == 2
    assert "the statuses are wrong, fine, look" in misspelt.err
