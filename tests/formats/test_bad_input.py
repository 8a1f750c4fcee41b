"""Whatever is wrong with a file is said with its place and with what to do, and nothing else happens."""

import gzip
import io
import json
import time
import types

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import InputError, RagstoneError, StorageError, UnknownNameError, UsageError
from ragstone.formats import open_reader, read_dataset

GOOD = {"question": "When does the ferry leave?", "answer": "At eight."}


def save(tmp_path, content, name="data.jsonl"):
    path = tmp_path / name
    if isinstance(content, list):
        content = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def complaint(data, kind=InputError, **options):
    """The message of the error that reading raises, without the name of the file."""
    with pytest.raises(kind) as caught:
        read_dataset(data, **options)
    assert caught.value.exit_code == (1 if kind is StorageError else 2)
    return str(caught.value).replace(f"{data}: ", "").replace(str(data), "FILE")


def notes_of(data, **options):
    reader = open_reader(data, **options)
    list(reader.batches())
    return reader.report.notes


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
    expected = "cannot tell the format of FILE. It is a folder: give a file, or a folder of BEIR with corpus.jsonl, queries.jsonl and qrels."
    assert complaint(str(tmp_path), UsageError) == expected
    expected = "'FILE' has no rows: it is a folder. Give a file with a sample in each row."
    assert complaint(str(tmp_path), UsageError, format="ragstone") == expected


def test_plain_text(tmp_path):
    message = complaint(save(tmp_path, "Dear all\nhow are you\n"), UsageError)
    assert message.startswith("cannot tell the format of FILE. Say which it is with --format: ")
    assert "ragas_legacy" in message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16(tmp_path, encoding):
    content = json.dumps(GOOD).encode(encoding)
    assert complaint(save(tmp_path, content)) == "1 problem\n  is UTF-16 text (save it as UTF-8)"


def test_unreadable_storage(tmp_path):
    path = save(tmp_path, gzip.compress(json.dumps(GOOD).encode() * 1000)[:-30], "data.jsonl.gz")
    expected = "1 problem\n  is a damaged gzip file: Compressed file ended before the end-of-stream marker was reached (pack it again)"
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
        "2 problems\n"
        "  line 1: is not JSON: Expecting value at column 14 (each line must be one JSON object)\n"
        "  line 2: is not JSON: Expecting value at column 14 (each line must be one JSON object)"
    )


def test_broken_document(tmp_path):
    content = '[\n  {"question": "a"},\n  {"question": }\n]'
    expected = "1 problem\n  line 3, column 16: is not JSON: Expecting value (mend it there, or write the file again)"
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
    expected = "1 problem\n  {}is not UTF-8: byte 0xe9 at position {} (save the file as UTF-8)"
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
    start = time.monotonic()
    assert complaint(str(path)) == "1 problem\n  line 1: is longer than 100 MB (put one sample on each line)"
    assert time.monotonic() - start < 10


# CSV


def test_csv_cell_that_is_not_json(tmp_path):
    table = (
        'question,contexts,references\na,"[""one"", ""two""]",x\nb,just one chunk,y\nc,"[\'single\', \'quotes\']",z\n'
    )
    assert complaint(save(tmp_path, table, "d.csv")) == (
        "2 problems\n"
        '  line 3: contexts: is not a JSON list: \'just one chunk\' (write lists as JSON: ["first", "second"])\n'
        '  line 4: contexts: is not JSON: Expecting value: line 1 column 2 (char 1) (write lists as JSON: ["first", "second"])'
    )


def test_csv_row_with_too_many_cells(tmp_path):
    table = 'question,answer\n"a\nb",c\nHow much, please?,ten\nd\n'
    assert complaint(save(tmp_path, table, "d.csv")) == (
        "2 problems\n"
        "  line 4: has 3 cells, the header has 2 (quote cells that hold the delimiter)\n"
        "  line 5: has 1 cells, the header has 2 (quote cells that hold the delimiter)"
    )


def test_csv_quote_that_never_ends(tmp_path):
    table = 'question,answer\na,b\nc,"d\ne,f\n'
    expected = "1 problem\n  line 3: is not CSV: unexpected end of data (check the quotes of the row that begins there)"
    assert complaint(save(tmp_path, table, "d.csv")) == expected


def test_csv_header_that_names_a_column_twice(tmp_path):
    table = "question,answer,answer\na,b,c\n"
    expected = "1 problem\n  line 1: names a column twice: question, answer, answer (rename one of the two)"
    assert complaint(save(tmp_path, table, "d.csv"), format="ragstone") == expected


# Values


def test_duplicate_ids(tmp_path):
    lines = [{"id": name, "question": name} for name in ("a", "b", "c", "d", "b")]
    expected = "1 problem\n  line 5: id: the id 'b' is used before (ids must be unique in a file)"
    assert complaint(save(tmp_path, lines)) == expected


def test_relevance_that_nothing_retrieved_is_a_note(tmp_path):
    lines = [{"question": "a", "contexts": [{"text": "t", "id": "d1"}], "relevance": {"d1": 1, "d7": 1}}]
    (note,) = notes_of(save(tmp_path, lines))
    assert note == (
        "relevance names 1 of 2 chunk ids that no row retrieved, for instance 'd7' (line 1); they count as misses. "
        "If that is a surprise, compare the ids."
    )


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        (
            "contexts",
            ["a", {"text": "b"}],
            "mixes a mapping and text (make every chunk a text, or every chunk {text, id, score, source})",
        ),
        (
            "contexts",
            ["a", None],
            "mixes nothing and text (make every chunk a text, or every chunk {text, id, score, source})",
        ),
        ("contexts", [1, 2.5], "entry 1 must be a text or {text, id, score, source}, got a number"),
        ("contexts", [{"text": "a"}, {"page_content": "b"}], "entry 2 has no text; its keys are page_content"),
        ("contexts", [{"text": "a", "score": "high"}], "entry 1 (score) must be a number, got 'high'"),
        ("contexts", [{"text": "a", "score": 10**400}], f"entry 1 (score) must be a number, got {str(10**400)[:60]}…"),
        ("contexts", [{"text": "a", "id": [1]}], "entry 1 (id) must be text or a whole number, got a list"),
        ("contexts", "one", "must be a list, got text"),
        ("question", ["a"], "must be text, got a list"),
        ("references", ["a", {"b": 1}], "entry 2 must be text, got a mapping"),
        ("relevance", {"d1": "high"}, "the grade of 'd1' must be a number, got 'high'"),
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
        ("metadata", "topic", "must be a mapping, got text (put single values into columns of their own)"),
        ("id", " ", "is empty (leave the field out and an id is made from the question)"),
        ("answer_claims_in_reference", ["yes"], "entry 1 must be one of entailment, neutral, contradiction, got 'yes'"),
    ],
)
def test_value_that_does_not_fit(tmp_path, field, value, expected):
    assert complaint(save(tmp_path, [GOOD, GOOD | {field: value}])) == f"1 problem\n  line 2: {field}: {expected}"


def test_every_problem_of_a_row_is_told(tmp_path):
    message = complaint(save(tmp_path, [{"question": 1, "contexts": "one", "answerable": "perhaps"}]))
    assert [line.split(": ")[1] for line in message.splitlines()[1:]] == ["contexts", "answerable"]


def test_verdicts_that_do_not_fit_their_claims(tmp_path):
    row = GOOD | {"contexts": ["one"], "answer_claims": ["a", "b"], "answer_claims_in_contexts": [["neutral"], []]}
    row["answer_claims_in_reference"] = ["neutral"]
    assert complaint(save(tmp_path, [row])) == (
        "2 problems\n"
        "  line 1: answer_claims_in_reference: has 1 entries for the 2 of answer_claims (give one for each claim)\n"
        "  line 1: answer_claims_in_contexts: entry 2 has 0 verdicts for the 1 of contexts (give one for each chunk)"
    )


def test_metadata_that_a_column_contradicts(tmp_path):
    row = GOOD | {"topic": "a", "metadata": {"topic": "b"}}
    expected = (
        "1 problem\n  line 1: metadata: holds 'topic', and there is a column 'topic' as well (rename one of the two)"
    )
    assert complaint(save(tmp_path, [row])) == expected


def test_parts_of_chunks_that_have_no_place_are_a_note(tmp_path):
    row = GOOD | {"contexts": [{"text": "a", "page": 3}]}
    expected = "parts of chunks that are not kept: 1, for instance 'page'; chunks have text, id, score and source"
    assert notes_of(save(tmp_path, [row])) == [expected]


def test_many_problems_are_counted_but_not_all_shown(tmp_path):
    message = complaint(save(tmp_path, [{"question": [], "answer": "a"}] * 300))
    assert message.startswith("300 problems\n")
    assert message.endswith("\n  … and 280 more")


# Names


def test_misspelt_column_is_a_note(tmp_path):
    path = save(tmp_path, [{"qestion": "a", "answer": "b"}])
    assert notes_of(path) == ["column 'qestion' is kept as metadata. If it is the question, add --map question=qestion"]
    (sample,) = read_dataset(path, renames={"question": "qestion"})
    assert sample.question == "a"


def test_misspelt_column_of_another_format_is_a_note(tmp_path):
    path = save(tmp_path, [{"user_input": "a", "retreived_contexts": ["b"]}])
    expected = "column 'retreived_contexts' is kept as metadata. If it is the retrieved_contexts, add --map contexts=retreived_contexts"
    assert notes_of(path) == [expected]
    (sample,) = read_dataset(path, renames={"contexts": "retreived_contexts"})
    assert [chunk.text for chunk in sample.contexts] == ["b"]


def test_columns_that_fit_nothing(tmp_path):
    assert complaint(save(tmp_path, [{"qestion": "a", "result": "b"}]), UsageError) == (
        "cannot tell the format of FILE. Its columns are qestion, result; ours are question, answer, contexts, references "
        "and more. Rename them with, for instance, --map question=qestion"
    )


def test_map_of_an_unknown_column(tmp_path):
    path = save(tmp_path, [{"prompt": "a", "question": "b"}])
    expected = "unknown column 'promt'. Did you mean prompt? The columns are: prompt, question. Use one of them in --map question=COLUMN."
    assert complaint(path, UnknownNameError, renames={"question": "promt"}) == expected


def test_map_of_an_unknown_field(tmp_path):
    message = complaint(save(tmp_path, [GOOD]), UnknownNameError, renames={"anser": "answer"})
    assert message.startswith("unknown field 'anser'. Did you mean answer or answerable? The fields are: id, question,")


def test_map_of_one_column_to_two_fields(tmp_path):
    expected = "--map gives one column to two fields; map each column once"
    assert (
        complaint(save(tmp_path, [GOOD]), UsageError, renames={"question": "answer", "references": "answer"})
        == expected
    )


def test_unknown_format(tmp_path):
    message = complaint(save(tmp_path, [GOOD]), UnknownNameError, format="ragass")
    assert message.startswith("unknown format 'ragass'. Did you mean ragas")


# Things in memory


def test_things_that_hold_no_samples():
    with pytest.raises(
        UsageError, match=r"^cannot read samples from a generator; give a path, a list of dicts, or a pandas"
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
    expected = "1 problem\n  columns: there are two named 'question' (rename one of the two)"
    assert complaint(str(path), format="ragstone") == expected


def test_standard_input_with_problems(monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(b'{"question": "a"}\nnonsense\n'))
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(InputError, match=r"^standard input: 1 problem\n  line 2: is not JSON"):
        read_dataset("-")
