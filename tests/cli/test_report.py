"""ragstone report on the command line."""

import pytest

from tests.report.runs import harbour


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("store")
    for system in ("worse", "better"):
        harbour(system, root, ["fact_recall", "token_f1"])
    return root


def test_html_goes_beside_the_run(cli, root):
    done = cli("report", "harbour-worse", "--root", root)
    assert done.code == 0, done.err
    path = done.out.strip().removeprefix("written to ")
    assert path.endswith("/report.html")
    with open(path, encoding="utf-8") as file:
        assert file.read().startswith("<!doctype html>")


def test_a_comparison_goes_where_it_is_told(cli, root, tmp_path):
    file = tmp_path / "new folder" / "it.html"
    done = cli("report", "harbour-worse", "harbour-better", "--root", root, "-o", file, "--slice", "topic", "-q")
    assert (done.code, done.out) == (0, "")
    assert "harbour-better" in file.read_text()


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
        (["harbour-worse", "--markdown", "--latex"], "one at a time"),
        (["harbour-worse"] * 3, "ragstone compare"),
        (["harbour-worse", "--cluster", "topic"], "comparison of two"),
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
