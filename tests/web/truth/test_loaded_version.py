"""Lists, filters and problems of large versions, computed from columns."""

from dataclasses import replace

import pytest

from ragstone.truth.model import Case, TruthFact, cases_to_table
from ragstone.truth.review import Choice, choose
from ragstone.views.phrases import visible
from ragstone.web.truth import loaded_version
from ragstone.web.truth.loaded_version import HEAD_COLUMNS, LoadedVersion
from tests.web import truths


def load(cases):
    table = cases_to_table(cases)
    return LoadedVersion(None, table.select(HEAD_COLUMNS), lambda: table)


def problems(case, times_asked=1):
    return load([case, *(replace(case, id=f"{case.id} {copy}") for copy in range(1, times_asked))]).problems_at([0])[0]


def test_problems_of_a_case():
    first, second, third = truths.ferry()
    assert problems(first) == []
    assert problems(second, 2) == ["to review", "duplicate question"]
    assert problems(third) == []
    assert problems(replace(third, standing="proposed")) == ["to review"]
    assert problems(replace(third, references=["Ada"], question=" ")) == [
        "no question",
        "answer to an unanswerable question",
    ]
    assert problems(Case("x", "Why\u202e?")) == ["no answer", "no fact", "hidden characters"]


@pytest.mark.slow
@pytest.mark.parametrize("code", [*range(0xA1), *range(0x200B, 0x2012), *range(0x2026, 0x2030), *range(0x2064, 0x206C)])
def test_hidden_characters_are_those_that_are_made_visible(code):
    for text in (f"a{chr(code)}b", f"a{chr(code)}\n"):
        hidden = visible(text) != text.replace("\r\n", "\n")
        for case in (Case("x", text), Case("x", "?", [text]), Case("x", "?", [], [TruthFact("a"), TruthFact(text)])):
            assert ("hidden characters" in problems(case)) == hidden


def test_problems_are_the_same_for_some_rows_and_for_all():
    cases = [*truths.many(25), *truths.ferry(), *truths.many(3)]
    loaded = load([replace(case, id=f"{row}") for row, case in enumerate(cases)])
    masks = loaded.problems()
    rows = [30, 2, 26, 27, 0]
    assert loaded.problems_at(rows) == [[name for name, mask in masks.items() if mask[row]] for row in rows]
    assert loaded.problems_at([0]) == [["no fact", "to review", "duplicate question"]]


def test_the_queue_is_what_the_command_line_decides_on():
    cases = [
        *truths.many(25),
        *truths.ferry(),
        Case("u", "Who?", answerable=False, standing="proposed"),
        Case("v", "?"),
    ]
    cases.append(Case("w", "?", ["x"], standing="proposed"))
    rows = {case.id: row for row, case in enumerate(cases)}
    assert load(cases).proposed() == [(rows[item.case], item.position) for item in choose(cases, Choice())]
    assert load(cases).count_unanswerable() == 1
    assert load([Case("v", "?")]).proposed() == []


def test_lost_citations_are_found_by_row():
    assert load(truths.ferry()).lost_citations() == {1}
    assert load([replace(case, passages=[]) for case in truths.ferry()]).lost_citations() == frozenset()


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/truth/many.json", 50),
        ("/truth/many.json?q=boat+1049&standing=proposed&problem=to+review", 50),
        ("/truth/many/queue.json", 20),
        ("/truth/many/case.json?id=c7", 1),
    ],
)
def test_only_shown_cases_are_parsed(serve, root, monkeypatch, path, most):
    parsed = []
    parse = loaded_version.cases_from_table
    monkeypatch.setattr(loaded_version, "cases_from_table", lambda table: parsed.append(table.num_rows) or parse(table))
    assert serve(root).json(path)["truth"]["cases"] == 10_500
    assert 0 < sum(parsed) <= most
