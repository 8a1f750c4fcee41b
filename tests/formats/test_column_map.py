"""Files with other column names."""

import pytest

from ragstone.errors import UnknownColumnsError
from ragstone.formats import open_reader, read_dataset


def notes(rows, **options):
    reader = open_reader(rows, **options)
    list(reader.batches())
    return reader.report.notes


def test_a_column_reference_is_read_as_references():
    rows = [{"question": "When does it leave?", "answer": "At nine.", "reference": "9"}]
    (sample,) = read_dataset(rows)
    assert sample.references == ["9"]
    (sample,) = read_dataset(rows, format="ragstone")
    assert (sample.references, sample.metadata) == (None, {"reference": "9"})


def test_a_field_that_a_row_has_is_never_replaced():
    rows = [{"question": "a?", "answer": "b", "gold": "c"}] * 30 + [
        {"question": "a?", "answer": "b", "gold": "c", "references": ["d"]}
    ]
    *_, last = read_dataset(rows)
    assert (last.references, last.metadata) == (["d"], {"gold": "c"})


def test_a_mapped_column_wins_over_a_guess():
    rows = [{"question": "a?", "output": "b", "gold": "c", "other": "d"}]
    (sample,) = read_dataset(rows, renames={"references": "other"})
    assert (sample.answer, sample.references, sample.metadata) == ("b", ["d"], {"gold": "c"})


def test_answers_beside_right_answers_are_doubted():
    rows = [{"question": "When does it leave?", "answer": "9", "model_answer": "It leaves at nine."}]
    assert notes(rows) == [
        "there are columns 'answer' and 'model_answer'. If 'answer' is the right answer, "
        "add --map answer=model_answer --map references=answer"
    ]
    (sample,) = read_dataset(rows, renames={"answer": "model_answer", "references": "answer"})
    assert (sample.answer, sample.references) == ("It leaves at nine.", ["9"])


def test_documents_that_are_texts_are_doubted():
    long = "The boat leaves at nine in the morning and comes back at five in the evening, on every day but Sunday."
    assert "--map contexts=documents" in notes([{"question": "a?", "answer": "b", "documents": [long]}])[0]
    assert notes([{"question": "a?", "answer": "b", "documents": ["timetable.md"]}]) == []


def test_a_file_of_unknown_names_gets_the_options_that_fit():
    rows = [{"x": f"When does boat {n} leave?", "y": f"The boat {n} leaves at nine."} for n in range(3)]
    with pytest.raises(UnknownColumnsError) as caught:
        open_reader(rows)
    assert caught.value.options == ["--map", "question=x", "--map", "answer=y"]
    with pytest.raises(UnknownColumnsError, match="--map question=COLUMN"):
        open_reader([{"x": 1, "y": 2}])


def test_a_file_is_not_read_in_part():
    rows = [
        {"Antwort": f"Um {n} Uhr.", "Soll": f"{n} Uhr", "Frage der Praxis": f"Wann kommt Nummer {n}?"} for n in range(3)
    ]
    with pytest.raises(UnknownColumnsError) as caught:
        open_reader(rows)
    assert caught.value.options == [
        *("--map", "question=Frage der Praxis", "--map", "answer=Antwort", "--map", "references=Soll"),
    ]


def test_numbered_columns_are_joined():
    rows = [{"question": "a?", "c_1": "first", "c_10": "third", "c_2": "second", "c_3": "", "c_x": "no"}]
    (sample,) = read_dataset(rows, renames={"contexts": "c_*"})
    assert [chunk.text for chunk in sample.contexts] == ["first", "second", "third"]
    assert sample.metadata == {"c_x": "no"}
