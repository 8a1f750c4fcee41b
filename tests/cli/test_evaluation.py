"""The end of a run."""

import json


def test_the_end_of_a_run(cli, tmp_path):
    printed = cli("demo", "worse", "-o", tmp_path)
    assert "Both parts seem to limit quality, but" in printed.out
    assert "15 of 25 rows are wrong, 10 are fine." in printed.out


def test_the_json_of_a_run(cli, tmp_path):
    assert json.loads(cli("demo", "--json", "-o", tmp_path).out).keys() == {
        "run",
        "id",
        "name",
        "judge_failure",
        "truth",
        "failed_share",
        "statuses",
        "looked_at",
        "summary",
        "totals",
    }
