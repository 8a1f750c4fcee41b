"""Evaluate a file of answers."""

import json

import pytest

from ragstone.cli.run import resume_command
from ragstone.storage.runs import open_run


def stored(printed):
    assert printed.code == 0, printed.err
    return open_run(json.loads(printed.out)["run"])


def test_parameters_that_are_numbers_are_stored_as_numbers(cli, home):
    options = ("--param", "chunk_size=256", "--param", "share=0.5", "--param", "splitter=by page", "--param", "x=inf")
    run = stored(cli("run", "answers.jsonl", "-m", "token_f1", "--json", *options))
    assert run.info["params"] == {"chunk_size": 256, "share": 0.5, "splitter": "by page", "x": "inf"}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--param", "chunk_size"), "NAME=VALUE"),
        (("--as", "ragcheker"), "ragchecker"),
        (("--backend", "rey"), "ray"),
        (("--budget", "five"), "'five' is not a budget"),
    ],
)
def test_options_that_are_wrong(cli, home, options, word):
    printed = cli("run", "answers.jsonl", "-m", "token_f1", *options)
    assert (printed.code, word in printed.err) == (2, True)


def test_a_quote_stores_nothing(cli, home):
    assert cli("run", "answers.jsonl", "-m", "token_f1", "--quote").code == 0
    assert not (home / "ragstone-store").exists()


def test_the_step_after_a_quote_is_the_command_of_the_user(cli, home, monkeypatch):
    words = ["run", "answers.jsonl", "--judge", "openai/gpt-4o-mini", "--quote"]
    monkeypatch.setattr("sys.argv", ["/bin/ragstone", *words])
    printed = cli(*words)
    assert "run answers.jsonl --judge openai/gpt-4o-mini --budget AMOUNT" in printed.out
    assert "metrics are not computed: --full lists them" in printed.out
    assert "which no row has" not in printed.out
    assert "which no row has" in cli(*words, "--full").out
    monkeypatch.setattr("sys.argv", ["/bin/ragstone", *words, "--budget", "2usd"])
    assert "--budget 2usd " in (out := cli(*words, "--budget", "2usd").out)
    assert "AMOUNT" not in out


def test_a_run_without_scores_says_why_in_one_sentence(cli, home):
    (home / "plain.jsonl").write_text('{"question": "q", "answer": "a"}\n' * 3)
    for _ in range(2):
        printed = cli("run", "plain.jsonl", "-m", "recall", "-q")
        assert (printed.code, printed.out) == (4, "")
        assert printed.err.startswith("nothing was scored: recall needs relevance or reference_contexts")
        assert printed.err.endswith("; exit code 4\n")
    assert "recall, mrr: needs" in cli("run", "plain.jsonl", "-m", "recall", "-m", "mrr").err


def test_the_viewer_is_named_once_in_the_next_steps(cli, home):
    rows = [{"question": f"What is {at}?", "answer": f"{at} is odd.", "contexts": ["Two is even."]} for at in range(12)]
    (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed = cli("run", "rows.jsonl", "-m", "k_precision")
    assert printed.code == 0, printed.err
    assert "label some answers" in printed.out
    assert "look at the rows in a browser" not in printed.out


def test_a_run_with_a_judge_ends_with_its_calls(cli, home):
    (home / "judge.py").write_text("def ask(prompts):\n    return ['{\"matches\": [1]}' for _ in prompts]\n")
    printed = cli("run", "answers.jsonl", "-m", "answer_match", "--judge", "judge.py:ask", "--no-cache")
    assert "2 model calls, no cost\n\nstored in" in printed.out
    found = json.loads(cli("run", "answers.jsonl", "-m", "answer_match", "--judge", "judge.py:ask", "--json").out)
    assert found["totals"]["calls"]
    assert found["judge_failure"] is None


def test_a_judge_that_failed_everywhere_comes_first(cli, home):
    (home / "judge.py").write_text("def ask(messages):\n    raise RuntimeError('not loaded')\n")
    printed = cli("run", "answers.jsonl", "-m", "answer_match", "--judge", "judge.py:ask", "--no-cache")
    assert printed.out.lstrip().startswith("The judge failed (")
    assert "not loaded" in printed.out.lstrip().splitlines()[0] + printed.out.lstrip().splitlines()[1]


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["/bin/ragstone", "run", "my answers.jsonl", "--resume"], "ragstone run 'my answers.jsonl' --resume"),
        (["ragstone", "run", "a", "--webhook", "https://h/secret", "-m", "all"], "ragstone run a -m all --resume"),
        (["ragstone", "run", "https://me:secret@h/a", "--webhook=x"], "ragstone run https://h/a --resume"),
        (["pytest", "run", "a"], ""),
    ],
)
def test_the_command_that_resumes_a_run_has_no_secrets(arguments, command):
    assert resume_command(arguments) == command


def write_rows(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_only_a_run_of_the_same_questions_is_offered_for_comparison(cli, home):
    boats = [{"question": f"When does boat {n} leave?", "answer": "At nine.", "references": ["nine"]} for n in range(4)]
    trees = [{"question": f"How old is tree {n}?", "answer": "Ten years.", "references": ["ten"]} for n in range(4)]
    first, second = write_rows(home / "boats.jsonl", *boats), write_rows(home / "trees.jsonl", *trees)
    options = ("-m", "token_f1", "-o", "store")
    assert "compare" not in cli("run", first, *options, "--name", "boats").out
    assert "ragstone compare" not in cli("run", second, *options, "--name", "trees").out
    run = stored(cli("run", first, *options, "--name", "again", "--json"))
    assert run.name == "again"
    printed = cli("run", second, *options, "--name", "trees again").out
    assert "ragstone compare" in printed
    offered = printed.partition("ragstone compare ")[2].split()[0]
    assert offered == "trees"


def test_the_end_says_what_one_more_column_would_add(cli, home):
    rows = [{"question": "When?", "answer": "At nine.", "contexts": ["It leaves at nine."]}]
    printed = cli("run", write_rows(home / "bare.jsonl", *rows), "-m", "k_precision", "-o", "store").out
    assert "more: a column references (right answers) would add" in printed
    whole = [{**rows[0], "references": ["nine"]}]
    printed = cli("run", write_rows(home / "whole.jsonl", *whole), "-m", "k_precision", "-o", "store").out
    assert "more: a column" not in printed


ASKED = {
    "When is the museum closed?": ("On Mondays.", "It is closed on Mondays.", "The museum is closed on Mondays."),
    "How many steps are there?": ("There are 178 steps.", "187 steps", "The tower has 187 steps."),
    "May dogs climb the tower?": ("Yes, dogs are welcome.", "No.", "Dogs are not allowed in the tower."),
    "When was the light electrified?": ("I do not know.", "In 1931.", "The crossing takes 25 minutes."),
}


def museum(path):
    """Twelve rows with six faults."""
    rows = [
        {"question": f"{question} ({part})", "answer": answer, "references": [right], "contexts": [chunk]}
        for part in ("north", "south", "west")
        for question, (answer, right, chunk) in ASKED.items()
    ]
    return write_rows(path, *rows)


def test_a_run_prints_25_lines_and_explains_once_per_store(cli, home, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    first, second = (cli("run", museum(home / "museum.jsonl"), "-o", "store") for _ in range(2))
    assert "estimated human score" in first.err
    assert "estimated human score" not in second.err + second.out
    for printed in (first, second, cli("show", "museum", "-o", "store")):
        lines = printed.out.splitlines()
        assert len(lines) <= 25, printed.out
        assert "of 12 rows seem wrong" in lines[0]
        assert sum(" wrong (" in line for line in lines) == 3
    assert "ragstone compare museum museum-2 -o store" in second.out
    assert "not computed" in cli("show", "museum", "-o", "store", "--full").out


def test_other_column_names_get_the_whole_command(cli, home, monkeypatch):
    rows = [{"x": f"When does boat {n} leave?", "y": f"Boat {n} leaves at nine."} for n in range(3)]
    path = write_rows(home / "x.jsonl", *rows)
    printed = cli("run", path, "-q")
    assert printed.code == 2
    assert "A guess by names and content, to be checked: --map question=x --map answer=y" in printed.err


FLAKY = """
from ragstone.errors import Skip
from ragstone.registry import metric

@metric("flaky")
def flaky(question: str, answer: str) -> float:
    word = answer.split()[0]
    if word == "skip":
        raise Skip("nothing to score")
    if word == "bad":
        raise ValueError("the service is down")
    return 1.0
"""


@pytest.fixture
def flaky(home):
    """A function that writes a file of answers of which these numbers are good, bad and skipped."""
    (home / "flaky.py").write_text(FLAKY)

    def write(good, bad, skipped=0):
        words = ["good"] * good + ["bad"] * bad + ["skip"] * skipped
        rows = [{"id": str(at), "question": "q", "answer": f"{word} {at}"} for at, word in enumerate(words)]
        (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return ("run", "rows.jsonl", "-m", "flaky", "--metrics-file", "flaky.py")

    return write


@pytest.mark.parametrize(
    ("counts", "options", "code"),
    [
        ((20, 80), (), 4),
        ((19, 1), (), 0),
        ((18, 2), (), 4),
        ((18, 2), ("--max-failed", "0.1"), 0),
        ((20, 80), ("--max-failed", "1"), 0),
        ((99, 1), ("--max-failed", "0"), 4),
        ((2, 0, 98), (), 0),
        ((19, 1, 500), (), 0),
        ((1, 1, 500), (), 4),
        ((0, 5), ("--max-failed", "1"), 4),
    ],
)
def test_a_share_of_failed_cells_decides(cli, flaky, counts, options, code):
    """Skipped cells are not failed cells; a run without a score is never a success."""
    printed = cli(*flaky(*counts), *options)
    assert printed.code == code, printed.err
    good, bad = counts[:2]
    if good and code:
        first = next(line for line in printed.out.splitlines() if line.strip())
        assert first.startswith(f"{bad} of {good + bad} scores failed")
        assert "the service is down" in printed.out
        assert "--max-failed allows" in printed.err
    found = json.loads(cli(*flaky(*counts), "--json", *options).out)
    assert found["failed_share"] == pytest.approx(bad / (good + bad))
    assert bool(found["judge_failure"]) == (bad / (good + bad) > float(options[1] if options else 0.05))


def test_a_share_that_is_none(cli, flaky):
    assert cli(*flaky(1, 0), "--max-failed", "1.5").code == 2
    assert cli(*flaky(1, 0), "--max-failed", "many").code == 2


def test_a_gate_does_not_pass_silently_on_such_a_run(cli, flaky):
    command = flaky(20, 80)
    assert cli(*command).code == 4
    printed = cli("gate", "latest", "--min", "flaky=0.5", "--metrics-file", "flaky.py")
    assert printed.code == 4
    allowed = cli("gate", "latest", "--min", "flaky=0.5", "--metrics-file", "flaky.py", "--max-failed", "0.9")
    assert allowed.code == 0
    other = list(command)
    other[3] = "flaky,flesch_reading_ease"
    assert cli(*other).code == 4
    printed = cli("gate", "latest", "--min", "flesch_reading_ease=-1000")
    assert "of the cells of the run failed" in printed.out


def test_python_says_it_and_does_not_raise(flaky, home):
    import ragstone
    from ragstone.cli.options import load_metrics_files

    load_metrics_files(["flaky.py"])
    flaky(20, 80)
    notes = []
    run = ragstone.evaluate(str(home / "rows.jsonl"), ["flaky"], note=notes.append)
    assert run.failed_share == 0.8
    assert "80 of 100 scores failed (80 %" in repr(run)
    assert any("80% of the cells failed" in note for note in notes)
