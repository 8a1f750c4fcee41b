"""What commands print: next steps that work as printed, progress and tables."""

import io
import json
import sys

import pytest

from ragstone.cli.output import command_line, console, next_steps, not_told_yet, run_word, showing_progress
from ragstone.engine.progress import Progress


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


def test_a_long_command_does_not_move_the_words_of_short_ones(capsys):
    next_steps(("ragstone a", "first"), (f"ragstone {'b' * 80}", "second"), ("ragstone bc", "third"))
    lines = capsys.readouterr().out.splitlines()[2:]
    assert lines == ["  ragstone a    first", f"  ragstone {'b' * 80}   second", "  ragstone bc   third"]


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


def test_progress_in_a_file_is_a_line_a_stage_and_not_one_a_batch(monkeypatch, capsys):
    clock = iter(range(1000))
    monkeypatch.setattr("ragstone.report.progress.time.monotonic", lambda: next(clock) / 100)
    with showing_progress(quiet=False) as report:
        for done in range(0, 100_001, 10_000):
            report(Progress("reading", done))
        for done in range(0, 100_001, 10_000):
            report(Progress("evaluating", done, 100_000))
        report(Progress("finishing", 100_000, 100_000))
    assert capsys.readouterr().err.splitlines() == [
        "reading: 0 rows",
        "evaluating: 0 of 100,000 rows",
        "evaluating: 100,000 of 100,000 rows",
        "finishing: 100,000 of 100,000 rows",
    ]


def test_progress_in_a_file_says_something_every_few_seconds(monkeypatch, capsys):
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr("ragstone.report.progress.time.monotonic", lambda: next(clock))
    with showing_progress(quiet=False) as report:
        for done in range(10):
            report(Progress("evaluating", done, 100))
    assert 2 <= len(capsys.readouterr().err.splitlines()) <= 5


def test_quiet_progress_is_silent(capsys):
    with showing_progress(quiet=True) as report:
        report(Progress("reading", 1))
    assert capsys.readouterr() == ("", "")


def test_a_table_in_a_file_is_wide_enough(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", "40")
    assert console().width >= 110


def test_an_explanation_is_given_once_per_store(tmp_path):
    assert not_told_yet(["12 of 40 metrics come from A", "≈ means"], tmp_path) == [
        "12 of 40 metrics come from A",
        "≈ means",
    ]
    # Numbers do not make an explanation new.
    assert not_told_yet(["3 of 9 metrics come from A", "3 of 9 metrics come from B"], tmp_path) == [
        "3 of 9 metrics come from B"
    ]
    assert not_told_yet(["≈ means"], tmp_path / "other") == ["≈ means"]


def test_a_store_that_cannot_be_written_or_is_damaged(tmp_path):
    assert not_told_yet(["a"], "/proc/nowhere") == ["a"]
    (tmp_path / "explained.json").write_text("[1,")
    assert not_told_yet(["a"], tmp_path) == ["a"]


def test_a_run_is_named_by_its_name_unless_a_newer_one_has_it(tmp_path):
    import ragstone

    rows = [{"question": "q", "answer": "a", "references": ["a"]}]
    old, new = (ragstone.evaluate(rows, ["token_f1"], tmp_path, name="mine") for _ in range(2))
    assert (run_word(old, str(tmp_path)), run_word(new, str(tmp_path))) == (old.id, "mine")
    assert run_word(old, str(tmp_path / "elsewhere")) == old.path


def test_json_is_cut_to_fields_and_first_items(cli, home):
    assert cli("run", "answers.jsonl", "-m", "token_f1,recall,contains", "--name", "small", "-q").code == 0
    printed = cli("show", "small", "--json", "--fields", "name, summary.metric", "--top", "2")
    shown = json.loads(printed.out)
    assert (shown["name"], len(shown["summary"])) == ("small", 2)
    assert {*shown["summary"][0]} == {"metric"}
    assert printed.err == "note: --top 2 cuts summary (3)\n"
    # Lists in objects and in items of lists.
    printed = cli("explain", "small", "1", "--json", "--fields", "sample.contexts.text,scores.metric", "--top", "1")
    assert printed.err == "note: --top 1 cuts sample.contexts (2), scores (2)\n"
    # A list itself.
    assert json.loads(cli("runs", "--json", "--fields", "name").out) == [{"name": "small"}]


def test_a_misspelled_field_is_an_error_with_a_suggestion(cli, home):
    assert cli("run", "answers.jsonl", "-m", "token_f1", "-q").code == 0
    printed = cli("show", "latest", "--json", "--fields", "summary.maen")
    assert (printed.code, printed.out) == (2, "")
    assert "Did you mean summary.mean" in printed.err


@pytest.mark.parametrize("option", [("--fields", "name"), ("--top", "1")])
def test_parts_of_json_need_json_unless_the_settings_file_has_them(cli, home, option):
    printed = cli("runs", *option)
    assert (printed.code, printed.err) == (2, f"error: {option[0]} needs --json\n")
    (home / "ragstone.toml").write_text("top = 1\n")
    assert cli("runs").code == 0


def test_a_run_beside_another_store_is_named_by_its_path(cli, home):
    cli("run", "answers.jsonl", "-m", "token_f1", "--name", "elsewhere", "-o", "other")
    cli("run", "answers.jsonl", "-m", "token_f1", "--name", "here")
    [path] = (home / "other" / "runs").iterdir()
    printed = cli("diagnose", path)
    assert printed.code == 0
    assert "unknown run" not in printed.err
