"""`ragstone run --facts`: from files to scores in one command, and the same in Python."""

from __future__ import annotations

import json

import pytest

import ragstone
from ragstone.truth.store import TruthStore
from tests.oracle.server import OracleServer

KILN = (
    "# Kiln rental\n\nThe electric kiln is fired on Tuesdays and Fridays. Raku is fired outdoors from April to October."
)
COURSE = "# Courses\n\nThe beginners' course runs for six Wednesday evenings. Groups have at most eight people."
RULES = "# Rules\n\nPieces that are not collected within 60 days are given away. Dogs stay outside."


def _row(name, question, reference, *chunks, **more):
    contexts = [{"id": str(hash(text) % 1000), "text": text} for text in chunks]
    references = [reference] if reference else []
    return {
        "id": name,
        "question": question,
        "answer": reference or "No.",
        "references": references,
        "contexts": contexts,
        **more,
    }


ROWS = [
    _row("days", "When is the kiln fired?", "The electric kiln is fired on Tuesdays and Fridays.", KILN, COURSE),
    _row("length", "How long is the course?", "The beginners' course runs for six Wednesday evenings.", COURSE),
    # Its chunk was retrieved for another question only.
    _row("missed", "When is raku fired?", "Raku is fired outdoors from April to October.", COURSE, RULES),
    _row(
        "given", "How large are groups?", "At most eight people.", COURSE, facts=["Groups have at most eight people."]
    ),
    _row("nowhere", "Who is the director?", "Marit Hove is the director of the whole museum.", RULES),
    _row("unanswerable", "Is there a lift?", "The documents do not say.", RULES, answerable=False),
]


@pytest.fixture
def files(tmp_path):
    data = tmp_path / "pottery.jsonl"
    data.write_text("\n".join(json.dumps(row) for row in ROWS))
    return data, str(tmp_path / "store")


def _recalls(path):
    run = ragstone.open_run(path)
    return {row["sample_id"]: row["value"] for row in run.scores.to_pylist() if row["metric"] == "fact_recall"}


def test_one_command_finds_facts_accepts_them_and_scores_against_them(cli, files):
    data, root = files
    shown = cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root)
    assert shown.code == 0, shown.err
    line = "facts: 3 new facts accepted for 3 rows (confidence from 0.8); 4 of 6 rows have facts; stored as pottery-facts@1"
    assert line in (shown.out + shown.err)
    version = TruthStore(root).read("pottery-facts")
    facts = {case.id: [(fact.text, fact.provenance, fact.standing) for fact in case.facts] for case in version.cases}
    assert facts == {
        "days": [("The electric kiln is fired on Tuesdays and Fridays.", "judge", "accepted")],
        "length": [("The beginners' course runs for six Wednesday evenings.", "judge", "accepted")],
        "missed": [("Raku is fired outdoors from April to October.", "judge", "accepted")],
        "given": [("Groups have at most eight people.", "manual", "accepted")],
        "nowhere": [],
        "unanswerable": [],
    }
    # The same data again: nothing is new, so no version is saved.
    again = cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root, "--json")
    found = json.loads(again.out)
    assert found["truth"]["facts"]["accepted"] == 0
    assert (found["truth"]["version"], found["truth"]["facts"]["rows_with_facts"]) == (1, 4)
    recalls = _recalls(found["run"])
    assert recalls == {"days": 1, "length": 1, "missed": 0, "given": 1, "nowhere": None, "unanswerable": None}


def test_another_version_of_the_system_is_scored_against_the_same_facts(cli, files, tmp_path):
    data, root = files
    cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root)
    better = tmp_path / "better.jsonl"
    better.write_text("\n".join(json.dumps({**row, "contexts": [KILN, COURSE, RULES]}) for row in ROWS))
    found = json.loads(cli("run", str(better), "--facts", "-m", "fact_recall", "-o", root, "--json").out)
    assert found["truth"]["name"] == "pottery-facts"
    assert _recalls(found["run"])["missed"] == 1


def test_decisions_of_people_stay(cli, files):
    data, root = files
    cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root)
    rejected = cli("truth", "reject", "pottery-facts", "length", "--status", "accepted", "-o", root)
    assert rejected.code == 0, rejected.err
    found = json.loads(cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root, "--json").out)
    assert (found["truth"]["version"], found["truth"]["facts"]["accepted"]) == (2, 0)
    assert _recalls(found["run"])["length"] is None


def test_new_references_get_new_facts(cli, files):
    data, root = files
    cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root)
    changed = [{**row, "references": ["Dogs stay outside."]} if row["id"] == "length" else row for row in ROWS]
    data.write_text("\n".join(json.dumps(row) for row in changed))
    cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root)
    case = next(case for case in TruthStore(root).read("pottery-facts").cases if case.id == "length")
    assert [fact.text for fact in case.facts] == ["Dogs stay outside."]


def test_facts_are_added_to_the_ground_truth_that_the_user_names(cli, files):
    data, root = files
    assert cli("truth", "import", str(data), "mine", "-o", root).code == 0
    shown = cli("run", str(data), "--facts", "--truth", "mine", "-m", "fact_recall", "-o", root)
    assert "stored as mine@2" in (shown.out + shown.err)
    assert TruthStore(root).names() == ["mine"]
    # The same command for another version of the system goes on with the newest version.
    changed = [{**row, "contexts": [KILN, COURSE, "Marit Hove is the director of the whole museum."]} for row in ROWS]
    data.write_text("\n".join(json.dumps(row) for row in changed))
    again = cli("run", str(data), "--facts", "--truth", "mine@1", "-m", "fact_recall", "-o", root)
    assert again.code == 0, again.err
    assert "stored as mine@3" in (again.out + again.err)


def test_data_without_references_or_from_standard_input_is_an_error(cli, files):
    data, root = files
    data.write_text("\n".join(json.dumps({**row, "references": [], "facts": []}) for row in ROWS))
    shown = cli("run", str(data), "--facts", "-o", root)
    error = shown.out + shown.err
    assert (shown.code, "no row has both" in error, "ragstone truth import answers.csv NAME" in error) == (
        2,
        True,
        True,
    )
    shown = cli("run", "-", "--facts", "-o", root)
    assert (shown.code, "reads the data twice" in (shown.out + shown.err)) == (2, True)


def test_a_judge_model_names_the_facts(cli, files, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    data, root = files
    reply = {"citations": ["The beginners' course runs for six Wednesday evenings."]}
    with OracleServer(alter=lambda *_: reply) as server:
        options = ("--judge", "openai/oracle", "--base-url", server.base_url, "--no-cache")
        shown = cli("run", str(data), "--facts", "-m", "fact_recall", "-o", root, *options)
        assert shown.code == 0, shown.err
    cases = {case.id: case for case in TruthStore(root).read("pottery-facts").cases}
    assert [(fact.standing, fact.confidence) for fact in cases["length"].facts] == [("accepted", None)]
    assert cases["unanswerable"].facts == []


def test_python(tmp_path, caplog):
    kept = ragstone.evaluate(ROWS, "fact_recall", tmp_path, facts=True)
    assert kept.info["truth"]["facts"]["accepted"] == 3
    assert "3 new facts accepted for 3 rows" in caplog.text
    assert len(TruthStore(str(tmp_path)).names()) == 1
    fleeting = ragstone.evaluate(iter(ROWS), "fact_recall", facts=True)
    assert fleeting.summary()["fact_recall"].mean == kept.summary()["fact_recall"].mean == 0.75


def test_an_interrupted_run_is_resumed_with_the_same_facts(cli, files, monkeypatch):
    from ragstone.engine import evaluate as engine

    data, root = files
    command = ("run", str(data), "--facts", "-m", "fact_recall", "-o", root)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "finish_tables", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert cli(*command).code != 0
    shown = cli(*command, "--resume")
    assert shown.code == 0, shown.err
    assert "resuming run" in (shown.out + shown.err)
    assert TruthStore(root).numbers("pottery-facts") == [1]
