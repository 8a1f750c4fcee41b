"""Rows that a second version fixes and breaks, and the gate on them, with probabilities that the small judge gave.

rows_in_two_versions.jsonl has 30 labelled answers of 27 domains, each reworded without harm and broken.
"""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import ragstone
from ragstone.analysis import row_moves
from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.gate_conditions import NOT_WORSE, parse_checks, read_checks
from ragstone.analysis.gates import check_gate, check_so_far, check_without_baseline
from ragstone.errors import UsageError
from ragstone.report.gates import gate_dict, gate_junit, gate_report, undecided_line
from ragstone.report.markdown import gate_markdown
from ragstone.views.comparison import ComparisonView
from tests.analysis.scored import declare, make_run
from tests.report.drawing import draw

_FILE = Path(__file__).with_name("rows_in_two_versions.jsonl")
ROWS = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
SIZE = len(ROWS)
NONE_NEW = parse_checks("max-new-failures", ["0"])


@pytest.fixture
def store(tmp_path, catalogue):
    declare(catalogue)
    return tmp_path


@pytest.fixture
def gate(store, monkeypatch):
    """The gate on runs whose rows are wrong with these probabilities."""

    def check(before, after, checks=NONE_NEW):
        runs = [make_run(store, name, quality=[1.0] * len(side)) for name, side in (("a", before), ("b", after))]
        known = {run.id: side for run, side in zip(runs, (before, after), strict=True)}

        def diagnose(run, texts):
            return SimpleNamespace(outcomes=[Outcome(str(at), wrong=chance) for at, chance in enumerate(known[run.id])])

        monkeypatch.setattr(row_moves, "diagnose", diagnose)
        return check_gate(runs[1], checks, runs[0])

    return check


def version(kinds):
    return [row["wrong"][kind] for row, kind in zip(ROWS, kinds, strict=True)]


def test_planted_regressions_fail_and_harmless_changes_pass(gate):
    """A change breaks three to five rows; or it rewords rows, fixes one and leaves other faults as they are.

    Of one of the twenty changes, the small judge is not sure of any of the broken rows.
    """
    outcomes = []
    for number in range(20):
        broken = {(number + 7 * step) % SIZE for step in range(3 + number % 3)}
        old = ["broken" if (at + number) % 10 == 5 and at not in broken else "base" for at in range(SIZE)]
        new = ["broken" if at in broken else "reworded" if kind == "base" else kind for at, kind in enumerate(old)]
        outcomes.append(gate(version(old), version(new)).outcome)
        harmless = ["base" if (at - number) % 3 else "reworded" for at in range(SIZE)]
        fixed = ["broken" if at == number else kind for at, kind in enumerate(harmless)]
        kept = ["broken" if (at + number) % 10 == 5 else kind for at, kind in enumerate(harmless)]
        new = ["broken" if kind == "broken" else "reworded" for kind in kept]
        assert gate(version(fixed), version(["reworded"] * SIZE)).outcome == "passes", number
        assert gate(version(kept), version(new)).outcome == "passes", number
    assert outcomes.count("fails") >= 19


def test_single_broken_rows(gate):
    """The share that the docs report; rows of which the small judge is not sure are unclear, and the gate names them."""
    found = [row_moves.kind_of_move(row["wrong"]["base"], row["wrong"]["broken"]) for row in ROWS]
    assert (found.count("newly failing"), found.count("unclear"), found.count(None)) == (23, 5, 1)
    assert {row_moves.kind_of_move(row["wrong"]["base"], row["wrong"]["reworded"]) for row in ROWS} == {None, "unclear"}
    at = found.index("unclear")
    decision = gate(version(["base"] * SIZE), version(["base"] * at + ["broken"] + ["base"] * (SIZE - at - 1)))
    [check] = decision.checks
    assert (check.outcome, check.value, check.rows) == ("passes", 0, SIZE)
    assert decision.remarks == (
        f"1 row is perhaps wrong now: look at s{at}, as with ragstone explain {decision.path} s{at}",
    )
    assert gate_dict(decision)["checks"][0]["perhaps_wrong"] == (f"s{at}",)
    for text in (draw(gate_report(decision)), gate_markdown(decision), gate_junit(decision)):
        assert text.count("1 row is perhaps wrong now") == 1


def test_the_limit_counts_rows(gate):
    [check] = gate([0.02] * 8, [0.9] * 3 + [0.02] * 5, parse_checks("max-new-failures", ["2"])).checks
    assert (check.outcome, check.value, check.why) == ("fails", 3, "s0, s1, s2 newly failing")
    assert check.condition == "newly failing rows ≤ 2"
    assert gate([0.02] * 8, [0.9] * 3 + [0.02] * 5, parse_checks("max-new-failures", ["3"])).outcome == "passes"


def test_a_fixed_row_and_a_small_change_never_fail(gate):
    [check] = gate([0.12, 0.95, 0.3, 0.7], [0.1, 0.02, 0.31, 0.9]).checks
    assert (check.outcome, check.value, check.why) == ("passes", 0, "1 fixed")


def test_ten_faults_against_six_do_not_pass(gate):
    old, new = [0.9] * 6 + [0.03] * 24, [0.9] * 10 + [0.03] * 20
    assert gate(old, new).outcome == "fails"
    assert gate(old, new, NOT_WORSE).outcome == "fails"
    assert gate(new, old, NOT_WORSE).outcome == "passes"


def test_more_fixed_than_newly_failing_rows_pass_without_a_limit(gate):
    old, new = [0.9, 0.9, 0.02, 0.02, 0.02], [0.02, 0.02, 0.9, 0.02, 0.02]
    assert gate(old, new).outcome == "fails"
    found = gate(old, new, NOT_WORSE).checks[0]
    assert (found.outcome, found.condition) == ("passes", "newly failing rows ≤ fixed rows")


def test_a_row_that_lost_its_judgement_may_fail(gate):
    [check] = gate([0.02] * 4, [0.02] * 3 + [None]).checks
    assert (check.outcome, check.lost, check.rows) == ("cannot tell", 1, 3)
    assert check.why == "1 of the baseline's rows have no judgement now: they may fail"
    [none] = gate([None] * 4, [None] * 4).checks
    assert (none.outcome, none.value) == ("cannot tell", None)
    assert none.why.startswith("no row is judged in both runs")
    # Without a limit, a gate of runs without a judge is about their metrics.
    assert [check.kind for check in (item.check for item in gate([None] * 8, [None] * 8, NOT_WORSE).checks)] == [
        "max-drop"
    ]


def test_rows_that_are_missing_are_never_only_a_warning(gate):
    """A file with fewer questions must not be green because `init` writes that "cannot tell" is a warning."""
    lost, doubtful = gate([0.02] * 4, [0.02] * 3 + [None]), gate([None] * 4, [None] * 4)
    assert replace(lost, inconclusive="pass").exit_code == 4
    assert replace(doubtful, inconclusive="pass").exit_code == 0
    assert undecided_line(replace(lost, inconclusive="pass")).endswith("that is not a warning, exit code 4")


@pytest.mark.slow
def test_a_run_without_the_chunks_of_the_baseline_is_not_compared(tmp_path, monkeypatch):
    """Without chunks, less can be found wrong: that is not an improvement."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "off")
    data = [{key: row[key] for key in ("question", "references", "contexts", "answer")} for row in ROWS[:4]]
    before = ragstone.evaluate(data, None, tmp_path)
    after = ragstone.evaluate([{**row, "contexts": None} for row in data], None, tmp_path)
    found = ragstone.gate(after, against=before, max_new_failures=0)
    [check] = found.checks
    assert (check.outcome, check.lost) == ("cannot tell", 4)
    assert check.why == "the baseline was judged by its chunks, this run was not: rows cannot be compared"
    assert replace(found, inconclusive="pass").exit_code == 4
    alone = [ragstone.evaluate([{**row, "references": None} for row in data], None, tmp_path) for _ in range(2)]
    [check] = ragstone.gate(alone[1], against=alone[0], max_new_failures=0).checks
    assert (check.outcome, check.why) == ("passes", "without right answers few rows can fail")
    view = ComparisonView.diagnosed(compare_runs(alone[0], before))
    words = f"{view.labels[1]} was judged by its references, {view.labels[0]} was not"
    assert view.headline == f"The rows cannot be compared: {words}."
    assert (view.moves, view.causes, view.moved) == (None, None, ())


def test_what_outputs_say(gate):
    found = gate([0.02] * 4, [0.9] + [0.02] * 3)
    [check] = gate_dict(found)["checks"]
    assert (check["kind"], check["metric"], check["limit"], check["value"]) == ("max-new-failures", "", 0.0, 1.0)
    assert 'name="newly failing rows ≤ 0"' in gate_junit(found)
    assert "1, 4 rows, 0 failed: s0 newly failing" in gate_junit(found)


def test_how_the_limit_is_written(store):
    assert read_checks({"max-new-failures": 0}, "f") == NONE_NEW
    for value in (0.5, -1, True, "many", {"recall": 1}):
        with pytest.raises(UsageError, match="max-new-failures"):
            read_checks({"max-new-failures": value}, "f")
    run = make_run(store, "a", quality=[1.0] * 6)
    with pytest.raises(UsageError, match="--max-new-failures needs a baseline"):
        check_gate(run, NONE_NEW)
    with pytest.raises(UsageError, match="--max-new-failures needs a finished run"):
        check_so_far(run.folder, NONE_NEW, run)
    assert check_without_baseline(run, NONE_NEW, "passes", "first").outcome == "passes"


@pytest.mark.slow
def test_the_small_judge_sees_planted_faults_and_no_rewordings(tmp_path, monkeypatch):
    """The probabilities in the file are those of the real judge."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "off")
    given = ("id", "question", "references", "contexts")
    runs = {
        name: ragstone.evaluate(
            [{key: row[key] for key in given} | {"answer": row[name]} for row in ROWS], None, tmp_path
        )
        for name in ("answer", "reworded", "broken")
    }
    assert ragstone.gate(runs["reworded"], against=runs["answer"], max_new_failures=0)
    assert not ragstone.gate(runs["broken"], against=runs["answer"], max_new_failures=0)
    moves = ragstone.compare(runs["answer"], runs["broken"]).failing
    assert len(moves.newly_failing) >= 22
    assert moves.fixed == []
    assert moves.p < 1e-6
    assert len(ragstone.compare(runs["broken"], runs["answer"]).failing.fixed) == len(moves.newly_failing)


def test_a_run_without_statuses_is_named_with_the_option_that_gives_them(tmp_path):
    """Also if no metric at all judged its rows; two such runs are compared without a word about rows."""
    row = {"question": "q", "answer": "It is red.", "references": ["Red."], "contexts": ["It is red."]}
    claims = {"answer_claims": ["It is red."], "reference_claims": ["Red."]}
    judge = ragstone.Judge(checker=lambda claims, texts: [[1.0] * len(texts) for _ in claims])
    judged = ragstone.evaluate([row | claims] * 3, ["token_f1", "ragchecker"], tmp_path, name="judged", judge=judge)
    first, second = (ragstone.evaluate([row] * 3, ["token_f1"], tmp_path, name=name) for name in "ab")
    view = ComparisonView.diagnosed(compare_runs(first, judged))
    assert view.headline.endswith("a was not (add -m ragchecker).")
    assert not ComparisonView.diagnosed(compare_runs(first, second)).headline.startswith("The rows")
