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
    (sample,) = read_dataset(rows, columns={"references": "other"})
    assert (sample.answer, sample.references, sample.metadata) == ("b", ["d"], {"gold": "c"})


def test_answers_beside_right_answers_are_doubted():
    rows = [{"question": "When does it leave?", "answer": "9", "model_answer": "It leaves at nine."}]
    assert notes(rows) == [
        "there are columns 'answer' and 'model_answer'. If 'answer' is the right answer, "
        "add --map answer=model_answer --map references=answer"
    ]
    (sample,) = read_dataset(rows, columns={"answer": "model_answer", "references": "answer"})
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
    (sample,) = read_dataset(rows, columns={"contexts": "c_*"})
    assert [chunk.text for chunk in sample.contexts] == ["first", "second", "third"]
    assert sample.metadata == {"c_x": "no"}


TICKETS = [
    {
        "ticket_id": f"T-{n}",
        "user_query": f"When does boat {n} leave?",
        "bot_reply": f"Boat {n} leaves at nine.",
        "gold": "At nine.",
    }
    for n in range(6)
]


def test_a_mapped_column_is_not_suggested_again():
    mapped = {"id": "ticket_id", "question": "user_query"}
    assert notes(TICKETS, columns={"id": "ticket_id"}) == [
        "columns read by their names: question=user_query, answer=bot_reply, references=gold. "
        "Use --map for another choice; --format ragstone turns this off"
    ]
    own = [
        {"question": row["user_query"], "ticket_id": row["ticket_id"], "answer": row["bot_reply"]} for row in TICKETS
    ]
    assert notes(own, columns={"id": "ticket_id"}) == []
    assert "=ticket_id" not in " ".join(notes(TICKETS, columns=mapped))
    assert "=user_query" not in " ".join(notes(TICKETS, columns=mapped))


def test_mapped_columns_count_as_known():
    rows = [{"x": f"When does boat {n} leave?", "y": f"The boat {n} leaves at nine.", "z": "yes"} for n in range(3)]
    (sample, *_) = read_dataset(rows, columns={"question": "x", "answer": "y"})
    assert (sample.question, sample.answer) == ("When does boat 0 leave?", "The boat 0 leaves at nine.")


def test_a_unique_column_that_ends_with_id_is_the_id():
    assert [sample.id for sample in read_dataset(TICKETS)][:2] == ["T-0", "T-1"]
    assert "id=ticket_id" in notes(TICKETS)[0]
    own = [
        {"question": row["user_query"], "ticket_id": row["ticket_id"], "answer": row["bot_reply"]} for row in TICKETS
    ]
    assert [sample.id for sample in read_dataset(own)][:2] == ["T-0", "T-1"]
    with_id = [{**row, "id": f"mine-{row['ticket_id']}"} for row in own]
    assert [sample.id for sample in read_dataset(with_id)][:2] == ["mine-T-0", "mine-T-1"]
    repeated = [*own, {**own[0], "question": "Another?"}]
    assert next(iter(read_dataset(repeated))).id.startswith("q-")


def test_two_columns_that_end_with_id_are_not_read():
    rows = [{**row, "trace_id": f"x{n}"} for n, row in enumerate(TICKETS)]
    assert next(iter(read_dataset(rows))).id.startswith("q-")


ODD = [
    {
        "utterance": f"How much does ride {n} cost?",
        "generated_text_final": f"Ride {n} costs 1 euro to unlock plus 15 cents per minute.",
        "kb_rows": f"Unlocking bike {n} costs 1 euro. Every minute costs 15 cents. Day passes cost 12 euros and cover rides.",
        "human_label_text": f"Unlocking {n} costs 1 euro and each minute 15 cents.",
    }
    for n in range(14)
]


def test_two_rows_do_not_tell_answers_from_chunks():
    with pytest.raises(UnknownColumnsError) as caught:
        open_reader(ODD[:2])
    assert caught.value.options == []
    assert str(caught.value).endswith(
        "A guess by names and content, to be checked: --map question=utterance --map answer=COLUMN. "
        "Not mapped: generated_text_final, kb_rows, human_label_text"
    )


def test_a_guess_names_the_texts_that_it_leaves_out():
    with pytest.raises(UnknownColumnsError, match=r"Not mapped: human_label_text$") as caught:
        open_reader(ODD)
    assert "question=utterance" in caught.value.options


def test_the_guess_names_the_text_between_chunks(tmp_path):
    rows = [
        {
            "Thema 1": f"What does space {n} cost?",
            "Bot says": f"It costs {n} euros per day.",
            "Treffer": f"space {n} costs {n} euros||parking is open||the lift is out of order today",
        }
        for n in range(6)
    ]
    with pytest.raises(UnknownColumnsError) as error:
        open_reader(rows)
    assert error.value.options[-2:] == ["--split-contexts", "||"]
    with pytest.raises(UnknownColumnsError) as error:
        open_reader(rows, split_contexts="||")
    assert "--split-contexts" not in error.value.options


HITS = [{"text": "The boat leaves at nine from the north pier.", "score": 0.9}, {"text": "Tickets are sold on board."}]
LOGGED = [
    {
        "asked": f"When does boat {n} leave?",
        "reply": f"Boat {n} leaves at nine.",
        "retrieval": {"index": "v1", "hits": HITS},
    }
    for n in range(4)
]


def test_chunks_in_a_mapping_are_in_the_guess():
    with pytest.raises(UnknownColumnsError, match=r"--map contexts=retrieval\.hits") as caught:
        open_reader(LOGGED)
    columns = dict(word.split("=", 1) for word in caught.value.options[1::2])
    assert columns == {"question": "asked", "answer": "reply", "contexts": "retrieval.hits"}
    sample, *_ = read_dataset(LOGGED, columns=columns)
    assert [chunk.text for chunk in sample.contexts] == [hit["text"] for hit in HITS]
    assert sample.metadata == {"retrieval": {"index": "v1"}}


@pytest.mark.parametrize("name", ["retrieval", "chunks", "passages", "sources", "results", "retrieved", "metadata"])
@pytest.mark.parametrize("inner", ["hits", "found.items"])
def test_chunks_in_a_mapping_are_noted_if_none_are_read(name, inner):
    first, _, second = inner.partition(".")
    texts = [hit["text"] for hit in HITS]
    rows = [
        {"question": "When does it leave?", "answer": "At nine.", name: {first: {second: texts} if second else HITS}}
    ]
    path = f"{name}.{inner}"
    assert notes(rows) == [f"column '{path}' is kept as metadata. If it is the contexts, add --map contexts={path}"]
    assert notes(rows, columns={"contexts": path}) == []


@pytest.mark.parametrize(
    "inner", [{"tags": ["a", "b"]}, {"files": ["a.md"]}, {"comments": ["This is quite wrong, I think."]}, {"hits": []}]
)
def test_other_lists_in_mappings_are_not_noted(inner):
    assert notes([{"question": "When does it leave?", "answer": "At nine.", "about": inner}]) == []


def test_right_chunks_in_a_mapping_are_not_the_contexts():
    row = {"question": "When does it leave?", "answer": "At nine.", "debug": {"gold_documents": HITS}}
    assert notes([row]) == []


def test_nested_chunks_do_not_compete_with_a_column_of_chunks():
    rows = [{"prompt": "When?", "output": "At nine.", "docs": ["It leaves at nine."], "debug": {"hits": HITS}}]
    (sample,) = read_dataset(rows)
    assert [chunk.text for chunk in sample.contexts] == ["It leaves at nine."]


def test_a_line_that_cannot_be_read_is_named_next_to_the_columns(tmp_path):
    path = tmp_path / "cut.jsonl"
    path.write_text(
        '{"user_query": "When does it open?", "bot_reply": "At nine."\n{"user_query": "When does it close?"}\n'
    )
    with pytest.raises(UnknownColumnsError, match=r"Its columns are user_query.*line 1 is not JSON"):
        open_reader(str(path))
