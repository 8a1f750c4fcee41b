"""Questions made by a writer whose every reply is known: every count is asserted."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from click.testing import CliRunner

from ragstone.cli.app import app
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.citations.check import check_cases
from ragstone.truth.llm_tasks import Work
from ragstone.truth.store import TruthStore
from ragstone.truth.synthesis.pipeline import DUPLICATE, synthesise
from tests.formats.documents.making import make_pdf
from tests.oracle.server import OracleServer
from tests.oracle.trouble import after
from tests.truth.synthesis.harbour import documents, passages

ALL = passages()
MAREN = [passage for passage in ALL if passage.heading == "The Maren"]


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def _work(server: OracleServer, **options) -> Work:
    return Work("openai/oracle", ModelOptions(base_url=server.base_url, cache=False, **options), 4)


def _altering(wanted: str, change):
    return lambda prompt, body, reply: change(reply) if prompt == wanted else reply


def test_a_perfect_writer_gets_all_questions_kept() -> None:
    with OracleServer() as server:
        made = synthesise(ALL, 20, 0, _work(server))
    assert not server.problems
    assert made.counts == {
        "wanted": 20,
        "tried": 28,
        "kept": 20,
        "rejected": 8,
        "failed": 0,
        "kind several": 4,
        "kind comparison": 1,
        "kind single": 8,
        "kind table": 3,
        "kind paraphrase": 1,
        "kind unanswerable": 1,
        "kind conversational": 2,
        # Nothing was left to ask of that kind about the passage.
        "rejected: no question": 6,
        f"rejected: {DUPLICATE}": 2,
    }
    answered = sum(bool(case.answerable) for case in made.cases)
    assert dict(server.replies) == {
        "new_question": 28,
        "answer_from_passages": 20,
        "answer_match": answered,
        "answer_from_memory": answered,
    }
    assert len(made.calls) == 28 + 20 + 2 * answered


def test_cases_carry_what_a_reviewer_needs() -> None:
    with OracleServer() as server:
        made = synthesise(ALL, 20, 0, _work(server))
    assert len({case.id for case in made.cases}) == 20
    for case in made.cases:
        assert (case.provenance, case.standing) == ("synthetic", "proposed")
        assert {(fact.provenance, fact.standing) for fact in case.facts} <= {("synthetic", "proposed")}
        assert bool(case.references) == bool(case.facts) == case.answerable
        assert case.documents == list(dict.fromkeys(chunk.source for chunk in case.passages))
        assert case.metadata["difficulty"] in ("easy", "medium", "hard")
        assert ("history" in case.metadata) == (case.metadata["kind"] == "conversational")
    checked = check_cases(made.cases)
    assert checked.total.share == 1.0
    assert checked.total.stands == checked.total.checked == sum(len(case.facts) for case in made.cases)


def test_coverage_says_what_has_no_question() -> None:
    with OracleServer() as server:
        made = synthesise(ALL, 3, 0, _work(server))
    used = {chunk.id for case in made.cases for chunk in case.passages}
    assert sum(item.passages_used for item in made.coverage) == len(used) < len(ALL)
    assert sum(item.passages for item in made.coverage) == len(ALL)
    assert sum(len(item.unused) for item in made.coverage) == sum(
        item.sections - item.sections_used for item in made.coverage
    )
    assert all(item.questions == 0 for item in made.coverage if item.passages_used == 0)


def test_comparisons_need_both_passages() -> None:
    with OracleServer() as server:
        made = synthesise(MAREN, 10, 0, _work(server))
    found = [case for case in made.cases if case.metadata["kind"] == "comparison"]
    assert len(found) == 1
    assert found[0].documents in (["east.md", "crew.md"], ["crew.md", "east.md"])
    assert len(found[0].facts) == 2


def test_what_is_known_without_the_source_is_rejected() -> None:
    """A server that answers from memory whatever it is asked: right where the answer says the same, wrong elsewhere."""
    with OracleServer() as server:
        made = synthesise(ALL, 6, 0, _work(server))
    right = {case.question: case.references[0] for case in made.cases if case.answerable}

    def alter(prompt, body, reply):
        if prompt != "answer_from_memory":
            return reply
        asked = next((text for text in right if text in body["messages"][-1]["content"]), None)
        known = asked == first
        return {"answerable": True, "answer": right[asked] if asked and known else "The Maren carries barley."}

    first = next(iter(right))
    with OracleServer(alter=alter) as server:
        again = synthesise(ALL, 6, 0, _work(server))
    assert [item.question for item in again.rejected if item.reason == "the model answers it without its source"] == [
        first
    ]
    assert first not in {case.question for case in again.cases}
    assert len(again.cases) == 6


ANSWERED = "the documents answer an unanswerable question"


@pytest.mark.parametrize(
    ("prompt", "change", "reason"),
    [
        (
            "new_question",
            lambda reply: {**reply, "citations": ["A tale."]},
            "a citation is not in the passages: absent",
        ),
        ("new_question", lambda reply: {**reply, "citations": []}, "no citation"),
        ("new_question", lambda reply: {**reply, "answer": " "}, "no answer"),
        (
            "new_question",
            lambda reply: {**reply, "question": f"By this text: {reply['question']}"},
            "it mentions its source text",
        ),
        ("answer_from_passages", lambda _: {"answerable": False, "answer": ""}, "its source does not answer it"),
        (
            "answer_from_passages",
            lambda _: {"answerable": True, "answer": "The Maren is 1 metres long."},
            "its source gives another answer",
        ),
        (
            "answer_from_passages",
            lambda reply: {"answerable": True, "answer": reply["answer"] or "Yes."},
            ANSWERED,
        ),
    ],
)
def test_each_fault_has_its_reason(prompt, change, reason) -> None:
    with OracleServer(alter=_altering(prompt, change)) as server:
        made = synthesise(ALL, 20 if reason in ("no answer", ANSWERED) else 5, 0, _work(server))
    reasons = Counter(item.reason for item in made.rejected)
    assert reasons[reason] > 0, reasons
    allowed = {"unanswerable"} if reason != ANSWERED else set()
    if allowed:
        assert {case.metadata["kind"] for case in made.cases} <= allowed
    else:
        assert "unanswerable" not in {case.metadata["kind"] for case in made.cases}
    assert made.tried <= 60


def test_an_unanswerable_question_is_tried_with_all_documents() -> None:
    """The crew list lacks the launch of the Maren, but the register of the east has it."""
    ask = {"question": "About the Maren: when was it launched?", "answer": "", "citations": [], "history": []}
    with OracleServer(alter=_altering("new_question", lambda _: ask)) as server:
        made = synthesise(MAREN, 10, 1, _work(server))
    tried = [item for item in made.rejected if item.kind == "unanswerable"]
    assert {item.reason for item in tried} <= {ANSWERED, DUPLICATE}
    assert ANSWERED in {item.reason for item in tried}
    assert made.cases == []


def test_the_same_seed_makes_the_same_cases_and_asks_nothing_again(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    with OracleServer() as server:
        work = Work("openai/oracle", ModelOptions(base_url=server.base_url), 8)
        made = synthesise(ALL, 12, 5, work)
        asked = server.requests
        again = synthesise(ALL, 12, 5, work)
        assert server.requests == asked > 0
        assert again.cases == made.cases
        assert synthesise(ALL, 12, 6, work).cases != made.cases


def test_failures_end_the_work_and_keep_what_is_there() -> None:
    with OracleServer(trouble=after(14, "refusal")) as server:
        made = synthesise(ALL, 20, 0, Work("openai/oracle", ModelOptions(base_url=server.base_url, cache=False), 1))
    assert made.failed
    assert made.cases == [] or len(made.cases) < 20
    assert made.tried <= 40


def test_a_language_model_is_needed() -> None:
    with pytest.raises(UsageError, match="language model"):
        synthesise(ALL, 5, 0, Work("local"))
    with pytest.raises(UsageError, match="cannot write"):
        synthesise(ALL, 5, 0, Work("local>openai/oracle"))


def _write_documents(folder) -> None:
    for document in documents():
        text = "\n\n".join(f"# {part.heading}\n\n{part.text}" for part in document.sections)
        (folder / document.source).write_text(text)
    (folder / "scan.pdf").write_bytes(make_pdf([None, None]))


def test_the_command_quotes_makes_and_saves(tmp_path) -> None:
    pytest.importorskip("pypdf")
    folder, root = tmp_path / "docs", str(tmp_path / "store")
    folder.mkdir()
    _write_documents(folder)
    runner = CliRunner()
    with OracleServer() as server:
        words = [
            "truth",
            "synthesise",
            str(folder),
            "--judge",
            "openai/oracle",
            "--base-url",
            server.base_url,
            "-n",
            "8",
            "-o",
            root,
        ]
        quoted = runner.invoke(app, [*words, "--quote", "--json", "-q"])
        said = json.loads(quoted.output)
        assert (quoted.exit_code, server.requests) == (0, 0)
        # Each of eight questions is written and answered; the seven that have an answer are also matched and remembered.
        assert said["calls"] == 8 + 8 + 2 * 7
        assert runner.invoke(app, words).exit_code != 0
        done = runner.invoke(app, [*words, "--to", "ships"])
        assert done.exit_code == 0, done.output
        assert "skipped scan.pdf: its 2 pages contain no text" in done.output
        assert "8 of 8 questions kept" in done.output
        assert "saved as ships@1" in done.output
        again = runner.invoke(app, [*words, "--to", "ships", "--json"])
        assert json.loads(again.stdout)["saved"] == "ships@1"
    version = TruthStore(root).read("ships")
    assert version.info.rows == 8
    assert version.info.lineage.tools["seed"] == 0
    assert sorted(version.info.lineage.prompts) == [
        "answer_from_memory",
        "answer_from_passages",
        "answer_match",
        "new_question",
    ]
    assert version.info.lineage.counts["kept"] == 8


def test_the_command_tells_where_there_is_nothing_to_read(tmp_path) -> None:
    (tmp_path / "scan.pdf").write_bytes(make_pdf([None]))
    result = CliRunner().invoke(app, ["truth", "synthesise", str(tmp_path), "--judge", "openai/oracle", "--to", "x"])
    assert result.exit_code != 0
    assert "no document could be read: scan.pdf" in str(result.exception)
