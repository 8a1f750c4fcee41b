"""Every command, as a user types it."""

import io
import json
import os
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.formats import formats
from tests.e2e.conftest import COMMAND, ROWS

ESCAPE = "\x1b"


def runs(root="ragstone-store"):
    return sorted(Path(root, "runs").iterdir()) if Path(root).exists() else []


# demo


def test_demo(shell):
    done = shell("demo")
    assert done.returncode == 0, done.stderr
    for word in ("fact_recall", "token_f1", "rows are wrong", "stored in ragstone-store/runs/", "next:"):
        assert word in done.stdout
    assert ESCAPE not in done.stdout + done.stderr
    assert done.stderr.splitlines()[0] == "reading: 25 rows"
    [run] = runs()
    assert json.loads((run / "run.json").read_text())["name"] == "harbour-better"


def test_demo_suggests_commands_that_can_be_typed(shell, environment, home):
    done = shell("demo", "worse", env={"PATH": "/usr/bin:/bin"})
    [suggested] = [line.split("   ")[0].strip() for line in done.stdout.splitlines() if "metrics fact_recall" in line]
    typed = subprocess.run(suggested, shell=True, cwd=home, env=environment, capture_output=True, text=True)
    assert typed.returncode == 0, f"{suggested}: {typed.stderr}"


def test_demo_of_another_system(cli, home):
    printed = cli("demo", "wors", "-o", "out")
    assert printed.code == 2
    assert "Did you mean worse?" in printed.err
    assert not Path("out").exists()


def test_the_better_system_is_better(cli, home):
    means = {}
    for system in ("better", "worse"):
        summary = json.loads(cli("demo", system, "--json").out)["summary"]
        means[system] = {row["metric"]: row["mean"] for row in summary}
    assert means["better"]["fact_recall"] > means["worse"]["fact_recall"]
    assert means["better"]["token_recall"] > means["worse"]["token_recall"]


# run


def test_run(cli, home):
    printed = cli("run", "answers.jsonl", "-o", "out")
    assert printed.code == 0, printed.err
    assert "stored in out/runs/" in printed.out
    [run] = runs("out")
    assert pq.read_table(run / "samples.parquet").num_rows == 2


@pytest.mark.parametrize(
    ("options", "metrics"),
    [
        (["-m", "token_f1"], ["token_f1"]),
        (["-m", "fact_recall@1, token_f1"], ["fact_recall@1", "token_f1"]),
        (["-m", "token_f1", "-m", "token_recall"], ["token_f1", "token_recall"]),
        (["--metrics", "k_precision(aggregate=max)"], ["k_precision(aggregate=max)"]),
        (["-m", "EM"], ["exact_match"]),
        (["-m", "dial"], ["fact_f1", "fact_mrr_mean", "fact_precision", "fact_recall"]),
        (["-m", "token_f1,token_f1"], ["token_f1"]),
    ],
)
def test_metric_strings(cli, home, options, metrics):
    printed = cli("run", "answers.jsonl", *options, "--json")
    assert printed.code == 0, printed.err
    assert [row["metric"] for row in json.loads(printed.out)["summary"]] == metrics


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("recal", "Did you mean recall"),
        ("nonsense_metric_name", "`ragstone metrics` lists all of them"),
        ("token_f1@5", "token_f1"),
        ("recall@", "recall@"),
        ("recall@-1", "whole number"),
        ("recall(k=five)", "k must be int"),
        ("recall(5)", "name=value"),
        ("recall((", "cannot read"),
        ("@5", "must start with a name"),
        ("k_precision(aggregate='[red]')", "[red]"),
    ],
)
def test_a_metric_that_there_is_not(cli, home, metric, words):
    printed = cli("run", "answers.jsonl", "-m", metric, "-o", "out")
    assert printed.code == 2
    assert words in printed.err
    assert printed.err.startswith("error: ")
    assert printed.out == ""
    assert not Path("out").exists()


def test_run_of_a_ragchecker_file(cli, home):
    if "ragchecker" not in formats():
        pytest.skip("no reader for RAGChecker yet")
    row = {
        "query_id": "1",
        "query": "When?",
        "gt_answer": "21:40",
        "response": "At 21:40.",
        "retrieved_context": [{"doc_id": "d1", "text": "It leaves at 21:40."}],
    }
    Path("checking.json").write_text(json.dumps({"results": [row]}))
    printed = cli("run", "checking.json", "-m", "token_recall", "--json")
    assert printed.code == 0, printed.err
    assert json.loads(printed.out)["summary"][0]["mean"] == 1.0


def test_json_is_all_there_is_on_standard_output(shell):
    done = shell("run", "answers.jsonl", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert Path(told["run"], "run.json").exists()
    assert told["id"] == Path(told["run"]).name
    assert {"metric", "mean", "ci_low", "ci_high", "n_ok", "n_skipped", "n_failed", "reason"} <= set(told["summary"][0])


def test_quiet_is_quiet(cli, home):
    Path("odd.jsonl").write_text('{"question": "q", "answer": "a", "references": ["a"], "contextz": ["a"]}\n')
    assert "note: " in cli("run", "odd.jsonl").err
    for options in (["--quiet"], ["-q", "--json"]):
        printed = cli("run", "odd.jsonl", *options)
        assert printed.code == 0
        assert printed.err == ""


def test_standard_input(shell):
    done = shell("run", "-", "-m", "token_f1", "--json", input=json.dumps(ROWS[0]))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"][0]["n_ok"] == 1


def test_standard_input_with_nothing_in_it(cli, home, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    printed = cli("run", "-")
    assert printed.code == 2
    assert "standard input" in printed.err
    assert runs() == []


def test_limit_name_and_map(cli, home):
    Path("odd.jsonl").write_text('{"question": "q", "reply": "yes", "references": ["yes"]}\n' * 3)
    printed = cli("run", "odd.jsonl", "--map", "answer=reply", "-n", 2, "--name", "mine", "-m", "token_f1", "--json")
    assert printed.code == 0, printed.err
    run = ragstone.open_run(json.loads(printed.out)["run"])
    assert (run.name, len(run.samples), run.summary()["token_f1"].mean) == ("mine", 2, 1.0)


@pytest.mark.parametrize("options", [["-n", "0"], ["-n", "x"], ["-j", "0"], ["--map", "answer"], ["--nonsense"]])
def test_options_that_cannot_be_understood(cli, home, options):
    printed = cli("run", "answers.jsonl", "-o", "out", *options)
    assert printed.code == 2
    assert "Traceback" not in printed.err
    assert not Path("out").exists()


def test_the_root_may_be_set_for_good(cli, home, monkeypatch):
    monkeypatch.setenv("RAGSTONE_ROOT", "elsewhere")
    assert cli("run", "answers.jsonl", "-q").code == 0
    assert len(runs("elsewhere")) == 1


def test_nothing_scored_is_4(cli, home):
    Path("bare.jsonl").write_text('{"question": "q"}\n')
    printed = cli("run", "bare.jsonl", "-m", "token_f1")
    assert printed.code == 4
    assert "needs answer, which no row has" in printed.err
    assert len(runs()) == 1


@pytest.mark.parametrize("root", ["answers.jsonl/below", "/proc/nowhere", "/dev/null/x"])
def test_a_root_where_nothing_can_be_written_is_1(cli, home, root):
    printed = cli("run", "answers.jsonl", "-o", root)
    assert printed.code == 1
    assert printed.err.splitlines()[-1].startswith("error: cannot write")
    assert "Traceback" not in printed.err


def test_a_folder_with_a_name_that_looks_like_markup(cli, home):
    printed = cli("run", "answers.jsonl", "-o", "[red]out[/]:smile:")
    assert printed.code == 0, printed.err
    assert "stored in [red]out[/]:smile:/runs/" in printed.out


@pytest.mark.slow
def test_a_run_on_s3(cli, home, bucket):
    printed = cli("run", "answers.jsonl", "-o", f"{bucket.url}/runs-of-mine", "--json")
    assert printed.code == 0, printed.err
    assert any(key.endswith("/run.json") for key in bucket.list())
    missing = cli("run", "answers.jsonl", "-o", "s3://no-such-bucket-here/x")
    assert missing.code == 1
    assert missing.err.splitlines()[-1].endswith(
        "there is no such bucket. Create it first, or check its name and AWS_ENDPOINT_URL."
    )


# metrics of one's own

MINE = '''
from ragstone.registry import metric, evidence

@evidence
def shout(answer: str) -> str:
    return answer.upper()

@metric("loudness", family="mine", judges="answer", aliases=("volume",))
def loudness(shout: str, weight: float = 1.0) -> float:
    """How loud the answer is."""
    return weight if shout else 0.0
'''


def test_a_metrics_file(cli, home):
    Path("mine.py").write_text(MINE)
    printed = cli("run", "answers.jsonl", "--metrics-file", "mine.py", "-m", "volume(weight=0.5)", "--json")
    assert printed.code == 0, printed.err
    [row] = json.loads(printed.out)["summary"]
    assert (row["metric"], row["mean"]) == ("loudness(weight=0.5)", 0.5)
    assert ragstone.open_run(json.loads(printed.out)["run"]).evidence("shout")["value"].to_pylist() == [
        "AT 21:40.",
        "NO.",
    ]


def test_a_metrics_file_in_the_catalogue(shell):
    """In a process of its own: here everything is imported already, there the file comes first."""
    Path("mine.py").write_text(MINE)
    done = shell("metrics", "loudness", "--metrics-file", "mine.py")
    assert done.returncode == 0, done.stderr
    assert "How loud the answer is." in done.stdout


@pytest.mark.parametrize("command", [["metrics"], ["metrics", "mine"]])
def test_a_metrics_file_among_the_others(cli, home, command):
    Path("mine.py").write_text(MINE)
    printed = cli(*command, "--metrics-file", "mine.py")
    assert printed.code == 0, printed.err
    assert "How loud the answer is." in printed.out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "does not exist"),
        ("def broken(:\n", "line 1: SyntaxError"),
        ("x = 1\n\n1 / 0\n", "line 3: ZeroDivisionError"),
        ("import nowhere_to_be_found\n", "ModuleNotFoundError"),
        (MINE.replace('"loudness"', '"Loud-ness"'), "'Loud-ness' is not a good name"),
        (MINE.replace('"loudness"', '"token_f1"'), "'token_f1' is already defined"),
        (MINE.replace("shout: str, weight", "shuot: str, weight"), "Did you mean shout"),
        (MINE.replace("-> str:\n    return answer", ":\n    return answer"), "must say what it returns"),
    ],
)
def test_a_metrics_file_that_is_wrong(cli, home, content, words):
    if content:
        Path("mine.py").write_text(content)
    printed = cli("run", "answers.jsonl", "--metrics-file", "mine.py", "-m", "loudness,token_f1", "-o", "out")
    assert printed.code == 2
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert not Path("out").exists()


# metrics


def test_the_catalogue(cli):
    printed = cli("metrics")
    assert printed.code == 0
    assert "recall[@k]" in printed.out
    assert "sets for -m: " in printed.out
    assert ESCAPE not in printed.out


@pytest.mark.parametrize("name", ["recall", "fact_recall", "dial.recall", "lexical.token_f1", "unitxt.faithfulness"])
def test_one_metric(cli, name):
    printed = cli("metrics", name)
    assert printed.code == 0
    for label in ("write", "range", "needs", "source"):
        assert label in printed.out


def test_a_set_of_metrics(cli):
    printed = cli("metrics", "dial", "--json")
    assert {card["name"] for card in json.loads(printed.out)} >= {"fact_recall", "fact_precision"}


def test_an_unknown_metric(cli):
    printed = cli("metrics", "fact_recal")
    assert printed.code == 2
    assert "unknown metric 'fact_recal'. Did you mean fact_recall" in printed.err


@pytest.mark.parametrize("family", ["[red]fam[/]", "plain"])
def test_markup_in_a_family_is_shown_as_it_is(cli, home, family):
    Path("mine.py").write_text(MINE.replace('family="mine"', f"family={family!r}"))
    for command in (["metrics", "loudness"], ["metrics"]):
        printed = cli(*command, "--metrics-file", "mine.py")
        assert printed.code == 0, printed.err
        assert family in printed.out


# validate, convert


def test_validate(cli, home):
    printed = cli("validate", "answers.jsonl", "--full")
    assert printed.code == 0
    assert printed.out.startswith("2 samples in the format ragstone, without errors, fingerprint ")
    assert "token_f1" in printed.out
    assert "needs relevance or reference_contexts, which no row has" in printed.out
    assert runs() == []
    told = json.loads(cli("validate", "answers.jsonl", "--json").out)
    assert told["profile"]["rows"] == 2
    # All names are there, on lines that can be read.
    listed = printed.out.split(f"can be computed: {len(told['possible'])} metrics\n")[1]
    lines = listed.split("\ncannot: ")[0].splitlines()
    assert " ".join(line.strip() for line in lines).split(", ") == list(told["possible"])
    assert len(lines) > 1
    assert max(map(len, lines)) <= 110


def test_validate_tells_all_problems_at_once(cli, home):
    bad = ['{"question": "q"', '{"question": "q", "contexts": 5}', '{"question": "r", "relevance": {"a": "x"}}', "{}"]
    Path("bad.jsonl").write_text(json.dumps(ROWS[0]) + "\n" + "\n".join(bad) + "\n")
    printed = cli("validate", "bad.jsonl")
    assert printed.code == 2
    assert "bad.jsonl: 3 problems" in printed.err
    for place in ("line 2", "line 3: contexts", "line 4: relevance"):
        assert place in printed.err


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_convert_there_and_back(cli, home, ending):
    printed = cli("convert", "answers.jsonl", "-o", f"out/converted.{ending}")
    assert printed.code == 0, printed.err
    assert printed.out.startswith("2 samples: ragstone → ragstone")
    before, after = (
        json.loads(cli("validate", name, "--json").out)["profile"]["fingerprint"]
        for name in ("answers.jsonl", f"out/converted.{ending}")
    )
    assert before == after


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["answers.jsonl", "-o", "out.xlsx"], ".jsonl, .parquet or .csv"),
        (["answers.jsonl", "-o", "out.jsonl", "--to", "ragston"], "Did you mean ragstone"),
        (["answers.jsonl", "-o", "out.jsonl", "--to", "trec"], "trec can be read but not written"),
        (["nowhere.jsonl", "-o", "out.jsonl"], "there is no file 'nowhere.jsonl'"),
        (["answers.jsonl"], "-o"),
    ],
)
def test_convert_that_cannot_be(cli, home, arguments, words):
    printed = cli("convert", *arguments)
    assert printed.code == 2
    assert words in printed.err
    assert sorted(os.listdir()) == ["answers.jsonl"]


def test_convert_onto_itself(cli, home):
    before = Path("answers.jsonl").read_text()
    assert cli("convert", "answers.jsonl", "-o", "answers.jsonl").code == 0
    assert [json.loads(line)["id"] for line in Path("answers.jsonl").read_text().splitlines()] == ["a", "b"]
    assert len(Path("answers.jsonl").read_text()) >= len(before) / 2


# doctor, help, version


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_doctor_shows_no_secret(cli, monkeypatch, options):
    secrets = {
        "OPENAI_API_KEY": "sk-very-secret-1",
        "DIAL_API_KEY": "very-secret-2",
        "AWS_ACCESS_KEY_ID": "AKIAVERYSECRET3",
        "AWS_SECRET_ACCESS_KEY": "very-secret-4",
        "AWS_SESSION_TOKEN": "very-secret-5",
        "AWS_ENDPOINT_URL": "https://user:very-secret-6@example.org",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    printed = cli("doctor", *options)
    assert printed.code == 0
    assert "secret" not in (printed.out + printed.err).lower().replace("aws_secret_access_key", "")
    if options:
        assert json.loads(printed.out)["keys"]["OPENAI_API_KEY"] is True
    else:
        assert "OPENAI_API_KEY" in printed.out


def test_doctor_of_a_healthy_install(cli):
    printed = cli("doctor")
    assert printed.code == 0
    assert "all is well" in printed.out


def test_doctor_of_a_sick_install(cli, monkeypatch):
    monkeypatch.setattr("ragstone.cli.doctor.CORE", ("numpy", "nowhere-to-be-found"))
    printed = cli("doctor")
    assert printed.code == 1
    assert "missing: pip install nowhere-to-be-found" in printed.out


def test_version(cli):
    assert cli("--version") == (0, f"ragstone {ragstone.__version__}\n", "")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(cli, option):
    printed = cli(option)
    assert printed.code == 0
    for command in ("demo", "run", "metrics", "convert", "validate", "doctor"):
        assert command in printed.out
        assert cli(command, option).code == 0


def test_no_arguments_show_the_help(cli):
    printed = cli()
    assert printed.code in (0, 2)
    assert "Usage: " in printed.out + printed.err


def test_an_unknown_command(cli):
    printed = cli("rum")
    assert printed.code == 2
    assert "rum" in printed.err


# where the output goes


def test_head_ends_it_without_a_word(environment, home):
    command = " ".join(f"'{part}'" for part in [*COMMAND, "metrics"])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], env=environment, capture_output=True, text=True
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


@pytest.mark.slow
def test_a_reader_that_is_gone_already(environment, home):
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, "run", "answers.jsonl", "-q"]
    done = subprocess.run(command, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.stderr == ""
    assert len(runs()) == 1


def test_a_full_disk_behind_standard_output(environment, home):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "metrics"], env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode not in (0, 2)
    assert "No space left" in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_cannot_show_every_letter(cli, home, monkeypatch, encoding):
    screen = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(screen, encoding))
    assert cli("run", "answers.jsonl").code == 0
    assert b"token_f1" in screen.getvalue()
    assert b"stored in" in screen.getvalue()
