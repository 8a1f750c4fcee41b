"""Gates on runs that may be unfinished."""

import pytest

from ragstone.analysis.gate_conditions import Check, parse_checks
from ragstone.analysis.gates import check_so_far, watch
from ragstone.errors import UnknownNameError, UsageError
from tests.analysis.scored import declare, make_run, noise


@pytest.fixture(autouse=True)
def metrics(catalogue):
    declare(catalogue)


def test_early_verdicts_on_a_finished_run(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 300, 0.1, 0.8))
    found = check_so_far(run.folder, parse_checks("min", ["quality=0.6", "quality=0.79", "quality=0.95"]))
    passes, unsure, fails = found.checks
    assert (passes.outcome, unsure.outcome, fails.outcome) == ("passes", "cannot tell", "fails")
    assert passes.decided_after < 100
    assert passes.why == f"decided after {passes.decided_after} rows"
    assert (found.sequential, found.finished) == (True, True)


def test_early_verdicts_on_the_rows_so_far(tmp_path, monkeypatch):
    """A run that stopped half-way, as an interruption leaves it, against a finished baseline."""
    base = make_run(tmp_path, "base", quality=noise(1, 400, 0.1, 0.8))
    monkeypatch.setattr("ragstone.engine.execute.BATCH_ROWS", 100, raising=False)
    half = make_run(tmp_path, "half", quality=noise(1, 400, 0.1, 0.8) - 0.3)
    folder = half.folder
    from ragstone.storage.runs import read_table, write_table

    scores = read_table(folder.scores)
    for number, first in ((0, 0), (2, 200)):
        write_table(folder.part(number).scores, scores.slice(first, 100))
    folder.plan.write_bytes(b"{}")
    folder.manifest.remove()
    checks = [*parse_checks("min", ["quality=0.3"]), *parse_checks("max-drop", ["quality=0.05"])]
    found = check_so_far(folder, checks, base)
    assert not found.finished
    assert [item.rows for item in found.checks] == [200, 200]
    assert [item.outcome for item in found.checks] == ["passes", "fails"]
    assert found.checks[1].value == pytest.approx(-0.3)


def test_nothing_is_finished_yet(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 20))
    run.folder.plan.write_bytes(b"{}")
    run.folder.manifest.remove()
    assert check_so_far(run.folder, parse_checks("min", ["quality=0.3"])).checks[0].why == "no row is finished yet"


def test_early_verdicts_need_bounds_and_names(tmp_path):
    run = make_run(tmp_path, "a", ["delay"], delay=noise(1, 20))
    with pytest.raises(UsageError, match="mean of rows with known bounds"):
        check_so_far(run.folder, parse_checks("min", ["delay=0.3"]))
    with pytest.raises(UsageError, match="name the metric of each drop"):
        check_so_far(run.folder, parse_checks("max-drop", ["0.3"]), run)
    with pytest.raises(UnknownNameError, match="unknown metric of this run 'quality'"):
        check_so_far(run.folder, parse_checks("min", ["quality=0.3"]))


def test_watching_row_by_row_one_may_stop():
    looks = []
    for look in watch(iter(noise(1, 1000, 0.1, 0.9)), Check("min", "quality", 0.7)):
        looks.append(look)
        if look.outcome != "cannot tell":
            break
    assert looks[-1].outcome == "passes"
    assert len(looks) < 60
    assert {look.outcome for look in looks[:-1]} == {"cannot tell"}


def test_counts_need_a_finished_run(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 10))
    with pytest.raises(UsageError, match="--max-worse needs a finished run"):
        check_so_far(run.folder, parse_checks("max-worse", ["quality=0"]), run)
