"""Files with one row per passage: what is put together, what stays apart, and where reading stops."""

import csv
import io
import json
import random

import pytest
from click.testing import CliRunner

import ragstone
from ragstone.cli.app import app
from ragstone.data.dataset import view_samples
from ragstone.errors import UsageError
from ragstone.formats import open_reader, read_dataset

PASSAGES = {
    "q1": ["The last boat leaves at 21:40.", "A ticket costs 5 euros.", "Dogs travel free."],
    "q2": ["The museum opens at nine.", "The museum is closed on Monday."],
}
ANSWERS = {"q1": "The last boat leaves at 21:40. A ticket costs 5 euros.", "q2": "The museum opens at nine."}
QUESTIONS = {"q1": "When does the last boat leave?", "q2": "When does the museum open?"}


def rows(answer_in="first", **more):
    """Rows as open-rag-eval writes them."""
    found = []
    for name, passages in PASSAGES.items():
        for number, passage in enumerate(passages, start=1):
            given = answer_in == "all" or number == (1 if answer_in == "first" else len(passages))
            row = {"query_id": name, "query": QUESTIONS[name], "passage_id": f"{name}p{number}", "passage": passage}
            row |= {} if answer_in == "none" else {"generated_answer": ANSWERS[name] if given else ""}
            found.append(row | {key: value(name, number) for key, value in more.items()})
    return found


def write(path, found):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(found[0]))
    writer.writeheader()
    writer.writerows(found)
    path.write_text(text.getvalue() if path.suffix == ".csv" else "\n".join(map(json.dumps, found)))
    return str(path)


def check(samples, answered=True):
    assert [sample.question for sample in samples] == list(QUESTIONS.values())
    assert [sample.answer for sample in samples] == [ANSWERS[name] if answered else None for name in QUESTIONS]
    assert [[chunk.text for chunk in sample.contexts] for sample in samples] == list(PASSAGES.values())


@pytest.mark.parametrize("answer_in", ["first", "last", "all", "none"])
@pytest.mark.parametrize("name", ["export.csv", "export.jsonl"])
def test_one_sample_per_question(tmp_path, name, answer_in):
    samples = list(
        read_dataset(write(tmp_path / name, rows(answer_in)), columns=MAPPED if answer_in == "none" else None)
    )
    check(samples, answer_in != "none")
    assert [sample.id for sample in samples] == ["q1", "q2"]
    assert [chunk.id for chunk in samples[0].contexts] == ["q1p1", "q1p2", "q1p3"]


MAPPED = {"question": "query", "contexts": "passage"}


def test_the_score_is_that_of_the_whole_answer():
    run = ragstone.evaluate(rows(), ["k_precision"])
    assert run.scores["value"].to_pylist() == [1.0, 1.0]


def test_any_order_by_rank_and_parts_of_chunks():
    found = rows("all", rank=lambda _, number: number, score=lambda _, number: 1 / number, url=lambda *both: f"{both}")
    random.Random(1).shuffle(found)
    samples = sorted(read_dataset(found), key=lambda sample: sample.id)
    check(samples)
    assert [chunk.score for chunk in samples[1].contexts] == [1.0, 0.5]
    assert samples[0].contexts[2].source == "('q1', 3)"


def test_our_own_names_and_repeated_ids():
    found = [
        {"id": name, "question": QUESTIONS[name], "answer": ANSWERS[name], "contexts": [text]}
        for name, passages in PASSAGES.items()
        for text in passages
    ]
    check(list(read_dataset(found)))
    check(list(read_dataset([{**row, "contexts": row["contexts"][0]} for row in found])))


def test_cells_that_a_spreadsheet_left_empty(tmp_path):
    found = rows()
    for row in found:
        if not row["generated_answer"]:
            row["query"] = row["query_id"] = ""
    check(list(read_dataset(write(tmp_path / "merged.csv", found))))


def test_two_runs_of_a_question():
    first, second = rows(), rows()
    for row in second:
        row["generated_answer"] = row["generated_answer"] and f"Again: {row['generated_answer']}"
    samples = list(read_dataset([*first, *second]))
    assert [len(sample.contexts) for sample in samples] == [3, 3, 2, 2]


@pytest.mark.parametrize(
    "found",
    [
        # Answers of several systems, or to a question that was asked again.
        [{"question": q, "answer": f"{q} {n}", "contexts": [f"c{n}"]} for q in "ab" for n in range(3)],
        [{"question": q, "answer": "yes", "contexts": [f"c{n}"], "repeat_of": q} for q in "ab" for n in range(3)],
        [{"question": q, "answer": ["yes", "yes", "no"][n], "contexts": [f"c{n}"]} for q in "ab" for n in range(3)],
        # The same chunk again, lists of chunks, and another truth.
        [{"question": q, "answer": "yes", "contexts": ["c"]} for q in "ab" for n in range(3)],
        [{"question": q, "answer": "yes", "contexts": [f"c{n}", "d"]} for q in "ab" for n in range(3)],
        [{"question": q, "references": [f"{n}"], "contexts": [f"c{n}"]} for q in "ab" for n in range(3)],
        # Ids say that the rows are samples.
        [{"id": f"{q}{n}", "question": q, "answer": "yes", "contexts": [f"c{n}"]} for q in "ab" for n in range(3)],
        # One question of many occurs twice.
        [{"question": f"q{min(n, 8)}", "answer": "yes", "contexts": [f"c{n}"]} for n in range(10)],
    ],
)
def test_rows_that_stay_apart(found):
    assert len(read_dataset(found)) == len(found)


def test_lists_of_one_chunk_are_samples():
    found = [{"question": q, "answer": "yes", "contexts": [f"c{n}"]} for q in "ab" for n in range(3)]
    reader = open_reader(found)
    assert sum(batch.num_rows for batch in reader.batches()) == 6
    assert not any("group" in note for note in reader.report.notes)


def test_rows_with_ids_are_noted():
    found = [{"id": f"{q}{n}", "question": q, "answer": "yes", "contexts": f"c{n}"} for q in "ab" for n in range(3)]
    reader = open_reader(found)
    next(reader.batches())
    assert any("add --map group=question" in note for note in reader.report.notes)
    assert len(read_dataset(found, columns={"group": "question"})) == 2


SYSTEMS = [
    {"query": q, "system": s, "answer": "yes", "contexts": f"c{s}"} for q in ("When?", "Where?") for s in ("one", "two")
]
BARE = [{"query": q, "answer": "yes", "contexts": f"c{n}"} for q in ("When?", "Where?") for n in range(2)]


@pytest.mark.parametrize(("found", "finer"), [(SYSTEMS, " (or --map group=query,system)"), (BARE, "")])
def test_reading_stops_with_the_commands(found, finer):
    with pytest.raises(UsageError) as caught:
        read_dataset(found)
    assert f"add --map group=query{finer}; if each row is a sample, add --map group=none" in str(caught.value)
    assert len(read_dataset(found, columns={"group": "query"})) == 2
    assert len(read_dataset(found, columns={"group": "none"})) == 4
    if finer:
        assert len(read_dataset(found, columns={"group": "query,system"})) == 4


def test_named_columns_join_lists_of_chunks():
    found = [{"ticket": 1, "question": "q?", "answer": "a", "contexts": ["c", "d"]}]
    found += [{"ticket": 1, "question": "q?", "contexts": ["e"]}]
    [sample] = read_dataset(found, columns={"group": "ticket"})
    assert (sample.id, [chunk.text for chunk in sample.contexts]) == ("1", ["c", "d", "e"])
    with pytest.raises(UsageError, match="no row has a value in the column 'tiket'"):
        read_dataset(found, columns={"group": "tiket"})


@pytest.mark.parametrize("command", ["validate", "convert", "run"])
def test_commands(tmp_path, command):
    path = write(tmp_path / "export.csv", rows())
    more = {"convert": ["-o", str(tmp_path / "out.jsonl")], "run": ["-m", "k_precision", "--out", str(tmp_path)]}
    printed = CliRunner().invoke(app, [command, path, *more.get(command, [])])
    assert printed.exit_code == 0
    assert "5 rows with one passage each are read as 2 samples" in printed.output
    apart = CliRunner().invoke(app, [command, path, "--map", "group=none", *more.get(command, [])])
    assert apart.exit_code == 0
    assert "read as 2 samples" not in apart.output


def test_an_ordinary_file_is_read_as_a_stream(monkeypatch):
    found = [{"question": f"q{n}", "answer": "yes", "contexts": [f"c{n}"]} for n in range(1_000)]
    reader = open_reader(found)
    monkeypatch.setattr("ragstone.formats.passage_rows._group", lambda *_: pytest.fail("all rows were kept"))
    assert sum(1 for batch in reader.batches() for _ in view_samples(batch)) == 1_000
