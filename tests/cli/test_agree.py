"""ragstone agree as it is typed: tables that fit, JSON for programs, and clear words where it cannot."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

import ragstone
from ragstone.agreement.labels import join, read_human
from ragstone.agreement.metric_agreement import Settings, measure_agreement
from ragstone.cli import output as stored
from ragstone.report.agreement import agreement_report
from tests.agreement.planted_judge import PlantedJudge, answered
from tests.analysis.scored import declare, make_run

HOSTILE = "a\x1b[31m|<script>alert(1)</script>"


@pytest.fixture
def store(catalogue, tmp_path, monkeypatch):
    """Two systems; people's labels are in labels.csv, quality goes with them and size does not."""
    declare(catalogue)
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    lines = ["sample_id,system,label,annotator"]
    for name in ("one", "two"):
        quality = random.uniform(0, 1, 30)
        questions = [HOSTILE] * 30
        make_run(tmp_path, name, ["quality", "size"], questions=questions, quality=quality, size=random.normal(size=30))
        for who in ("ann", "bo"):
            said = quality + random.normal(0, 0.15, 30) > 0.5
            lines += [f"s{row},{name},{'good' if yes else 'bad'},{who}" for row, yes in enumerate(said)]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    return tmp_path / "store"


def test_the_answer_the_table_and_the_worst_disagreements(cli, store):
    printed = cli("agree", "one", "two", "--human", "labels.csv", "-o", store)
    assert printed.code == 0
    assert "60 labelled answers of 2 systems to 30 inputs, by 2 annotators" in printed.out
    assert "quality agrees with people most: Somers' D 0." in printed.out
    assert "of the other metrics 1 agrees less." in printed.out
    assert "▼ less, p" in printed.out
    assert "one person" in printed.out
    assert "ROC-AUC" in printed.out
    assert "Krippendorff's alpha (nominal)" in printed.out
    assert "largest disagreements between quality and people" in printed.out
    assert "quality, all coefficients" in printed.out
    assert "\x1b" not in printed.out


def test_the_tables_fit(catalogue, store):
    runs = [stored.find_run(name, str(store)) for name in ("one", "two")]
    found = measure_agreement(join(runs, read_human("labels.csv")), Settings(full=True), show=2)
    for width in (80, 110, 160):
        console = Console(width=width, file=io.StringIO(), highlight=False, no_color=True)
        console.print(agreement_report(found))
        text = console.file.getvalue()
        assert max(map(len, text.splitlines())) <= width
        assert ("●" in text) == (width > 80)


def test_json_tells_everything(cli, store):
    found = json.loads(cli("agree", "one", "two", "--human", "labels.csv", "-o", store, "--json").out)
    quality = found["metrics"][0]
    assert quality["metric"] == "quality"
    assert len(quality["correlations"]) == 24
    first = quality["correlations"][0]
    assert first["low"] < first["value"] < first["high"]
    assert found["people"]["alpha"]["scale"] == "nominal"
    assert quality["verdicts"]["threshold"] == 0.5
    assert found["disagreements"][0]["question"] == HOSTILE


def test_one_metric_another_coefficient_and_level(cli, store):
    printed = cli("agree", "one", "two", "--human", "labels.csv", "-o", store, "-m", "size", "--level", "sample")
    assert "No metric significantly agrees with people; size is" in printed.out
    printed = cli("agree", "one", "two", "--human", "labels.csv", "-o", store, "--coefficient", "kendall")
    assert "Kendall 0." in printed.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--coefficient", "tau"), "Choose from: spearman, pearson, kendall, somers."),
        (("--level", "row"), "unknown level 'row'."),
        (("-m", "qualty"), "Did you mean quality?"),
        (("--value", "ok"), "write it as WORD=NUMBER"),
        (("--map", "label=verdict"), "unknown column 'verdict'"),
    ],
)
def test_what_cannot_be_understood(cli, store, arguments, words):
    printed = cli("agree", "one", "two", "--human", "labels.csv", "-o", store, *arguments)
    assert printed.code == 2
    assert words in printed.err


def test_a_file_that_is_not_there(cli, store):
    printed = cli("agree", "one", "--human", "nowhere.csv", "-o", store)
    assert printed.code == 2
    assert "there is no file 'nowhere.csv'" in printed.err


def test_estimates_of_all_rows(cli, store):
    printed = cli("agree", "one", "--human", "labels.csv", "-o", store, "--ppi", "-m", "quality")
    assert printed.code == 0
    assert "People would rate one 0." in printed.out
    assert "on average (0." in printed.out
    assert "agree one -m quality --label-next 40 --todo todo.csv --human labels.csv" in printed.out
    printed = cli("agree", "one", "two", "--human", "labels.csv", "-o", store, "--ppi", "-m", "quality")
    assert "no evidence that people would find two better or worse than one" in printed.out
    found = json.loads(
        cli("agree", "one", "two", "--human", "labels.csv", "-o", store, "--ppi", "-m", "quality", "--json").out
    )
    assert found["means"][0]["labels"] == 30
    assert found["difference"]["estimate"]["low"] < 0 < found["difference"]["estimate"]["high"]


def test_few_labels_are_warned_about(cli, store):
    (store.parent / "few.csv").write_text("sample_id,label\n" + "".join(f"s{n},{n % 2}\n" for n in range(8)))
    printed = cli("agree", "one", "--human", "few.csv", "-o", store, "--ppi", "-m", "quality")
    assert "fewer than 30 labels (one)" in printed.out


def test_rows_to_label_next_and_back(cli, store):
    printed = cli("agree", "one", "-o", store, "--label-next", "10", "-m", "quality", "--todo", "todo.csv")
    assert "10 rows to label in todo.csv" in printed.out
    lines = (store.parent / "todo.csv").read_text().splitlines()
    assert lines[0] == "sample_id,system,label,annotator,round,chance,question,answer"
    done = [lines[0], *(line.replace(",one,,", ",one,1,", 1) for line in lines[1:])]
    (store.parent / "done.csv").write_text("\n".join(done))
    printed = cli("agree", "one", "--human", "done.csv", "-o", store, "--ppi", "-m", "quality")
    assert "10 of 30" in printed.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--human labels.csv"),
        (("--human", "labels.csv", "--ppi"), "--ppi needs exactly one metric"),
        (("--label-next", "5", "-m", "quality"), "name it with --todo todo.csv"),
    ],
)
def test_what_estimates_need(cli, store, arguments, words):
    printed = cli("agree", "one", "-o", store, *arguments)
    assert printed.code == 2
    assert words in printed.err


@pytest.mark.slow
def test_a_mixture_is_fitted_saved_and_used(cli, catalogue, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, labels = [], ["sample_id,label"]
    for number in range(40):
        said = "blue boat" if number % 2 else "red car"
        rows.append({"id": f"s{number}", "question": "q", "answer": f"a {said}", "references": [f"blue boat {number}"]})
        labels.append(f"s{number},{number % 2}")
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "labels.csv").write_text("\n".join(labels))
    words = ("-m", "token_f1,token_recall", "-o", "runs")
    assert cli("run", "rows.jsonl", *words, "--name", "one").code == 0
    printed = cli("agree", "one", "--human", "labels.csv", *words, "--mix", "ours.toml")
    assert printed.code == 0
    assert "No gain is shown: the interval of mixed.ours includes 0" in " ".join(printed.out.split())
    found = json.loads(
        cli(
            "agree", "one", "--human", "labels.csv", *words, "--mix", "ours.toml", "--json", "--html", "pages/page.html"
        ).out
    )
    page = (tmp_path / "pages" / "page.html").read_text()
    assert "mixed.<wbr>ours" in page
    assert "No gain is shown" in page
    assert found["mixture"]["metric"] == "mixed.ours"
    used = ("-m", "mixed.ours", "--metrics-file", "ours.toml", "-o", "runs", "--json")
    printed = cli("run", "rows.jsonl", *used)
    assert printed.code == 0
    assert "mixed.ours" in printed.out
    assert cli("agree", "one", "--human", "labels.csv", *words, "--mix", "Ours").code == 2


def test_labels_calibrate_the_judge(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.chdir(tmp_path)
    rows, labels = answered(60, 0.6)
    run = ragstone.evaluate(rows, ["answer_match"], "out", judge=PlantedJudge(), verdicts="tokens")
    lines = ["sample_id,label", *(f"{name},{int(right)}" for name, right in labels.items())]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    words = ("agree", run.id, "--human", "labels.csv", "-o", "out", "--calibrate")
    [found] = json.loads(cli(*words, "--json").out)["calibration"]
    assert (found["what"], found["calibrated"]) == ("answer_match", True)
    assert found["log_loss_after"] < found["log_loss_before"]
    assert "later runs calibrate its probabilities" in " ".join(cli(*words).out.split())


def test_there_must_be_a_judge_to_calibrate(cli, store):
    printed = cli("agree", "one", "two", "--human", "labels.csv", "-o", store, "--calibrate")
    assert (printed.code, "needs a metric from 0 to 1 of a judge" in printed.err) == (2, True)


def test_preferences_between_two_runs_and_in_a_file_of_scores(cli, store, tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "sample_id,preference,annotator,f1_a,f1_b\n"
        + "".join(f"s{at},{'ab'[at % 2]},ann,{at % 2},0.5\n" for at in range(9))
    )
    printed = cli("agree", "one", "two", "--human", "pairs.csv", "-o", store)
    assert printed.code == 0
    assert "9 pairs of answers to 9 inputs; A better 5, tie 0, B better 4" in printed.out
    assert "accuracy is of the 9 pairs that people decided; 0 ties left out" in printed.out
    found = json.loads(cli("agree", "one", "two", "--human", "pairs.csv", "-o", store, "-m", "size", "--json").out)
    assert found["votes"] == {"A_better": 5, "tie": 0, "B_better": 4}
    assert found["metrics"][0]["verdicts"]["accuracy"]["n"] == 9
    table = (
        (tmp_path / "pairs.csv").read_text().replace("preference", "system_a,system_b,label").replace(",a,", ",x,y,a,")
    )
    (tmp_path / "scored.csv").write_text(table.replace(",b,", ",x,y,b,"))
    printed = cli("agree", "--human", "scored.csv", "--html", "page.html")
    assert "f1 ↑" in printed.out
    assert "-1.000" in printed.out
    assert "Agreement with people: preferences" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("one", "--human", "pairs.csv"), "a preference compares two systems"),
        (
            ("one", "two", "--human", "pairs.csv", "--ppi", "-m", "size"),
            "need labels of single answers, not preferences",
        ),
        (("--human", "labels.csv"), "name the run with the answers"),
        (("one", "two", "--human", "pairs.csv", "--map", "preference=winner"), "no label that can be used"),
    ],
)
def test_preferences_that_cannot_be_used(cli, store, tmp_path, arguments, words):
    (tmp_path / "pairs.csv").write_text("sample_id,preference\ns1,a\ns2,b\n")
    printed = cli("agree", *arguments, "-o", store)
    assert printed.code == 2
    assert words in printed.err
