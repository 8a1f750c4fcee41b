"""ragstone ragchecker: that tool's own flags, what becomes of them, and what is refused."""

import json
import re

import pytest

from ragstone import errors
from ragstone.cli.ragchecker import _models
from tests.report.test_exports import FULL, UNCHECKED


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "in.json").write_text(json.dumps({"results": [FULL]}))
    (tmp_path / "bare.json").write_text(json.dumps({"results": [UNCHECKED]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ragchecker(cli, home):
    def run(*arguments):
        return cli("ragchecker", *arguments)

    return run


@pytest.fixture
def asked(home, monkeypatch):
    """What the engine is asked for, in place of an evaluation."""
    found = {}

    def evaluate(data, metrics, out, **options):
        found.update(options, data=data, metrics=metrics)
        raise errors.UsageError("that is all")

    monkeypatch.setattr("ragstone.engine.evaluate.evaluate", evaluate)
    return found


def test_written_and_printed(ragchecker, home):
    done = ragchecker("--input_path=in.json", "--output_path=out.json")
    assert done.code == 0
    printed, written = json.loads(done.out), json.loads((home / "out.json").read_text())
    assert (
        printed["overall_metrics"] == written["metrics"]["overall"] == {"precision": 50.0, "recall": 50.0, "f1": 50.0}
    )
    assert written["results"][0]["metrics"]["hallucination"] == 0.5
    assert "note: RAGChecker's results in out.json, the run in " in done.err
    assert "next: ragstone diagnose " in done.err


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        ([], {"precision", "recall", "f1", "claim_recall", "context_precision"}),
        (["--metrics", "all_metrics"], {"precision", "recall", "f1", "claim_recall", "context_precision"}),
        (["--metrics", "overall_metrics"], {"precision", "recall", "f1"}),
        (["--metrics", "retriever_metrics", "precision"], {"precision", "claim_recall", "context_precision"}),
        (["--metrics=recall,f1"], {"recall", "f1"}),
        (["--metrics", "recall", "--metrics", "f1"], {"recall", "f1"}),
        (["--metrics", "generator_metrics"], set()),
    ],
)
def test_metrics(ragchecker, flags, chosen):
    done = ragchecker("--input-path", "in.json", "--output-path", "out.json", "-q", *flags)
    groups = json.loads(done.out)
    assert {*groups["overall_metrics"], *groups["retriever_metrics"]} == chosen
    assert bool(groups["generator_metrics"]) == (
        flags in ([], ["--metrics", "all_metrics"], ["--metrics", "generator_metrics"])
    )


def test_unknown_metric(ragchecker):
    done = ragchecker("--input_path=in.json", "--output_path=out.json", "--metrics", "overall_metric")
    assert done.code == 2
    assert done.err.startswith("error: unknown RAGChecker metric 'overall_metric'. Did you mean overall_metrics")


def test_flags_become_options(ragchecker, asked):
    ragchecker(
        "--input_path=in.json",
        "--output_path=out.json",
        "--extractor_name=gpt-4o",
        "--checker-name=bedrock/meta.llama3-1-70b-instruct-v1:0",
        "--checker_api_base=http://127.0.0.1:1/v1",
        "--batch_size_extractor=4",
        "--batch_size_checker=8",
    )
    assert asked["data"] == "in.json"
    assert asked["metrics"] == ["ragchecker"]
    assert asked["format"] == "ragchecker"
    assert asked["extractor"] == "openai/gpt-4o"
    assert asked["checker"] == "bedrock/meta.llama3-1-70b-instruct-v1:0"
    assert asked["base_url"] == "http://127.0.0.1:1/v1"
    assert asked["concurrency"] == 8
    assert asked["claims"] == "triplets"
    assert "claims_per_call" not in asked


@pytest.mark.parametrize(("flags", "number"), [(["--joint_check_num=7"], 7), (["--disable_joint_check"], 1)])
def test_how_many_claims_a_call(ragchecker, asked, flags, number):
    ragchecker("--input_path=in.json", "--output_path=out.json", *flags)
    assert asked["claims_per_call"] == number


def test_one_model_serves_both(ragchecker, asked):
    ragchecker("--input_path=in.json", "--output_path=out.json", "--checker_name=vllm/judge")
    assert asked["extractor"] == asked["checker"] == "vllm/judge"
    assert "base_url" not in asked


def test_no_model_is_asked_that_nobody_named(ragchecker, asked):
    ragchecker("--input_path=in.json", "--output_path=out.json")
    assert not {"judge", "extractor", "checker", "base_url", "claims"} & asked.keys()


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("gpt-4o", "openai/gpt-4o"),
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("mine.py:ask", "mine.py:ask"),
        ("bedrock/meta.llama3-1-70b-instruct-v1:0", "bedrock/meta.llama3-1-70b-instruct-v1:0"),
    ],
)
def test_names_of_models(name, ours):
    assert _models(name, None) == {"extractor": ours, "claims": "triplets"}


def test_a_key_on_the_command_line_is_refused(ragchecker, asked):
    done = ragchecker("--input_path=in.json", "--output_path=out.json", "--openai_api_key=sk-secret")
    assert done.code == 2
    assert "export OPENAI_API_KEY=" in done.err
    assert "sk-secret" not in done.err + done.out
    assert not asked


def test_two_addresses_are_refused(ragchecker, asked):
    done = ragchecker(
        "--input_path=in.json", "--output_path=out.json", "--extractor_api_base=http://a", "--checker_api_base=http://b"
    )
    assert done.code == 2
    assert done.err.startswith("error: --extractor_api_base http://a and --checker_api_base http://b differ: ")
    assert not asked


def test_a_flag_without_effect_is_named(ragchecker):
    flags = ["--input_path=in.json", "--output_path=out.json", "--extractor_max_new_tokens=99"]
    assert "note: --extractor_max_new_tokens has no effect here\n" in ragchecker(*flags).err
    assert not ragchecker(*flags, "--quiet").err


def test_a_file_without_verdicts_needs_models(ragchecker, home):
    done = ragchecker("--input_path=bare.json", "--output_path=out.json", "-q")
    assert done.code == 2
    assert done.err.startswith("error: no metric could be computed: needs ")
    assert done.err.endswith("name them with --extractor_name and --checker_name\n")
    assert not (home / "out.json").exists()


def test_the_file_of_a_run_in_a_bucket_is_in_the_bucket(cli, home, bucket):
    done = cli("run", "in.json", "--as", "ragchecker", "-o", bucket.url, "-q")
    assert done.code == 0, done.err
    (key,) = [key for key in bucket.list() if key.endswith("/ragchecker/checking_outputs.json")]
    written = json.loads(bucket.read(key))
    assert {f"{group}_metrics": means for group, means in written["metrics"].items()} == json.loads(done.out)


def test_our_json_takes_the_place_of_theirs(cli, home):
    done = cli("run", "in.json", "--as", "ragchecker", "--json", "-q")
    printed = json.loads(done.out)
    assert len(printed["summary"]) == 11
    assert list((home / "ragstone-store").glob("runs/*/ragchecker/checking_outputs.json"))


_DOWN = """
def ask(prompt):
    raise RuntimeError("the judge is down")
"""


@pytest.mark.parametrize("command", [["ragchecker", "--output_path=out.json"], ["run", "--as", "ragchecker"]])
@pytest.mark.parametrize(("scored", "code"), [(1, 4), (4, 4), (60, 0)])
def test_failed_cells_and_the_judge_are_named(cli, home, command, scored, code):
    (home / "down.py").write_text(_DOWN, encoding="utf-8")
    rows = [FULL | {"query_id": str(number)} for number in range(scored)]
    broken = [UNCHECKED | {"query_id": f"broken {number}"} for number in range(3)]
    (home / "mixed.json").write_text(json.dumps({"results": [*rows, *broken]}))
    data = ["--input_path=mixed.json"] if command[0] == "ragchecker" else ["mixed.json"]
    judge = ["--checker_name=down.py:ask"] if command[0] == "ragchecker" else ["--judge", "down.py:ask", "--no-cache"]
    done = cli(command[0], *data, *command[1:], *judge)
    assert done.code == code, done.err
    assert f"ragchecker.precision: 3 of {scored + 3} cells failed" in done.err
    assert re.search("judge .*down.py:ask", done.err)
