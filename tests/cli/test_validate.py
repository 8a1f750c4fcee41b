"""Check data without evaluating it."""

import json


def test_the_limit_is_respected(cli, home):
    assert json.loads(cli("validate", "answers.jsonl", "-n", 1, "--json").out)["profile"]["rows"] == 1


def test_long_lists_of_metrics_are_wrapped(cli, home):
    lines = cli("validate", "answers.jsonl", "--full").out.splitlines()
    assert max(map(len, (line for line in lines if line.startswith("  ")))) <= 110


def test_it_says_what_one_more_column_would_add(cli, home):
    (home / "bare.jsonl").write_text(
        '{"user_input": "When?", "response": "At nine.", "retrieved_contexts": ["At nine."]}\n'
    )
    printed = cli("validate", "bare.jsonl").out
    assert "format ragas" in printed
    assert "best next column: references (right answers) would add" in printed
    assert len(printed.splitlines()) < 12
    full = cli("validate", "bare.jsonl", "--full").out
    assert "one more column:\n  a column references (right answers) would add" in full
    more = json.loads(cli("validate", "bare.jsonl", "--json").out)["more"]
    assert more[0]["field"] == "references"
    assert "token_f1" in more[0]["metrics"]


CELLS = [
    {"Frage": f"Was kostet {n}?", "Antwort": f"Es kostet {n} Euro am Tag.", "Treffer": "eins ist so\n---\nzwei ist so"}
    for n in range(6)
]
MAPS = ("--map", "question=Frage", "--map", "answer=Antwort", "--map", "contexts=Treffer")


def write_cells(home):
    (home / "export.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CELLS))


def test_the_next_command_reads_the_data_alike(cli, home):
    write_cells(home)
    step = (
        r"run export.jsonl --map question=Frage --map answer=Antwort --map contexts=Treffer --split-contexts '\n---\n'"
    )
    assert step in cli("validate", "export.jsonl", *MAPS).out  # found
    assert r"--split-contexts '\n---\n'" in cli("validate", "export.jsonl", *MAPS, "--split-contexts", r"\n---\n").out
    assert r"--split-contexts" not in cli("validate", "answers.jsonl").out


def test_data_is_read_by_the_settings_of_run(cli, home):
    write_cells(home)
    settings = '[run]\nsplit-contexts = "\\n---\\n"\nlimit = 2\n[map]\nquestion = "Frage"\nanswer = "Antwort"\ncontexts = "Treffer"\n'
    (home / "ragstone.toml").write_text(settings)
    printed = cli("validate", "export.jsonl").out
    assert r"--split-contexts '\n---\n'" in printed
    assert "one chunk" not in printed
    assert "6 samples" in printed
    (home / "ragstone.toml").write_text(f'{settings}[validate]\nsplit-contexts = "||"\n')
    assert "--split-contexts '||'" in cli("validate", "export.jsonl").out
