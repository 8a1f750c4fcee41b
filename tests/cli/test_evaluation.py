"""The end of a run."""

import json


def test_the_end_of_a_run(cli, tmp_path):
    printed = cli("demo", "worse", "-o", tmp_path)
    assert "Both parts seem to limit quality, but" in printed.out
    assert "15 of 25 samples fail: 8 missing chunk" in printed.out
    [command] = [line.strip() for line in printed.out.splitlines() if "ragstone diagnose" in line]
    assert cli(*command.split()[2:]).code == 0


def test_json_of_a_run_has_no_diagnosis_beside_it(cli, tmp_path):
    assert json.loads(cli("demo", "--json", "-o", tmp_path).out).keys() == {
        "run",
        "id",
        "judge_failure",
        "summary",
        "totals",
    }
