"""Questions without a language model: every kind on two small documents, checked by words."""

import json

import pytest
from click.testing import CliRunner

from ragstone.cli.app import app
from ragstone.errors import UsageError
from ragstone.formats.documents import Document, Section, make_passages
from ragstone.truth.citations.check import check_cases
from ragstone.truth.llm_tasks import Work
from ragstone.truth.store import TruthStore
from ragstone.truth.synthesis.pipeline import synthesise
from ragstone.truth.synthesis.writer import ONE_IS_ENOUGH, Order

SUMMER = """The pottery is open for visitors from 9:30 to 17:00. A summer pass costs £40. The pass is valid for 90 days.

| Class | Teacher | Fee |
|---|---|---|
| 1 | Ines Caldeira | £12 |
| 2 | Bill Stannard | £18 |
"""
WINTER = """A winter pass costs £25. The kiln room was built in 1962 by Marta Ellingrove. The studio lies at the mill,
and the warden, Ines Caldeira, lives there."""
STAFF = """| Person | Telephone | Room |
|---|---|---|
| Ines Caldeira | 4417 | 12 |
| Bill Stannard | 4418 | 14 |
"""
DOCUMENTS = [
    Document("summer.md", [Section(SUMMER, "Summer season 2024")]),
    Document("winter.md", [Section(WINTER, "Winter season")]),
    Document("staff.md", [Section(STAFF, "Staff list")]),
]
ALL = [passage for document in DOCUMENTS for passage in make_passages(document)]


@pytest.fixture(autouse=True)
def _no_judge(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", "off")


def make(count=100, **wishes):
    return synthesise(ALL, Order(count, **({"styles": ("plain",)} | wishes)), Work("local"))


def test_all_kinds_are_found_with_evidence():
    made = make()
    by_kind = {case.metadata["kind"]: case for case in made.cases}
    assert set(by_kind) >= {"single", "several", "bridge", "comparison", "aggregation", "table", "unanswerable"}
    assert {case.metadata["written_by"] for case in made.cases} == {"rule question", "cloze question"}
    checked = check_cases(made.cases)
    assert checked.total.stands == checked.total.checked == sum(len(case.facts) for case in made.cases)
    assert all(case.standing == "proposed" and bool(case.references) == case.answerable for case in made.cases)
    assert made.calls == []


def test_figures_of_two_documents_are_compared_and_added():
    pairs = {
        case.metadata["kind"]: case for case in make().cases if case.metadata["kind"] in ("comparison", "aggregation")
    }
    assert pairs["comparison"].references == ["£25 and £40; the second is more, by £15"]
    assert pairs["aggregation"].references == ["£65 (£25 and £40)"]
    for case in pairs.values():
        assert sorted(case.documents) == ["summer.md", "winter.md"]
        assert case.metadata["why"][-1] == "checked by words: neither document alone has both facts"


def test_a_bridge_describes_what_another_document_names():
    bridges = {case.question: case for case in make().cases if case.metadata["kind"] == "bridge"}
    case = bridges["Staff list: what is the telephone for the warden?"]
    assert (case.references, case.documents) == (["4417"], ["winter.md", "staff.md"])


def test_two_figures_that_one_document_has_are_no_comparison():
    """The winter page repeats the price of the summer."""
    repeated = [
        *ALL[:1],
        *make_passages(
            Document("winter.md", [Section(f"{WINTER} For a summer pass visitors pay £40.", "Winter season")])
        ),
    ]
    made = synthesise(repeated, Order(100, 0, ("plain",)), Work("local"))
    assert ONE_IS_ENOUGH in {item.reason for item in made.rejected}
    assert not any("summer pass" in case.question for case in made.cases if case.metadata["kind"] == "comparison")


def test_unanswerable_questions_have_a_detail_that_no_document_has():
    asked = [case.question for case in make().cases if case.metadata["kind"] == "unanswerable"]
    assert "Summer season 2024: what is the fee for “Class 3”?" in asked
    everything = " ".join(passage.text for passage in ALL)
    assert all(
        "Class 3" in question or "2026" in question or "Bill" in question or "Ines" in question or "Marta" in question
        for question in asked
    )
    assert "Class 3" not in everything
    assert "2026" not in everything


def test_a_question_with_two_answers_is_rejected():
    passages = make_passages(Document("a.md", [Section(f"A day pass costs £{price}.", "Passes") for price in (4, 5)]))
    made = synthesise(passages, Order(9, 0, ("plain",)), Work("local"))
    assert not [case for case in made.cases if case.metadata["kind"] == "single"]
    assert "another passage answers it otherwise" in {item.reason for item in made.rejected}


def test_documents_with_one_title_are_told_apart():
    pages = [
        Document(f"{name}.md", [Section(f"A day pass costs £{price}.", "Passes")])
        for name, price in (("a", 4), ("b", 5))
    ]
    passages = [passage for document in pages for passage in make_passages(document)]
    made = synthesise(passages, Order(9, 0, ("plain",)), Work("local"))
    asked = {case.question: case.references for case in made.cases if case.metadata["kind"] == "single"}
    assert asked["Passes (a.md): how much does a day pass cost?"] == ["£4"]


def test_styles_change_the_words_and_not_the_answer():
    made = make(styles=("typo", "keyword", "long", "follow-up", "angry"))
    found = {case.metadata["style"] for case in made.cases}
    assert found == {"plain", "typo", "keyword", "long", "follow-up", "angry"}
    assert {case.metadata["style"] for case in made.cases if "cloze" in case.metadata["written_by"]} == {"plain"}
    follow = next(case for case in made.cases if case.metadata["style"] == "follow-up")
    assert follow.question.split("\n") == [*follow.metadata["history"], follow.question.rpartition("\n")[2]]
    assert "And " in follow.question


def test_the_seed_decides_and_the_number_limits():
    assert make(6).cases == make(6).cases
    assert [case.id for case in make(6).cases] != [case.id for case in make(6, seed=1).cases]
    assert len(make(6).cases) == 6
    assert len({case.question for case in make().cases}) == len(make().cases)


def test_the_command_extracts_without_a_model_and_proposals_are_accepted(tmp_path):
    for document in DOCUMENTS:
        (tmp_path / document.source).write_text(f"# {document.sections[0].heading}\n\n{document.sections[0].text}")
    root, runner = str(tmp_path / "store"), CliRunner()
    words = ["truth", "synthesise", str(tmp_path), "--to", "pots", "-n", "10", "-o", root]
    done = runner.invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["counts"]["documents with a question"] == 3
    shown = runner.invoke(app, [*words, "--seed", "1"])
    assert "covered: 3 of 3 documents, 3 of 3 topics" in shown.output
    assert "questions are extracted by rules" in shown.output
    accepted = runner.invoke(app, ["truth", "accept", "pots", "--all", "-o", root])
    assert accepted.exit_code == 0, accepted.output
    assert all(case.standing == "accepted" for case in TruthStore(root).read("pots").cases)
    for option in (["--persona", "a sailor"], ["--language", "de"], ["--style", "rude"]):
        assert isinstance(runner.invoke(app, [*words, *option]).exception, UsageError)
