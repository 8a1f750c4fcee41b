"""The same samples out of every container that a user may bring them in."""

import decimal
import gzip
import io
import json
import os
import types
from itertools import product

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from ragstone.data.types import Chunk, Sample
from ragstone.errors import InputError, UsageError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.sources import Source
from tests.each_case import each_case

ROWS = [
    {
        "id": "1",
        "question": "Wann fährt die Fähre?",
        "answer": "Um acht.",
        "contexts": ["Sie fährt um acht.", "Zehn Euro."],
    },
    {"id": "2", "question": "What do adults pay?", "answer": "Ten.", "contexts": []},
]
JSONL = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
CSV = "id,question,answer,contexts\n" + "".join(
    f'{row["id"]},{row["question"]},{row["answer"]},"{json.dumps(row["contexts"], ensure_ascii=False).replace(chr(34), chr(34) * 2)}"\n'
    for row in ROWS
)
EXPECTED = read_dataset(ROWS).fingerprint
CONTENTS = {
    "jsonl": JSONL,
    "jsonl without a last line end": JSONL.rstrip(),
    "jsonl with empty lines": "\n" + JSONL.replace("\n", "\n\n \n"),
    "jsonl with CRLF": JSONL.replace("\n", "\r\n"),
    "json list": json.dumps(ROWS, indent=2),
    "json list on one line": json.dumps(ROWS),
    "json document": json.dumps({"version": 1, "data": ROWS}, indent=1),
    "json document on one line": json.dumps({"data": ROWS}),
    "json document with rows at the margin": '{"samples": [\n' + ",\n".join(map(json.dumps, ROWS)) + "\n]}",
    "json columns": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    "csv": CSV,
    "csv with CRLF": CSV.replace("\n", "\r\n"),
}


@each_case("content, pack, bom", product(CONTENTS.values(), [bytes, gzip.compress], [b"", b"\xef\xbb\xbf"]))
def test_text(tmp_path, content, pack, bom):
    path = tmp_path / "data"
    path.write_bytes(pack(bom + content.encode()))
    assert read_dataset(str(path)).fingerprint == EXPECTED
    assert read_dataset(path).fingerprint == EXPECTED


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters(tmp_path, delimiter):
    path = tmp_path / "data.csv"
    cells = ["id", "question", "answer", "references", "documents", "topic"], ["1", "a", "b", '["c"]', "d", "e"]
    path.write_text("\n".join(delimiter.join(row) for row in cells) + "\n")
    (sample,) = read_dataset(str(path))
    assert sample == Sample("1", "a", "b", references=["c"], documents=["d"], metadata={"topic": "e"})


def test_document_longer_than_what_is_looked_at(tmp_path):
    filler = "x" * (2 << 20)
    rows = [{"question": "a", "answer": filler}, {"question": "b", "answer": "c"}]
    path = tmp_path / "data"
    for content in (json.dumps({"data": rows}), json.dumps({"question": ["a", "b"], "answer": [filler, "c"]})):
        path.write_text(content)
        assert [sample.question for sample in read_dataset(str(path))] == ["a", "b"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert Source(str(path)).kind == "jsonl"
    path.write_text(json.dumps(rows[0]))
    assert [sample.question for sample in read_dataset(str(path))] == ["a"]


def test_sample_with_an_empty_list_under_a_name_of_rows(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"question": "a", "results": []}')
    (sample,) = read_dataset(str(path))
    assert sample.metadata == {"results": []}


@pytest.mark.parametrize("content", [*CONTENTS.values()], ids=CONTENTS)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(gzip.compress(content.encode()))))
    reader = open_reader("-")
    assert pa.Table.from_batches(reader.batches()).num_rows == 2
    # What was read once can be read again: a run looks at the data before it stores it.
    assert pa.Table.from_batches(reader.batches()).num_rows == 2
    assert reader.name == "standard input"


def test_parquet_on_standard_input(monkeypatch):
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), stream)
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(stream.getvalue())))
    assert read_dataset("-").fingerprint == EXPECTED


def test_arrow_file(tmp_path):
    path = tmp_path / "data.feather"
    pyarrow.feather.write_feather(pa.Table.from_pylist(ROWS), str(path))
    assert read_dataset(str(path)).fingerprint == EXPECTED


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_parquet_row_groups(tmp_path, rows):
    path = tmp_path / "data.parquet"
    samples = [{"id": str(i), "question": f"q{i}", "contexts": ["x"] * (i % 3), "n": i} for i in range(50)]
    pq.write_table(pa.Table.from_pylist(samples), path, row_group_size=rows)
    assert read_dataset(str(path)).fingerprint == read_dataset(samples).fingerprint


def test_parquet_with_other_types(tmp_path):
    chunk = pa.struct(
        [("text", pa.large_string()), ("id", pa.int32()), ("score", pa.decimal128(5, 2)), ("source", pa.string())]
    )
    columns = {
        "id": pa.array([7], pa.uint16()),
        "question": pa.array(["a"], pa.large_string()),
        "answer": pa.array(["b"]).dictionary_encode(),
        "contexts": pa.array(
            [[{"text": "c", "id": 3, "score": decimal.Decimal("0.25"), "source": None}]], pa.large_list(chunk)
        ),
        "references": pa.array([["d"]], pa.list_(pa.string(), 1)),
        "relevance": pa.array([[("3", 2)]], pa.map_(pa.string(), pa.int8())),
        "answerable": pa.array([1], pa.int8()),
        "metadata": pa.array([[("topic", "x")]], pa.map_(pa.string(), pa.string())),
        "asked": pa.array([0], pa.timestamp("s")),
    }
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    (sample,) = read_dataset(str(path))
    assert sample == Sample(
        "7",
        "a",
        "b",
        contexts=[Chunk("c", "3", 0.25)],
        references=["d"],
        relevance={"3": 2.0},
        answerable=True,
        metadata={"topic": "x", "asked": "1970-01-01 00:00:00"},
    )


def test_struct_of_grades_names_only_the_ids_of_the_row(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(
        pa.Table.from_pylist([{"question": "a", "relevance": {"d1": 1}}, {"question": "b", "relevance": {"d2": 2}}]),
        path,
    )
    assert [sample.relevance for sample in read_dataset(str(path))] == [{"d1": 1.0}, {"d2": 2.0}]


def test_strange_text(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [
        r'{"id": "a", "question": "lone \ud800 half", "answer": "nul \u0000 in it", "x\udc00": "\udfff", "contexts": ["\ud83d\ude00"]}',
        '{"id": "b", "question": "", "answer": "", "score": NaN, "contexts": null, "references": [], "metadata": {}}',
    ]
    path.write_text("\n".join(rows))
    strange, bare = read_dataset(str(path))
    assert strange == Sample("a", "lone ? half", "nul \0 in it", contexts=[Chunk("😀")], metadata={"x?": "?"})
    assert bare == Sample("b", None, "", references=[])


def test_ids_are_made_from_questions():
    rows = [{"question": "a"}, {"question": "a"}, {"answer": "b"}, {"question": "c"}, {"question": "a"}]
    ids = [sample.id for sample in read_dataset(rows)]
    assert ids[1] == f"{ids[0]}-2"
    assert ids[2] == "row-3"
    assert ids[4] == f"{ids[0]}-3"
    assert [sample.id for sample in read_dataset(rows[3:])] == [ids[3], ids[0]]


def test_many_equal_questions_are_quick():
    assert len({sample.id for sample in read_dataset([{"question": "a"}] * 20_000)}) == 20_000


def test_map_wins_over_a_column_of_that_name():
    rows = [{"question": "old", "prompt": "new", "answer": "x"}, {"prompt": "new", "question": "old", "answer": "x"}]
    for sample in read_dataset(rows, columns={"question": "prompt"}):
        assert (sample.question, sample.metadata) == ("new", {"original_question": "old"})


def test_map_may_swap_columns():
    (sample,) = read_dataset([{"question": "a", "answer": "b"}], columns={"question": "answer", "answer": "question"})
    assert (sample.question, sample.answer) == ("b", "a")


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet", "list", "arrow"])
def test_a_dotted_name_maps_a_part_of_a_mapping(tmp_path, kind):
    rows = [
        {"in": {"text": f"Who is {n}?", "id": f"c{n}"}, "out": {"best": {"text": f"{n} is."}, "found": [f"{n} was."]}}
        for n in range(30)
    ]
    rows[0]["out"]["best"] = None
    data = tmp_path / f"nested.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), data)
    elif kind == "list":
        data = rows
    elif kind == "arrow":
        data = pa.Table.from_pylist(rows)
    else:
        data.write_text(json.dumps(rows) if kind == "json" else "".join(json.dumps(row) + "\n" for row in rows))
    columns = {"question": "in.text", "id": "in.id", "answer": "out.best.text", "contexts": "out.found"}
    first, second, *_ = read_dataset(data, columns=columns)
    assert (first.question, first.answer, second.id, second.answer) == ("Who is 0?", None, "c1", "1 is.")
    assert second.contexts == [Chunk("1 was.")]
    with pytest.raises(UsageError, match=r"unknown column 'out\.best\.words'"):
        open_reader(data, columns={"answer": "out.best.words"})


def test_a_column_whose_name_has_a_dot_wins_over_a_part():
    rows = [{"question": "Who?", "out": {"text": "a part"}, "out.text": "a column"}]
    (sample,) = read_dataset(rows, columns={"answer": "out.text"})
    assert (sample.answer, sample.metadata) == ("a column", {"out": {"text": "a part"}})


def test_rows_are_grouped_by_a_part_of_a_mapping():
    rows = [{"question": "Who?", "answer": "I.", "contexts": [f"t{n}"], "query": {"id": n // 2}} for n in range(4)]
    assert [len(sample.contexts) for sample in read_dataset(rows, columns={"group": "query.id"})] == [2, 2]


def test_limit(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text(JSONL + "nonsense\n")
    assert [sample.id for sample in read_dataset(str(path), limit=2)] == ["1", "2"]


def test_a_pipe_without_a_writer_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(UsageError, match="not a regular file"):
        read_dataset(str(tmp_path / "pipe.jsonl"))


def test_a_misspelt_file_name_gets_the_nearest_one(tmp_path):
    (tmp_path / "export.csv").write_text("question,answer\na,b\n")
    with pytest.raises(UsageError, match=r"exprot\.csv'\. Did you mean export\.csv\?$"):
        open_reader(str(tmp_path / "exprot.csv"))


def test_a_file_of_windows_is_read_with_its_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("question,answer\nWas heißt das?,Straße\n".encode("cp1252"))
    with pytest.raises(InputError, match="--encoding cp1252"):
        read_dataset(str(path))
    reader = open_reader(str(path), encoding="cp1252")
    [batch] = reader.batches()
    assert batch["answer"].to_pylist() == ["Straße"]
    with pytest.raises(UsageError, match="unknown encoding 'cp12523'"):
        open_reader(str(path), encoding="cp12523")
    with pytest.raises(UsageError, match="line by line"):
        open_reader(str(path), encoding="utf-16")


def test_a_workbook_is_known_whatever_its_bytes(tmp_path):
    path = tmp_path / "sheet.xlsx"
    path.write_bytes(b"PK\x03\x04question,answer\n\x98,b\n")  # its time and checksum may look like a table
    with pytest.raises(UsageError, match="Excel workbook"):
        read_dataset(str(path))
