"""Checklists and aspects that are passed or failed, by a perfect judge over HTTP."""

import pytest

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.data.types import CheckedItem
from ragstone.errors import Skip
from ragstone.metrics.checklists import share_met
from ragstone.metrics.grades import register_aspects
from ragstone.views.judged_items import judged_groups
from tests.oracle.judge import worth
from tests.oracle.language import say
from tests.oracle.server import OracleServer
from tests.oracle.verdicts import verdict
from tests.oracle.world import make_samples, truth

SAMPLES = [sample for sample in make_samples(24, seed=4) if sample.language == "en"]
NAMES = ("launched", "captain", "cargo")


def items_of(sample):
    """Three truths about the ship, and one about another ship."""
    other = "Pelican" if sample.subject != "Pelican" else "Corvina"
    own = [say("en", truth("en", sample.subject, name)).text for name in NAMES]
    return [*own, say("en", truth("en", other, "cargo")).text]


ROWS = [{**sample.row(), "checklist": items_of(sample)} for sample in SAMPLES]


def evaluate(tmp_path, metrics, rows=ROWS, **options):
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, **options}
        run = ragstone.evaluate(rows, metrics, tmp_path / "runs", **options)
    assert server.problems == []
    return run, server


def cells(run, metric):
    return {row["sample_id"]: row["value"] for row in run.scores.to_pylist() if row["metric"] == metric}


def test_a_samples_own_checklist_takes_one_call(tmp_path):
    run, server = evaluate(tmp_path, "checklist")
    answered = [sample for sample in SAMPLES if sample.answer]
    assert server.replies == {"checklist": len(answered)}
    for sample in answered:
        met = [verdict(truth("en", sample.subject, name), sample.answer) == "entailment" for name in NAMES]
        assert cells(run, "checklist")[sample.id] == pytest.approx(sum(met) / 3)
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]["properties"]["items"]
    assert (schema["minItems"], schema["maxItems"]) == (4, 4)
    assert schema["items"]["properties"]["item"]["enum"] == [1, 2, 3, 4]
    working = explain_sample(run, answered[0].id, "checklist").working
    assert working.counts[0].value == pytest.approx(working.cell.value)
    assert working.counts[0].below == (1, 2, 3), "what is not applicable does not count"


def test_reasons_are_asked_for_before_verdicts_and_stored(tmp_path):
    run, server = evaluate(tmp_path, "checklist", ROWS[:1], grading=["cot"])
    item = server.bodies[0]["response_format"]["json_schema"]["schema"]["properties"]["items"]["items"]
    assert list(item["properties"]) == ["item", "reason", "verdict"]
    (checks,) = run.evidence("own_checks")["value"].to_pylist()
    assert all(check["reason"].startswith("It is about the") for check in checks)
    _, plain = evaluate(tmp_path, "checklist", ROWS[:1])
    assert "reason" not in str(plain.bodies[0]["response_format"])


def test_a_checklist_of_a_file_is_a_metric(tmp_path, catalogue):
    sample = SAMPLES[0]
    first = say("en", truth("en", sample.subject, "captain")).text
    file = tmp_path / "ours.toml"
    file.write_text(f'[register]\nchecklist = ["{first}"]\nreason = true\nshows = ["question", "contexts"]\n')
    assert register_aspects(file) == ["checklist.register"]
    run, server = evaluate(tmp_path, ["checklist.register"], ROWS[:1])
    met = verdict(truth("en", sample.subject, "captain"), sample.answer) == "entailment"
    assert cells(run, "checklist.register") == {sample.id: float(met)}
    assert "<contexts" in server.bodies[0]["messages"][-1]["content"]
    (checks,) = run.evidence("register_checks")["value"].to_pylist()
    assert checks[0]["reason"]


def test_a_decision_tree_of_a_file_is_a_metric_and_only_its_path_is_paid(tmp_path, catalogue):
    """Of one ship: without the captain 0, with captain and cargo 1, with the captain alone 0.5."""
    rows = [row for row in ROWS if row["answer"].strip()]
    sample = next(sample for sample in SAMPLES if sample.answer)
    captain, cargo = (say("en", truth("en", sample.subject, name)).text for name in ("captain", "cargo"))
    file = tmp_path / "ours.toml"
    file.write_text(
        f'[register.tree.captain]\nask = "{captain}"\nyes = "cargo"\nno = {{ score = 0, reason = "No captain." }}\n'
        f'[register.tree.cargo]\nask = "{cargo}"\nyes = 1\nno = 0.5\n'
    )
    assert register_aspects(file) == ["checklist.register"]
    run, server = evaluate(tmp_path, ["checklist.register"], rows)
    expected, calls = {}, 0
    for one in (one for one in SAMPLES if one.answer):
        told = [verdict(truth("en", sample.subject, name), one.answer) == "entailment" for name in ("captain", "cargo")]
        expected[one.id] = (1.0 if told[1] else 0.5) if told[0] else 0.0
        calls += 1 + told[0]
    assert cells(run, "checklist.register") == expected
    assert server.replies == {"decision": calls}
    assert len(rows) < calls < 2 * len(rows)
    assert ragstone.quote(rows, "checklist.register", judge="openai/oracle").total.calls == 2 * len(rows), "a bound"
    found = explain_sample(run, next(name for name, value in expected.items() if not value), "checklist.register")
    (group,) = judged_groups(found.case)
    assert [(row.text, row.words) for row in group.rows] == [(captain, "→ no"), ("score", "→ 0")]
    assert {row.tone for row in group.rows} == {"silent"}, "no may be good or bad"
    assert group.rows[-1].reason == "No captain."


def test_a_quote_counts_checklists():
    answered = [row for row in ROWS if row["answer"].strip()]
    assert ragstone.quote(ROWS, "checklist", judge="openai/oracle").total.calls == len(answered)


def test_yes_of_yes_and_no_and_skipped_if_nothing_applies():
    """Two yes, one no, one not applicable: 2 / 3."""
    checks = [CheckedItem(str(at), word) for at, word in enumerate(["yes", "no", "not_applicable", "yes"])]
    assert share_met("item", checks) == pytest.approx(2 / 3)
    with pytest.raises(Skip, match="no item"):
        share_met("item", checks[2:3])


def test_rows_without_a_checklist_are_skipped_and_bad_ones_fail(tmp_path):
    none = {"id": "none", "question": "q", "answer": "a", "topic": "ships"}
    rows = [none, {"id": "bad", "question": "q", "answer": "a", "checklist": 3}]
    run, _ = evaluate(tmp_path, "checklist", rows)
    found = {row["sample_id"]: (row["status"], row["reason"]) for row in run.scores.to_pylist()}
    assert found["none"] == ("skipped", "the metadata has no checklist")
    assert found["bad"][0] == "failed"
    assert "list of 1 to 50 texts" in found["bad"][1]


def test_an_aspect_of_a_file_may_be_passed_or_failed(tmp_path, catalogue):
    file = tmp_path / "ours.toml"
    file.write_text('[right]\npass = "everything that it says is true"\nfail = "it errs"\nreason = true\n')
    assert register_aspects(file) == ["grade.right", "grade.right.with_reference"]
    rows = [row for row in ROWS if row["answer"].strip()]
    run, server = evaluate(tmp_path, ["grade.right", "grade.right(value=expected)"], rows)
    assert server.replies == {"pass_fail": len(rows)}
    for row in rows:
        assert cells(run, "grade.right")[row["id"]] == float(worth(row["answer"], row) > 0.5)
    told = server.bodies[0]["messages"][0]["content"]
    assert '"pass": everything that it says is true' in told
    assert '"fail": it errs' in told
    assert all(grade["reasoning"] for grade in run.evidence("right_grade")["value"].to_pylist())


def test_every_aspect_can_be_graded_on_the_binary_scale(tmp_path):
    rows = [row for row in ROWS if row["answer"].strip()][:4]
    run, server = evaluate(tmp_path, ["grade.quality"], rows, scale="binary")
    assert server.replies == {"pass_fail": 4}
    assert set(cells(run, "grade.quality").values()) <= {0.0, 1.0}
    assert "pass_fail" in run.info["prompts"]
