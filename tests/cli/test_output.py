"""Next steps: commands that work as printed."""

import pytest

from ragstone.cli.output import command_line, next_steps


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    monkeypatch.setattr("ragstone.cli.output.shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.delenv("RAGSTONE_ROOT", raising=False)


def test_words_with_spaces_are_quoted():
    assert command_line("run", "my answers.jsonl") == "ragstone run 'my answers.jsonl'"


def test_only_another_root_is_named(monkeypatch):
    assert command_line("view", out="ragstone-store") == "ragstone view"
    assert command_line("compare", "a", "b", out="my store") == "ragstone compare a b -o 'my store'"
    monkeypatch.setenv("RAGSTONE_ROOT", "s3://bucket")
    assert command_line("compare", "a", "b", out="s3://bucket") == "ragstone compare a b"


def test_options_and_metric_files():
    line = command_line("run", "a.jsonl", truth="harbour@2", format=None, map=["a=b", "c=d"], metrics_file=["my m.py"])
    assert line == "ragstone run a.jsonl --truth harbour@2 --map a=b --map c=d --metrics-file 'my m.py'"


def test_a_program_that_is_not_on_the_path(monkeypatch):
    monkeypatch.setattr("ragstone.cli.output.shutil.which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["/src/ragstone/__main__.py"])
    monkeypatch.setattr("sys.executable", "/my env/python")
    assert command_line("demo") == "'/my env/python' -m ragstone demo"


def test_one_step_is_one_line_and_several_are_a_list(capsys):
    next_steps(("ragstone a", "first"))
    next_steps(("ragstone a", "first"), ("ragstone bc", "second"))
    assert capsys.readouterr().out.splitlines() == [
        "",
        "next: ragstone a   (first)",
        "",
        "next:",
        "  ragstone a    first",
        "  ragstone bc   second",
    ]


def next_line(printed):
    assert printed.code == 0, printed.err
    return printed.out.partition("next:")[2]


def test_collect_names_the_ground_truth_and_its_root(cli, home, monkeypatch):
    (home / "rag.py").write_text("def answer(question):\n    return 'It is blue.'\n")
    cli("truth", "import", "answers.jsonl", "harbour", "-o", "my store")
    printed = cli(
        "truth", "collect", "harbour", "--system", "rag.py:answer", "-o", "new answers.jsonl", "--root", "my store"
    )
    assert "ragstone run 'new answers.jsonl' --truth harbour -o 'my store'" in next_line(printed)


def test_run_suggests_the_comparison_with_the_run_before(cli, home):
    first = cli("run", "answers.jsonl", "-m", "token_f1", "-o", "my store")
    assert "ragstone compare" not in next_line(first)
    assert "ragstone view 'my store'" in next_line(first)
    second = next_line(cli("run", "answers.jsonl", "-m", "token_f1", "-o", "my store"))
    assert "ragstone compare" in second
    assert "-o 'my store'" in second


def test_convert_suggests_a_run_of_the_new_file(cli, home):
    assert "ragstone run 'my data.csv'" in next_line(cli("convert", "answers.jsonl", "-o", "my data.csv"))


def test_validate_keeps_the_options_of_the_data(cli, home):
    printed = cli("validate", "answers.jsonl", "--format", "ragstone", "-n", 2)
    assert "ragstone run answers.jsonl --format ragstone --limit 2" in next_line(printed)


@pytest.mark.parametrize("option", ["-q", "--json"])
def test_programs_and_quiet_users_get_no_next_steps(cli, home, option):
    assert "next:" not in cli("run", "answers.jsonl", "-m", "token_f1", option).out
