"""Reports as a user makes them, in a core install."""

import pytest


@pytest.mark.slow
def test_from_an_example_to_a_page(shell, home):
    for system in ("worse", "better"):
        assert shell("demo", system, "-q").returncode == 0
    done = shell("report", "harbour-worse", "harbour-better", "-o", "page.html")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "written to page.html"), done.stderr
    page = (home / "page.html").read_text()
    assert "harbour-better is better than harbour-worse" in page
    assert str(home) not in page
    one = shell("report", "latest")
    assert one.returncode == 0, one.stderr
    assert (home / one.stdout.splitlines()[0].removeprefix("written to ")).read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_a_table_for_a_pull_request(shell):
    assert shell("run", "answers.jsonl", "-q", "--name", "mine").returncode == 0
    done = shell("report", "mine", "--markdown")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("### mine: ")


def test_what_cannot_be_done_takes_one_line(shell):
    done = shell("report", "nothing")
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no run 'nothing'")
    assert done.stderr.count("\n") == 1
