"""Columns of strangers' files, by name and by content."""

import shlex

import pytest

from ragstone.errors import UnknownColumnsError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.column_guess import guess_columns, map_options, numbered_columns
from tests.formats.made_tables import FIRST, LIGHTHOUSE, SECOND, Made, write

EVERY = [*FIRST, *SECOND]


def understood(path):
    """What a reader takes as our fields or suggests, and what it takes without being asked."""
    try:
        reader = open_reader(path)
    except UnknownColumnsError as error:
        return dict(word.split("=", 1) for word in error.options[1::2]), {}
    [source] = reader.sources
    read = {reader.format.columns[name]: name for name in source.columns if name in reader.format.columns}
    for remark in source.remarks:
        if remark.startswith("columns read by their names: "):
            listed = remark.removeprefix("columns read by their names: ").partition(". Use")[0]
            read |= dict(pair.split("=", 1) for pair in listed.split(", "))
    suggested = {}
    for remark in source.remarks:
        if "--map " in remark and not remark.startswith("columns read"):
            suggested |= dict([shlex.split(remark[remark.rindex("--map ") :])[1].split("=", 1)])
    return {**suggested, **read}, read


@pytest.mark.parametrize("made", EVERY, ids=lambda made: made.file)
def test_the_mapping_is_exactly_right_and_nothing_is_read_wrongly(made, tmp_path):
    both, read = understood(write(made, tmp_path))
    assert read.items() <= made.right.items()
    assert both == made.right


@pytest.mark.parametrize("made", EVERY, ids=lambda made: made.file)
def test_the_suggested_mapping_reads_the_right_texts(made, tmp_path):
    samples = list(read_dataset(write(made, tmp_path), columns=made.right if made.file != "nested.jsonl" else None))
    assert len(samples) == len(made.rows)
    for sample, row in zip(samples, made.rows, strict=True):
        given = {key.strip(): value for key, value in row.items()}
        assert sample.question == given[made.right["question"]]
        assert sample.answer == given[made.right["answer"]]
        if "contexts" in made.right:
            assert sample.contexts


def test_a_file_with_well_known_names_is_read_with_a_note(tmp_path):
    made = Made("a.jsonl", [{"prompt": r.question, "output": r.answer, "gold": r.reference} for r in LIGHTHOUSE], {})
    reader = open_reader(write(made, tmp_path))
    assert sum(batch.num_rows for batch in reader.batches()) == len(LIGHTHOUSE)
    assert reader.report.notes == [
        "columns read by their names: question=prompt, answer=output, references=gold. "
        "Use --map for another choice; --format ragstone turns this off"
    ]


def test_two_columns_for_one_field_are_not_read():
    rows = [{"input": "What is it?", "gpt_answer": "a long answer", "llama_answer": "another long answer"}]
    guess = guess_columns(rows, ["question", "answer"], is_whole=True)
    assert guess.sure == {"question": "input"}
    assert guess.likely == {"answer": "gpt_answer"}
    assert guess.rivals == {"answer": ["llama_answer"]}


def test_an_id_that_may_repeat_in_the_rest_of_a_file_is_not_read():
    rows = [{"qid": f"q{n}", "query": "why?", "output": "because of it"} for n in range(5)]
    assert guess_columns(rows, ["id", "question", "answer"], is_whole=False).likely == {"id": "qid"}
    assert guess_columns(rows, ["id", "question", "answer"], is_whole=True).sure["id"] == "qid"
    repeated = [{**row, "qid": "q1"} for row in rows]
    assert "id" not in guess_columns(repeated, ["id", "question", "answer"], is_whole=True).all


def test_numbered_columns_are_in_the_order_of_their_numbers():
    columns = ["c_10", "c_2", "c_1", "c_x", "c_source"]
    assert numbered_columns("c_*", columns) == ["c_1", "c_2", "c_10"]
    assert numbered_columns("c_1", columns) == []


def test_options_are_quoted_for_the_shell():
    assert map_options({"answer": "my output", "contexts": "c_*"}) == "--map 'answer=my output' --map 'contexts=c_*'"
