"""ragstone report on the command line."""

import json

import pytest

from tests.report.runs import harbour
from tests.watch.made_watch import ferry  # noqa: F401  (a fixture)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("store")
    for system in ("worse", "better"):
        harbour(system, root, ["fact_recall", "token_f1"])
    return root


def test_html_goes_beside_the_run(cli, root):
    done = cli("report", "harbour-worse", "--root", root)
    assert done.code == 0, done.err
    path = done.out.splitlines()[0].removeprefix("written to ")
    assert path.endswith("/report.html")
    with open(path, encoding="utf-8") as file:
        assert file.read().startswith("<!doctype html>")


def test_the_folder_of_a_store_is_not_the_file_of_the_report(cli, root):
    done = cli("report", "harbour-worse", "-o", root)
    assert done.code == 2
    assert "-o is the file of the report here; --root names the store" in " ".join(done.err.split())


@pytest.mark.parametrize(("name", "start"), [("it.md", "#"), ("it.tex", "%"), ("it.html", "<!doctype")])
def test_the_ending_of_the_file_chooses_the_format(cli, root, tmp_path, name, start):
    assert cli("report", "harbour-worse", "--root", root, "-o", tmp_path / name, "-q").code == 0
    assert (tmp_path / name).read_text().lstrip().startswith(start)


def test_a_comparison_goes_where_it_is_told(cli, root, tmp_path):
    file = tmp_path / "new folder" / "it.html"
    done = cli("report", "harbour-worse", "harbour-better", "--root", root, "-o", file, "--slice", "topic", "-q")
    assert (done.code, done.out) == (0, "")
    assert "harbour-better" in file.read_text()


def test_a_run_is_compared_with_the_baseline_of_a_branch(cli, tmp_path):
    old = harbour("worse", tmp_path, ["token_f1"])
    content = json.loads(old.folder.manifest.read_bytes())
    old.folder.manifest.write_bytes(json.dumps({**content, "code": {"branch": "main"}}).encode())
    new = harbour("better", tmp_path, ["token_f1"])
    report = ("report", new.id, "--root", tmp_path, "-o", "-", "--baseline")
    done = cli(*report, "main")
    assert done.code == 0, done.err
    assert "Comparison report" in done.out
    assert f"baseline: run {old.id}" in done.err
    done = cli(*report, "release")
    assert "Evaluation report" in done.out
    assert "there is no run of branch release" in " ".join(done.err.split())
    assert "either two runs or --baseline" in cli("report", old.id, *report[1:], "main").err


@pytest.mark.parametrize(("flag", "begins"), [("--markdown", "### "), ("--latex", "% \\usepackage{booktabs}")])
@pytest.mark.parametrize("names", [["harbour-worse"], ["harbour-worse", "harbour-better"]])
def test_other_forms_are_printed(cli, root, names, flag, begins):
    done = cli("report", *names, flag, "--root", root)
    assert done.code == 0, done.err
    assert done.out.startswith(begins)


def test_html_can_be_printed(cli, root):
    assert cli("report", "latest", "-o", "-", "--root", root).out.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["harbour-worse", "--markdown", "--latex"], "exclude each other"),
        (["harbour-worse"] * 3, "ragstone compare"),
        (["harbour-worse", "--cluster", "topic"], "need two runs"),
        (["harbour-wors"], "harbour-worse"),
        (["harbour-worse", "--slice", "nonsense"], "topic"),
        (["harbour-worse", "harbour-better", "-m", "recall@7"], "unknown metric"),
    ],
)
def test_what_cannot_be_done_is_said(cli, root, arguments, words):
    done = cli("report", *arguments, "--root", root)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_run_in_a_bucket_gets_its_report_there(cli, bucket):
    run = harbour("worse", bucket.url, ["fact_recall"])
    done = cli("report", run.path, "--worst", "1")
    assert done.code == 0, done.err
    [key] = [name for name in bucket.list() if name.endswith("report.html")]
    assert key.startswith(f"runs/{run.id}/")
    assert bucket.read(key).startswith(b"<!doctype html>")


def test_runs_with_other_ids_are_paired_by_question(cli, tmp_path):
    import json

    for name in ("old", "new"):
        rows = [
            {
                "id": f"{name}{n}",
                "question": f"Number {n}?",
                "answer": "a" if name == "new" else "b",
                "references": ["a"],
            }
            for n in range(12)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        assert cli("run", tmp_path / f"{name}.jsonl", "-m", "token_f1", "--name", name, "-o", tmp_path).code == 0
    done = cli("report", "old", "new", "--root", tmp_path, "-o", "-")
    assert done.code == 0, done.err
    assert "new is better than old in 1 metric" in done.out
    assert "paired by question" in done.out
    assert done.out.count('<details class="sample ') == 12


def test_an_unfinished_run_has_no_report(cli, root, tmp_path):
    folder = tmp_path / "runs" / "20260101-000000-00000000"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    done = cli("report", folder)
    assert done.code == 1
    assert "--resume" in done.err


def test_all_samples_are_for_html(cli, root):
    done = cli("report", "harbour-worse", "--root", root, "--all-samples", "-o", "-")
    assert done.out.count('<details class="sample ') == 25
    assert 'id="print-all" checked' in done.out
    done = cli("report", "harbour-worse", "--root", root, "--all-samples", "--markdown")
    assert done.code == 2
    assert "HTML" in done.err


def test_the_series_of_a_watch(cli, ferry, tmp_path):  # noqa: F811
    file = tmp_path / "series.html"
    done = cli("report", ferry.place.path, "-o", file)
    assert done.code == 0, done.err
    assert "exact_match seems lower since" in done.out
    assert "exact_match seems lower since" in file.read_text()
    assert cli("report", ferry.place.path, "-o", "-").out.startswith("<!doctype html>")
    assert "leave out --markdown" in cli("report", ferry.place.path, "--markdown").err
