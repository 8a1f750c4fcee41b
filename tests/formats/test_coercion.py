"""Values that do not fit their field: the field, the entry, what it should be."""

import pytest

from tests.formats.complaints import GOOD, complaint, notes_of, save


def test_duplicate_ids(tmp_path):
    lines = [{"id": name, "question": name} for name in ("a", "b", "c", "d", "b")]
    expected = "1 problem\n  line 5: id: the id 'b' was used before (ids must be unique in a file)"
    assert complaint(save(tmp_path, lines)) == expected


def test_relevance_that_nothing_retrieved_is_a_note(tmp_path):
    lines = [{"question": "a", "contexts": [{"text": "t", "id": "d1"}], "relevance": {"d1": 1, "d7": 1}}]
    (note,) = notes_of(save(tmp_path, lines))
    assert note == (
        "relevance names 1 of 2 chunk ids that no row retrieved, for example 'd7' (line 1); they count as misses. "
        "If this is unexpected, compare the ids."
    )


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        (
            "contexts",
            ["a", {"text": "b"}],
            "mixes a mapping and text (make every chunk a text, or every chunk {text, id, score, source, page, image, table})",
        ),
        (
            "contexts",
            ["a", None],
            "mixes nothing and text (make every chunk a text, or every chunk {text, id, score, source, page, image, table})",
        ),
        ("contexts", [1, 2.5], "entry 1 must be a text or {text, id, score, source, page, image, table}, got a number"),
        (
            "contexts",
            [{"text": "a"}, {"page_content": "b"}],
            "entry 2 has no text; its keys are page_content (name the part that is the text: --map contexts.text=PART)",
        ),
        ("contexts", [{"text": "a", "score": "high"}], "entry 1 (score) must be a number, got 'high'"),
        ("contexts", [{"text": "a", "score": 10**400}], f"entry 1 (score) must be a number, got {str(10**400)[:60]}…"),
        ("contexts", [{"text": "a", "id": [1]}], "entry 1 (id) must be text or a whole number, got a list"),
        (
            "contexts",
            {"found": {"hits": [{"text": "a"}]}},
            "must be a list, got a mapping (name the list in it: --map contexts=COLUMN.found.hits)",
        ),
        ("contexts", 7, "must be a list, got a number"),
        ("question", ["a"], "must be text, got a list"),
        ("references", ["a", {"b": 1}], "entry 2 must be text, got a mapping"),
        ("relevance", {"d1": "high"}, "the grade of 'd1' must be a number, got 'high'"),
        ("relevance", {"d1": 1, "d2": float("nan")}, "the grade of 'd2' must be a finite number, got nan"),
        (
            "relevance",
            [{"id": "d1", "grade": 1}, {"id": "d1", "grade": 2}],
            "grades 'd1' as 1 and as 2 (give each id one grade)",
        ),
        (
            "facts",
            [{"text": "a", "kind": "rumour"}],
            "entry 1 has the kind 'rumour' (a fact is a citation or a statement)",
        ),
        ("answerable", "perhaps", "must be true or false, got 'perhaps'"),
        ("metadata", "topic", "must be a mapping, got text (put single values into separate columns)"),
        ("id", " ", "is empty (leave the field out to get an id made from the question)"),
        ("answer_claims_in_reference", ["yes"], "entry 1 must be one of entailment, neutral, contradiction, got 'yes'"),
    ],
)
def test_value_that_does_not_fit(tmp_path, field, value, expected):
    assert complaint(save(tmp_path, [GOOD, GOOD | {field: value}])) == f"1 problem\n  line 2: {field}: {expected}"


def test_every_problem_of_a_row_is_told(tmp_path):
    message = complaint(save(tmp_path, [{"question": 1, "contexts": 7, "answerable": "perhaps"}]))
    assert [line.split(": ")[1] for line in message.splitlines()[1:]] == ["contexts", "answerable"]


def test_verdicts_that_do_not_fit_their_claims(tmp_path):
    row = GOOD | {"contexts": ["one"], "answer_claims": ["a", "b"], "answer_claims_in_contexts": [["neutral"], []]}
    row["answer_claims_in_reference"] = ["neutral"]
    assert complaint(save(tmp_path, [row])) == (
        "2 problems\n"
        "  line 1: answer_claims_in_reference: has 1 entries for the 2 of answer_claims (write one per claim)\n"
        "  line 1: answer_claims_in_contexts: entry 2 has 0 verdicts for the 1 of contexts (write one per chunk)"
    )


def test_metadata_that_a_column_contradicts(tmp_path):
    row = GOOD | {"topic": "a", "metadata": {"topic": "b"}}
    expected = (
        "1 problem\n  line 1: metadata: contains 'topic', and there is also a column 'topic' (rename one of the two)"
    )
    assert complaint(save(tmp_path, [row])) == expected


def test_parts_of_chunks_that_have_no_place_are_a_note(tmp_path):
    row = GOOD | {"contexts": [{"text": "a", "section": 3}]}
    expected = "fields of chunks that are ignored: 1, for example 'section'; chunks have text, id, score, source, page, image and table; --map contexts.source=NAME reads another field"
    assert notes_of(save(tmp_path, [row])) == [expected]
    row = GOOD | {"contexts": [{"text": "a", "section": 3, "doc_id": "x"}]}
    assert "--map contexts.id=doc_id reads another field" in notes_of(save(tmp_path, [row]))[0]


def test_the_part_of_a_chunk_that_is_its_text_is_kept(tmp_path):
    rows = [GOOD | {"contexts": [{"body": "a"}]}]
    assert notes_of(save(tmp_path, rows)) == ["the text of a chunk is its part 'body'"]
    rows = [GOOD | {"contexts": [{"body": "a", "section": 3}]}]
    assert any("ignored: 1, for example 'section'" in note for note in notes_of(save(tmp_path, rows)))


def test_many_problems_are_counted_but_not_all_shown(tmp_path):
    message = complaint(save(tmp_path, [{"question": [], "answer": "a"}] * 300))
    assert message.startswith("300 problems\n")
    assert message.endswith("got a list\n  … and 200 more")
