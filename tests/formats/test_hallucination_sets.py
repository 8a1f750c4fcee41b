"""LLM-AggreFact, HaluBench and RAGTruth under the names that they are published with."""

import json
import time

import pytest

from ragstone.errors import InputError, UsageError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.hallucination_sets import _passages

DOC = "The boat leaves at nine. It takes 40 minutes."
SPAN = {"start": 3, "end": 6, "text": "ten", "label_type": "Evident Conflict"}
AGGREFACT = [
    {
        "dataset": "RAGTruth",
        "doc": DOC,
        "claim": f"The boat leaves at {hour}.",
        "label": label,
        "contamination_identifier": "x",
    }
    for hour, label in (("nine", 1), ("ten", 0))
]
HALUBENCH = [
    {
        "id": word,
        "passage": DOC,
        "question": "When?",
        "answer": f"At {word}.",
        "label": label,
        "source_ds": "FinanceBench",
    }
    for word, label in (("nine", "PASS"), ("ten", "FAIL"))
]
PROCESSED = [
    {"id": "1", "query": "When?", "context": f"passage 1:{DOC}\n\npassage 2:It is red.", "output": f"At {word}.",
     "hallucination_labels": json.dumps(spans)}
    for word, spans in (("nine", []), ("ten", [SPAN]))
]  # fmt: skip
RESPONSES = [
    {"id": word, "source_id": "7", "model": "m", "labels": spans, "split": "test", "response": f"At {word}."}
    for word, spans in (("nine", []), ("ten", [SPAN]))
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("rows", [AGGREFACT, HALUBENCH, PROCESSED])
def test_labels_texts_and_answers_are_found_by_their_names(tmp_path, rows):
    path = write(tmp_path / "set.jsonl", [{**row, "id": number} for number, row in enumerate(rows)])
    assert open_reader(path).format.name == "hallucination_sets"
    nine, ten = read_dataset(path)
    assert (nine.metadata["supported"], ten.metadata["supported"]) == (True, False)
    assert (nine.answer[-5:], ten.answer[-4:]) == ("nine.", "ten.")
    assert nine.contexts[0].text == DOC
    assert len(nine.contexts) == (2 if rows is PROCESSED else 1)


@pytest.mark.parametrize(
    ("info", "question", "texts"),
    [
        (
            {"question": "When?", "passages": f"passage 1:{DOC}\n\npassage 2:It is red.\n\n"},
            "When?",
            [DOC, "It is red."],
        ),
        (DOC, None, [DOC]),
        ({"name": "Boat House", "stars": 4.5}, None, ['{"name": "Boat House", "stars": 4.5}']),
    ],
)
def test_the_two_files_of_ragtruth_are_joined(tmp_path, info, question, texts):
    answers = write(tmp_path / "response.jsonl", RESPONSES)
    sources = write(tmp_path / "source_info.jsonl", [{"source_id": "7", "task_type": "QA", "source_info": info}])
    for files in ([answers, sources], [sources, answers]):
        nine, ten = read_dataset(files)
        assert (nine.question, [chunk.text for chunk in nine.contexts]) == (question, texts)
        assert (nine.metadata["supported"], ten.metadata["supported"]) == (True, False)
        assert ten.metadata["labels"] == [SPAN]
        assert ten.metadata["task_type"] == "QA"


def test_mistakes_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"name the file with their texts too: source_info\.jsonl"):
        list(read_dataset(write(tmp_path / "response.jsonl", RESPONSES)))
    with pytest.raises(InputError, match="neither 0, 1, PASS nor FAIL"):
        list(read_dataset(write(tmp_path / "set.jsonl", [{**AGGREFACT[0], "label": "perhaps"}])))


@pytest.mark.parametrize("missing", [None, "", "none"])
def test_an_answer_without_labels_is_not_taken_for_supported(tmp_path, missing):
    with pytest.raises(InputError, match="has no list of labels"):
        list(read_dataset(write(tmp_path / "set.jsonl", [{**PROCESSED[0], "hallucination_labels": missing}])))
    sources = write(tmp_path / "source_info.jsonl", [{"source_id": "7", "source_info": DOC}])
    answers = write(tmp_path / "response.jsonl", [{**RESPONSES[0], "labels": missing}])
    with pytest.raises(InputError, match="has no list of labels"):
        list(read_dataset([answers, sources]))


def test_many_empty_lines_are_read_in_linear_time():
    started = time.process_time()
    assert _passages("\n" * 100_000 + "passage 1:a\n  passage 2: b") == ["a", "b"]
    assert time.process_time() - started < 20
