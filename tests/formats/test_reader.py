"""Whatever is wrong with a file is said with its place and with what to do, and nothing else happens."""

import gzip
import io
import json
import time
import types

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import InputError, RagstoneError, UnknownNameError, UsageError
from ragstone.formats import open_reader, read_dataset
from tests.formats.complaints import GOOD, complaint, notes_of, save

# Files that cannot be read at all


@pytest.mark.parametrize("content", [b"", b" \n\n\t", b"\xef\xbb\xbf \n"])
def test_empty(tmp_path, content):
    assert complaint(save(tmp_path, content)) == "1 problem\n  is empty (there must be at least one sample)"


@pytest.mark.parametrize(
    ("content", "name"), [("[]", "d.json"), ("question,answer\n", "d.csv"), ('{"data": []}', "d.json")]
)
def test_no_rows(tmp_path, content, name):
    assert complaint(save(tmp_path, content, name)) == "1 problem\n  has no samples (there must be at least one)"


def test_missing_file(tmp_path):
    path = str(tmp_path / "none.jsonl")
    assert complaint(path, UsageError) == "there is no file 'FILE'. Check the path."


def test_folder_that_is_no_data_set(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    expected = "cannot detect the format of FILE. It is a folder: pass a file, or a BEIR folder with corpus.jsonl, queries.jsonl and qrels."
    assert complaint(str(tmp_path), UsageError) == expected
    expected = "'FILE' has no rows: it is a folder. Pass a file with one sample per row."
    assert complaint(str(tmp_path), UsageError, format="ragstone") == expected


def test_plain_text(tmp_path):
    message = complaint(save(tmp_path, "Dear all\nhow are you\n"), UsageError)
    assert message.startswith("cannot detect the format of FILE. Choose one with --format: ")
    assert "ragas_legacy" in message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16(tmp_path, encoding):
    content = json.dumps(GOOD).encode(encoding)
    assert complaint(save(tmp_path, content)) == "1 problem\n  is UTF-16 text (save it as UTF-8)"


def test_unreadable_storage(tmp_path):
    path = save(tmp_path, gzip.compress(json.dumps(GOOD).encode() * 1000)[:-30], "data.jsonl.gz")
    expected = "1 problem\n  is a damaged gzip file: Compressed file ended before the end-of-stream marker was reached (compress it again)"
    assert complaint(path) == expected


def test_truncated_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_pylist([GOOD]), path)
    path.write_bytes(path.read_bytes()[:-20])
    message = complaint(str(path))
    assert message.startswith("1 problem\n  is a damaged Parquet file: ")
    assert message.endswith("(write it again)")


# Lines that cannot be read


def test_broken_json_is_told_for_every_line(tmp_path):
    lines = [GOOD] * 10
    lines[6] = '{"question": "a" "answer": "b"}'
    lines[8] = "[1, 2]"
    assert complaint(save(tmp_path, lines)) == (
        "2 problems\n"
        "  line 7: is not JSON: Expecting ',' delimiter at column 18 (each line must be one JSON object)\n"
        '  line 9: must be an object with named fields, got a list (write {"question": "…", "answer": "…"})'
    )


def test_only_broken_lines(tmp_path):
    lines = ['{"question": what}', '{"question": why}']
    assert complaint(save(tmp_path, lines)) == (
        "2 problems\n  line 1, line 2: is not JSON: Expecting value at column 14 (each line must be one JSON object)"
    )


def test_a_cut_line(tmp_path):
    message = complaint(save(tmp_path, [GOOD, '{"question": "cut']))
    assert "line 2: is not JSON: Invalid control character at column 18 (" in message
    message = complaint(save(tmp_path, json.dumps(GOOD) + '\n{"question": "cut'))
    assert "line 2: is not JSON: Unterminated string at column 14 (" in message
    message = complaint(save(tmp_path, '[\n{"question": "cut', "data.json"))
    assert "line 2, column 14: is not JSON: Unterminated string (" in message


def test_broken_document(tmp_path):
    content = '[\n  {"question": "a"},\n  {"question": }\n]'
    expected = "1 problem\n  line 3, column 16: is not JSON: Expecting value (fix it there, or write the file again)"
    assert complaint(save(tmp_path, content, "data.json")) == expected


def test_number_of_too_many_digits(tmp_path):
    message = complaint(save(tmp_path, [GOOD, f'{{"question": "a", "n": {"1" * 5000}}}']))
    assert message.startswith("1 problem\n  line 2: is not JSON: Exceeds the limit (4300 digits)")


def test_deep_nesting(tmp_path):
    deep = "[" * 100_000 + "]" * 100_000
    lines = [GOOD, f'{{"question": "a", "x": {deep}}}']
    assert "line 2: is nested too deeply" in complaint(save(tmp_path, lines))
    assert "is nested too deeply" in complaint(save(tmp_path, f'{{"data": {deep}}}', "data.json"))
    metadata = json.loads("[" * 800 + "]" * 800)
    assert "row 1: metadata: is nested too deeply" in complaint([GOOD | {"metadata": {"x": metadata}}])


def test_invalid_utf8(tmp_path):
    bad = '{"question": "caf\\xe9"}'.replace("\\xe9", "\udce9").encode("utf-8", "surrogateescape")
    expected = "1 problem\n  {}is not UTF-8: byte 0xe9 at position {} (save the file as UTF-8, or name its encoding, as in --encoding cp1252)"
    good = json.dumps(GOOD).encode()
    assert complaint(save(tmp_path, good + b"\n" + bad + b"\n")) == expected.format("line 2: ", 18)
    document = b"[" + good + b",\n" + bad + b"]"
    assert complaint(save(tmp_path, document, "d.json")) == expected.format("line 2: ", len(good) + 21)
    table = b"question,answer\na,b\ncaf\xe9,c\nd,e\n"
    assert complaint(save(tmp_path, table, "d.csv")) == expected.format("line 3: ", 4)


def test_line_of_200_megabytes(tmp_path):
    path = tmp_path / "long.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"question": "')
        stream.truncate(200 << 20)
    start = time.process_time()
    assert complaint(str(path)) == "1 problem\n  line 1: is longer than 100 MB (put one sample on each line)"
    assert time.process_time() - start < 10


# CSV


def test_csv_cell_that_is_not_json(tmp_path):
    table = 'question,contexts,references\na,"[""one"", ""two""]",x\nb,"[""one"" ""two""",y\n'
    assert complaint(save(tmp_path, table, "d.csv")) == (
        "1 problem\n"
        "  line 3: contexts: is not JSON: Expecting ',' delimiter: line 1 column 8 (char 7) "
        '(write lists as JSON: ["first", "second"])'
    )


def test_csv_cells_that_are_one_text_or_a_list_as_python_prints_it(tmp_path):
    table = (
        'question,contexts\na,just one chunk\nb,"[\'it\\\'s\', ""two""]"\nc,"[\'of numpy\'\n \'two\']"\nd,[1] a mark\n'
    )
    path = save(tmp_path, table, "d.csv")
    texts = [[chunk.text for chunk in sample.contexts] for sample in read_dataset(path)]
    assert texts == [["just one chunk"], ["it's", "two"], ["of numpy", "two"], ["[1] a mark"]]
    assert notes_of(path) == [
        "contexts that are one text are read as one chunk. If they are several, add --split-contexts SEPARATOR, "
        "or write a JSON list or several columns"
    ]


def test_csv_row_with_too_many_cells(tmp_path):
    table = 'question,answer\n"a\nb",c\nHow much, please?,ten\nd\n'
    assert complaint(save(tmp_path, table, "d.csv")) == (
        "2 problems\n"
        "  line 4: has 3 cells, the header has 2 (quote cells that contain the delimiter)\n"
        "  line 5: has 1 cells, the header has 2 (quote cells that contain the delimiter)"
    )


def test_csv_quote_that_never_ends(tmp_path):
    table = 'question,answer\na,b\nc,"d\ne,f\n'
    expected = "1 problem\n  line 3: is not CSV: unexpected end of data (check the quotes of the row that starts there)"
    assert complaint(save(tmp_path, table, "d.csv")) == expected


def test_csv_header_that_names_a_column_twice(tmp_path):
    table = "question,answer,answer\na,b,c\n"
    expected = "1 problem\n  line 1: names a column twice: question, answer, answer (rename one of the two)"
    assert complaint(save(tmp_path, table, "d.csv"), format="ragstone") == expected


# Names


def test_misspelt_column_is_a_note(tmp_path):
    path = save(tmp_path, [{"qestion": "a", "answer": "b"}])
    assert notes_of(path) == ["column 'qestion' is kept as metadata. If it is the question, add --map question=qestion"]
    (sample,) = read_dataset(path, columns={"question": "qestion"})
    assert sample.question == "a"


def test_misspelt_column_of_another_format_is_a_note(tmp_path):
    path = save(tmp_path, [{"user_input": "a", "retreived_contexts": ["b"]}])
    expected = "column 'retreived_contexts' is kept as metadata. If it is the retrieved_contexts, add --map contexts=retreived_contexts"
    assert notes_of(path) == [expected]
    (sample,) = read_dataset(path, columns={"contexts": "retreived_contexts"})
    assert [chunk.text for chunk in sample.contexts] == ["b"]


def test_columns_that_fit_nothing(tmp_path):
    assert complaint(save(tmp_path, [{"qestion": "a", "result": "b"}]), UsageError) == (
        "cannot detect the format of FILE. Its columns are qestion, result; ours are question, answer, contexts, references "
        "and more. A guess by names and content, to be checked: --map question=qestion --map answer=COLUMN"
    )


def test_map_of_an_unknown_column(tmp_path):
    path = save(tmp_path, [{"prompt": "a", "question": "b"}])
    expected = "unknown column 'promt'. Did you mean prompt? The columns are: prompt, question. Use one of them in --map question=COLUMN."
    assert complaint(path, UnknownNameError, columns={"question": "promt"}) == expected


def test_map_of_an_unknown_field(tmp_path):
    message = complaint(save(tmp_path, [GOOD]), UnknownNameError, columns={"anser": "answer"})
    assert message.startswith("unknown field 'anser'. Did you mean answer or answerable? The fields are: id, question,")


def test_map_of_one_column_to_two_fields(tmp_path):
    expected = "--map maps one column to two fields; map each column once"
    assert (
        complaint(save(tmp_path, [GOOD]), UsageError, columns={"question": "answer", "references": "answer"})
        == expected
    )


def test_unknown_format(tmp_path):
    message = complaint(save(tmp_path, [GOOD]), UnknownNameError, format="ragass")
    assert message.startswith("unknown format 'ragass'. Did you mean ragas")


# Things in memory


def test_things_that_hold_no_samples():
    with pytest.raises(
        UsageError, match=r"^cannot read samples from a generator; pass a path, a list of dicts, or a pandas"
    ):
        read_dataset(row for row in [GOOD])
    with pytest.raises(UsageError, match="cannot read samples from a int"):
        read_dataset(5)
    with pytest.raises(InputError, match=r"row 2: must be an object with named fields, got text"):
        read_dataset([GOOD, "text"])
    with pytest.raises(RagstoneError, match="has no samples"):
        read_dataset([])


def test_parquet_with_two_columns_of_one_name(tmp_path):
    path = tmp_path / "d.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["question", "question"]), path)
    expected = "1 problem\n  columns: two columns are named 'question' (rename one of the two)"
    assert complaint(str(path), format="ragstone") == expected


def test_standard_input_with_problems(monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(b'{"question": "a"}\nnonsense\n'))
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(InputError, match=r"^standard input: 1 problem\n  line 2: is not JSON"):
        read_dataset("-")


def test_chunks_of_one_cell_are_split(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question,contexts\nA?,one || two\nB?,three\n")
    reader = open_reader(str(path), split_contexts="||")
    assert [len(row) for batch in reader.batches() for row in batch["contexts"].to_pylist()] == [2, 1]
    assert reader.report.notes == []
