"""ragstone compare as it is typed: tables that fit, JSON, Markdown, and clear words where it cannot."""

import io
import json
from importlib import resources
from pathlib import Path

import pytest
from rich.console import Console

from ragstone.analysis.comparison import compare_runs
from ragstone.cli import output as stored
from ragstone.engine.evaluate import evaluate
from ragstone.report.comparison import ComparisonReport
from ragstone.views.comparison import ComparisonView, headline
from tests.analysis.scored import copy_runs, declare, make_run, noise

HOSTILE = "a\x1b[31m|<script>alert(1)</script> @all [x](http://x) `c`"


def build_store(root):
    base = noise(1, 30)
    more = {"topic": ["boats", "fares"] * 15}
    for name, shift, size in (("old", 0.0, 128), ("new", 0.2, 256), ("newer", 0.22, 512)):
        make_run(
            root,
            name,
            ["quality", "delay"],
            quality=base + shift,
            delay=base,
            more=more,
            params={"chunk_size": size},
        )


@pytest.fixture
def store(catalogue, tmp_path, tmp_path_factory, monkeypatch):
    declare(catalogue)
    monkeypatch.chdir(tmp_path)
    copy_runs(build_store, tmp_path_factory, tmp_path)
    return tmp_path / "store"


def plain(found, width):
    console = Console(width=width, file=io.StringIO(), highlight=False, no_color=True)
    console.print(ComparisonReport(ComparisonView.of(found)))
    return console.file.getvalue()


def test_two_runs(cli, store):
    printed = cli("compare", "old", "new", "-o", store)
    assert printed.code == 0
    assert "new is better than old in 1 metric, worse in none; 1 shows no evidence." in printed.out
    assert "▲ better" in printed.out
    assert "identical" in printed.out
    assert "all pairs are equal" not in printed.out
    assert "gained most" in printed.out
    assert "\x1b" not in printed.out


def test_the_table_fits(catalogue, store):
    found = compare_runs(*(stored.find_run(name, str(store)) for name in ("old", "new")), slices=["topic"])
    for width in (60, 80, 100, 120, 200):
        text = plain(found, width)
        assert max(map(len, text.splitlines())) <= width
        assert "▲ better" in text
        assert ("●" in text) == (width >= 100)
    assert "by topic, B − A" in text
    assert "boats (15)" in text


def test_json(cli, store):
    found = json.loads(cli("compare", "old", "new", "-o", store, "--json", "--slice", "topic").out)
    assert found["pairs"] == 30
    assert [item["metric"] for item in found["metrics"]] == ["quality", "delay"]
    quality = found["metrics"][0]
    assert quality["verdict"] == "better"
    assert quality["low"] == pytest.approx(quality["difference"]) == 0.2
    assert quality["tally"] == {"higher": 30, "equal": 0, "lower": 0}
    assert [(part["label"], part["pairs"]) for part in found["slices"]] == [("boats", 15), ("fares", 15)]
    assert found["after"]["params"] == {"chunk_size": 256}


def test_markdown(cli, store):
    text = cli("compare", "old", "new", "-o", store, "--markdown", "--slice", "topic").out
    assert text.startswith("### new is better than old in 1 metric")
    assert "| quality |" in text
    assert "🟢 better" in text
    assert "**changed most**" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count(" | ") for line in rows if "quality" in line and "interval" not in line}) <= 3


def test_several_runs_are_a_leaderboard(cli, store):
    text = cli("compare", "old", "new", "newer", "-o", store, "-m", "quality").out
    lines = [line.split() for line in text.splitlines() if line.strip().startswith(("1 ", "2 ", "3 "))]
    assert [(line[0], line[2]) for line in lines] == [("1", "newer"), ("2", "new"), ("3", "old")]
    ordered = cli("compare", "newer", "old", "new", "-o", store, "-m", "quality", "--by", "chunk_size").out
    places = [ordered.rindex(f" {name} ") for name in ("old", "new", "newer")]
    assert places == sorted(places)
    found = json.loads(cli("compare", "old", "new", "newer", "-o", store, "--json").out)
    assert [place["name"] for place in found["metrics"][0]["places"]] == ["newer", "new", "old"]
    table = cli("compare", "old", "new", "newer", "-o", store, "--markdown").out
    assert table.startswith("|  | run | chunk\\_size | quality | delay |")


@pytest.fixture
def harbour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        for name in ("better", "worse"):
            evaluate(
                folder / f"{name}.jsonl",
                ["retrieval", "answerability_accuracy", "token_f1", "exact_match", "ari"],
                "ragstone-store",
                name=name,
            )


def shown_in(text):
    """The metrics in the rows of a table, in their order; what is indented deeper goes on with a name."""
    rows = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and "0." in line]
    return [name for name in rows if not name[0].isdigit() and name[0] not in "+-"]


def test_headlines_and_what_differs_come_first(cli, harbour):
    found = json.loads(cli("compare", "worse", "better", "--json").out)
    verdicts = {item["metric"]: item["verdict"] for item in found["metrics"]}
    assert verdicts["answerability_accuracy"] == verdicts["exact_match"] == "no evidence"
    assert verdicts["map"] == "better"
    short = cli("compare", "worse", "better", "--show", "0").out.partition("\nnext:")[0]
    names = shown_in(short)
    assert set(names) == {"recall", "mrr", "ndcg", "token_f1", "answerability_accuracy"} | set(found["headlines"])
    assert names[:3] == ["mrr", "ndcg", "recall"]
    assert f"{len(verdicts) - len(names)} explored metrics: " in short
    assert short.startswith(found["headline"])
    assert found["summary"] in " ".join(short.split())


def test_every_metric_with_full_and_in_files(cli, harbour):
    full = cli("compare", "worse", "better", "--show", "0", "--full").out
    assert {"precision", "exact_match", "ari"} <= set(shown_in(full))
    assert "explored metrics: " not in full
    named = cli("compare", "worse", "better", "--show", "0", "-m", "recall,mrr,ndcg,token_f1,precision").out
    assert "precision" in shown_in(named)
    table = cli("compare", "worse", "better", "--markdown").out
    assert "| ari |" in table
    assert "That counts" not in table


def test_what_failed_is_never_left_out(cli, harbour, catalogue, tmp_path):
    from ragstone.registry import metric

    @metric("broken", judges="answer", bounds=(0.0, 1.0))
    def broken(question: str) -> float:
        if "lost property" in question:
            raise RuntimeError("out of order")
        return 0.5

    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        for name in ("better", "worse"):
            chosen = ["recall", "mrr", "ndcg", "token_f1", "exact_match", "broken"]
            evaluate(folder / f"{name}.jsonl", chosen, "ragstone-store", name=f"{name}-broken")
    short = cli("compare", "worse-broken", "better-broken").out
    assert "broken: 24 of 25 pairs, 1 failed" in short
    assert "1 explored metric: " in short, "a metric of the user is not folded"


def test_many_metrics_are_one_table(cli, harbour):
    text = cli("compare", "better", "worse", "better").out
    assert "map ↑" in text
    row = next(line for line in text.splitlines() if line.startswith("map"))
    assert row.split()[2:] == ["0.859", "a", "0.489", "b", "0.859", "a"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["old"], "compare needs two runs or more"),
        (["old", "nwe"], "unknown run 'nwe'. Did you mean new"),
        (["old", "new", "-m", "qualiti"], "Did you mean quality?"),
        (["old", "new", "--slice", "topics"], "Did you mean topic?"),
        (["old", "new", "--correction", "bonferroni"], "Choose from: joint, holm, bh, none."),
        (["old", "new", "newer", "--slice", "topic"], "--slice needs exactly two runs"),
        (["old", "new", "newer", "--by", "chunksize"], "Did you mean chunk_size?"),
    ],
)
def test_what_cannot_be_done_is_said(cli, store, arguments, words):
    printed = cli("compare", *arguments, "-o", store)
    assert printed.code == 2
    assert words in printed.err
    assert printed.out == ""


def test_latest_is_the_newest(cli, store):
    folder = Path(stored.find_run("newer", str(store)).path)
    folder.rename(folder.with_name("29991231-235959-00000000"))
    assert "newer" in cli("compare", "old", "latest", "-o", store).out


def test_an_unfinished_run_is_named(cli, store):
    run = stored.find_run("newer", str(store))
    run.folder.plan.write_bytes(b"{}")
    run.folder.manifest.remove()
    for name in (run.path, run.id):
        printed = cli("compare", "old", name, "-o", store)
        assert printed.code == 1
        assert "is unfinished. Repeat its command with --resume" in printed.err


def test_hostile_names_and_questions_do_no_harm(catalogue, cli, tmp_path, monkeypatch):
    declare(catalogue)
    monkeypatch.chdir(tmp_path)
    for name, shift in (("x", 0.0), ("y", 0.3)):
        run = make_run(
            tmp_path,
            name,
            quality=noise(1, 12) + shift,
            questions=[f"{HOSTILE} {row}" for row in range(12)],
            more={"topic": [HOSTILE] * 12},
        )
        info = json.loads(run.folder.manifest.read_bytes())
        run.folder.manifest.write_bytes(json.dumps({**info, "name": HOSTILE + name}).encode())
    paths = sorted(str(path) for path in (tmp_path / "store" / "runs").iterdir())
    for extra in ([], ["--markdown"], ["--json"]):
        printed = cli("compare", *paths, *extra, "--slice", "topic")
        assert printed.code == 0
        assert "\x1b" not in printed.out
    text = cli("compare", *paths, "--markdown", "--slice", "topic").out
    assert "<script>" not in text
    assert "[x](" not in text
    assert "@all" not in text


def test_headlines(catalogue, tmp_path):
    declare(catalogue)

    def compared(before, after, **options):
        names = [name for name in ("quality", "delay") if name in before]
        runs = [make_run(tmp_path, name, names, **side) for name, side in (("a", before), ("b", after))]
        return headline(compare_runs(*runs, **options))

    base = noise(1, 20)
    assert compared({"quality": base}, {"quality": base}) == "b and a have the same scores in all 20 pairs."
    assert compared({"quality": base}, {"quality": noise(2, 20)}) == (
        "There is no evidence that b differs from a in 1 metric."
    )
    assert compared({"quality": base[:1]}, {"quality": base[:1] + 0.1}) == "1 pair is too few to tell b from a."
    assert compared({"quality": base, "delay": base}, {"quality": base + 0.1, "delay": base + 0.1}) == (
        "b is better than a in 1 metric and worse in 1."
    )
