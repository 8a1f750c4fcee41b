"""Acceptance criteria on runs in which the right and wrong rows are planted."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from ragstone.analysis.acceptance import SEEMS, FilterColumns, read_criteria, with_acceptance
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.gates import Gate
from ragstone.cli.app import app
from ragstone.engine.evaluate import evaluate
from ragstone.errors import UsageError
from ragstone.storage.human_labels import HumanLabel, answer_key, write_label
from ragstone.storage.places import open_place


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """300 refunds with 3 wrong, 100 fares with 30 wrong, 20 rows without a reference."""
    rows = [("refunds", number >= 3) for number in range(300)] + [("fares", number >= 30) for number in range(100)]
    data = [
        {"id": f"{topic}{at}", "question": f"How much is {at}?", "answer": "12" if is_right else "13",
         "references": ["12"], "metadata": {"topic": topic}}
        for at, (topic, is_right) in enumerate(rows)
    ]  # fmt: skip
    data += [
        {"id": f"n{at}", "question": f"Why {at}?", "answer": "12", "metadata": {"topic": "none"}} for at in range(20)
    ]
    return evaluate(data, ["exact_match"], str(tmp_path_factory.mktemp("store")))


def check(run, *texts):
    criteria = read_criteria({f"c{number}": text for number, text in enumerate(texts)}, "ragstone.toml")
    return with_acceptance(Gate("r", "r", None, ()), run, criteria)


@pytest.mark.parametrize(
    ("text", "outcome", "share", "rows"),
    [
        ("at most 3 % exact_match = 0 among refunds", "passes", 0.01, 300),
        ("at most 1% exact_match = 0 among refunds", "cannot tell", 0.01, 300),
        ("at most 10 % exact_match = 0 among fares", "fails", 0.3, 100),
        ('At least 60 % exact_match = 1 among slice.topic = "fares"', "passes", 0.7, 100),
        ("at least 90 % exact_match >= 1", "cannot tell", 0.9175, 400),
        ("at least 95 % exact_match >= 1", "fails", 0.9175, 400),
        ("at most 5 % not exact_match among fares and refunds", None, None, None),
        ("at most 50 % exact_match = 0 among slice.topic = nothing", "cannot tell", None, 0),
    ],
)
def test_shares_are_decided_by_their_interval(run, text, outcome, share, rows):
    if outcome is None:
        with pytest.raises(UsageError, match=r"\[accept\] c0: at most 5 % .* no column of the metadata has this value"):
            check(run, text)
        return
    gate = check(run, text)
    [found] = gate.checks
    assert (found.outcome, found.rows, found.value) == (outcome, rows, share and pytest.approx(share))
    assert found.condition == f"c0: {text}"
    assert SEEMS not in gate.remarks


def test_how_many_rows_would_decide_is_said(run):
    [found] = check(run, "at most 2 % exact_match = 0 among refunds").checks
    assert (found.outcome, found.interval.low < 0.01 < found.interval.high) == ("cannot tell", True)
    assert found.why.startswith("300 rows are too few; about ")
    assert 700 < int(found.why.split("about ")[1].split()[0].replace(",", "")) < 2000


def test_a_failure_must_be_certain_among_all_criteria(run):
    alone = "at most 21 % exact_match = 0 among fares"
    [found] = check(run, alone).checks
    assert found.outcome == "fails"
    found, *_ = check(run, alone, *["at most 99 % exact_match = 0"] * 20).checks
    assert (found.outcome, found.why) == ("cannot tell", "not significant after the correction for 21 conditions")


def test_rows_that_are_not_decided_count_against_both(tmp_path):
    data = [
        {
            "id": str(at),
            "question": f"How much is {at}?",
            "answer": "It costs 12 crowns.",
            "contexts": ["It costs 12 crowns."],
        }
        for at in range(80)
    ]
    data += [{"id": f"empty{at}", "question": "How much?", "answer": "", "contexts": ["12."]} for at in range(40)]
    run = evaluate(data, ["k_precision"], str(tmp_path))
    gate = check(run, "at most 50 % wrong", "at most 10 % wrong")
    # An empty answer is wrong; nothing was measured that shows whether the others are right.
    assert [item.outcome for item in gate.checks] == ["cannot tell", "fails"]
    loose, strict = gate.checks
    assert loose.why.startswith("80 of 120 rows are not decided: label them")
    assert loose.interval.high > 0.9
    assert strict.why == "80 of 120 rows are not decided; it fails with and without them"
    assert gate.remarks == (SEEMS,)


def test_a_row_without_a_cause_has_a_missing_cause(run):
    columns = FilterColumns(run)
    missing, some = columns.select("cause is missing"), columns.select("cause is not missing")
    assert missing.sum() + some.sum() == 420
    assert missing[columns.select("status = fine")].all()
    assert missing.any()


def test_labels_and_quality_can_be_named(tmp_path):
    rows = [{"id": str(n), "question": f"{n}?", "answer": "12", "references": ["13"]} for n in (1, 2)]
    run = evaluate(rows, ["exact_match"], str(tmp_path))
    columns = FilterColumns(run)
    for text in ("labelled", "disagreed", "quality > 0"):
        assert not columns.select(text).any()
    write_label(open_place(str(tmp_path)), HumanLabel(answer_key("1?", "12"), "answer", "Ana", "right"))
    columns = FilterColumns(run, [replace(one, judged_wrong=1.0) for one in diagnose(run).outcomes])
    assert columns.select("labelled = 1").tolist() == columns.select("disagreed = 1").tolist() == [True, False]
    assert columns.select("quality = 0").all()


def test_among_in_a_quoted_text_is_part_of_the_text(run):
    text = """at most 5 % question contains "fish among chips" or question contains 'a "b" among c' among refunds"""
    [criterion] = read_criteria({"fish": text}, "ragstone.toml")
    assert criterion.rows == text[len("at most 5 % ") : -len(" among refunds")]
    assert criterion.among == "refunds"
    assert check(run, text).checks[0].rows == 300


@pytest.mark.parametrize("text", ["2 % wrong", "at most 2 wrong", "at most 200 % wrong", "at most 2 % wrong =", 3])
def test_mistakes_name_the_criterion(text):
    with pytest.raises(UsageError, match=r"ragstone.toml: \[accept\] refunds: "):
        read_criteria({"refunds": text}, "ragstone.toml")
    with pytest.raises(UsageError, match="must be a table"):
        read_criteria("at most 2 % wrong", "ragstone.toml")


def test_the_settings_file_is_checked_by_gate_and_printed_by_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": str(n), "question": "?", "answer": "a", "references": ["a"], "metadata": {"topic": "x"}}
        for n in range(200)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "ragstone.toml").write_text('[accept]\nright = "at most 2 % exact_match = 0 among x"\n')
    shown = CliRunner().invoke(app, ["run", "rows.jsonl", "-m", "exact_match", "-q"])
    assert shown.exit_code == 0, shown.output
    assert "right: at most 2 % exact_match = 0 among x  0.000" in shown.output
    done = CliRunner().invoke(app, ["gate", "latest", "--json"])
    assert done.exit_code == 0, done.output
    assert [(item["condition"], item["outcome"]) for item in json.loads(done.output)["checks"]] == [
        ("right: at most 2 % exact_match = 0 among x", "passes")
    ]
    (tmp_path / "ragstone.toml").write_text(
        '[gate]\nmin = {exact_match = 0.9}\n[accept]\nright = "at least 5 % exact_match = 0"\n'
    )
    done = CliRunner().invoke(app, ["gate", "latest", "-q"])
    assert (done.exit_code, "exact_match ≥ 0.9" in done.output) == (3, True)
    (tmp_path / "ragstone.toml").write_text('[accept]\nright = "at most 2 % nothing = 0"\n')
    assert CliRunner().invoke(app, ["run", "rows.jsonl", "-m", "exact_match", "-q"]).exit_code == 0
    assert "nothing is not known" in str(CliRunner().invoke(app, ["gate", "latest"]).exception)
    sequential = CliRunner().invoke(
        app, ["gate", "latest", "--sequential", "--config", "ragstone.toml", "--min", "exact_match=0.5"]
    )
    assert "needs a finished run" in str(sequential.exception)
