"""Odd tables and places of a stranger: Parquet, Arrow, archives, links, pipes, names."""

import bz2
import decimal
import gzip
import io
import json
import lzma
import os
import pickle
import socket
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from tests.e2e.stranger import METRICS, check, decent, lines, refused, row, scored, write

# Hundreds of odd files through the whole command; the readers have quick tests of their own.
pytestmark = pytest.mark.slow

ONE = {"exact_match": [1.0]}
TWO = {"exact_match": [1.0, 0.0]}
PAIR = lines(row(), row(id="b", answer="no"))
CHUNK = pa.struct([("text", pa.string()), ("id", pa.int64()), ("score", pa.float32())])


def columns(**changes):
    """Two rows, the first right and the second wrong, with other columns."""
    good = {"question": ["q", "r"], "answer": ["x", "x"], "references": [["x"], ["y"]]}
    return pa.table({**good, **changes})


TABLES = {
    "large strings": (columns(answer=pa.array(["x", "x"], pa.large_string())), scored(2, **TWO)),
    "string views": (columns(answer=pa.array(["x", "x"], pa.string_view())), scored(2, **TWO)),
    "dictionaries": (columns(answer=pa.array(["x", "x"]).dictionary_encode()), scored(2, **TWO)),
    "large lists": (columns(references=pa.array([["x"], ["y"]], pa.large_list(pa.string()))), scored(2, **TWO)),
    "fixed lists": (columns(references=pa.array([["x"], ["y"]], pa.list_(pa.string(), 1))), scored(2, **TWO)),
    "numbered chunks": (
        columns(
            contexts=pa.array([[{"text": "c", "id": 7, "score": 0.5}], []], pa.list_(CHUNK)),
            relevance=pa.array([[7], [7]]),
        ),
        scored(2, recall=[1.0, 0.0]),
    ),
    "map of grades": (
        columns(
            contexts=pa.array([[{"text": "c", "id": 7, "score": None}], []], pa.list_(CHUNK)),
            relevance=pa.array([[("7", 1)], [("7", 2)]], pa.map_(pa.string(), pa.int32())),
        ),
        scored(2, recall=[1.0, 0.0]),
    ),
    "grades as a struct": (
        columns(
            contexts=pa.array([[{"text": "c", "id": 7, "score": None}], []], pa.list_(CHUNK)),
            relevance=pa.array([{"7": 1, "8": None}, {"7": None, "8": 1}]),
        ),
        scored(2, recall=[1.0, 0.0]),
    ),
    "texts as binary": (columns(answer=pa.array([b"x", b"x"]), references=[["x"], ["y"]]), scored(2, **TWO)),
    "binary that is no text": (columns(answer=pa.array([b"\xff\xfe", b"x"])), refused("row 1", "answer")),
    "answers as integers": (columns(answer=pa.array([3, 3]), references=[["3"], ["4"]]), scored(2, **TWO)),
    "answers as floats": (
        columns(answer=pa.array([3.5, float("nan")]), references=[["3.5"], ["4"]]),
        scored(2, exact_match=[1.0, None]),
    ),
    "answers as booleans": (columns(answer=pa.array([True, False]), references=[["true"], ["true"]]), scored(2, **TWO)),
    "answers as dates": (
        columns(answer=pa.array([0, 1], pa.date32()), references=[["1970-01-01"], ["x"]]),
        refused("row 1", "answer"),
    ),
    "answers as decimals": (
        columns(answer=pa.array([decimal.Decimal("1.50"), decimal.Decimal("2")]), references=[["1.50"], ["x"]]),
        scored(2, **TWO),
    ),
    "answers as lists": (columns(answer=pa.array([["x"], ["x"]])), refused("row 1", "answer")),
    "a column of nothing": (columns(contexts=pa.nulls(2)), scored(2, **TWO)),
    "nulls": (columns(answer=pa.array(["x", None])), scored(2, exact_match=[1.0, None])),
    "lists of lists": (columns(contexts=pa.array([[["c"]], [["d"]]])), refused("row 1", "contexts")),
    "null chunks": (columns(contexts=pa.array([["c", None], ["d"]])), refused("row 1", "contexts")),
    "large ids": (columns(id=pa.array([2**64 - 1, 2**64 - 2], pa.uint64())), scored(2, **TWO)),
    "float ids": (columns(id=pa.array([1.0, 2.0])), scored(2, **TWO)),
    "nan ids": (columns(id=pa.array([1.0, float("nan")])), scored(2, **TWO)),
    "durations": (columns(extra=pa.array([1, 2], pa.duration("us"))), scored(2, **TWO)),
    "times with a zone": (columns(extra=pa.array([1, 2], pa.timestamp("us", "Europe/Berlin"))), scored(2, **TWO)),
    "nanoseconds": (columns(extra=pa.array([1, 2], pa.timestamp("ns"))), scored(2, **TWO)),
    "scores that are no numbers": (
        columns(contexts=pa.array([[{"text": "c", "id": 7, "score": float("nan")}], []], pa.list_(CHUNK))),
        scored(2, **TWO),
    ),
    "a cube": (columns(extra=pa.array([[[1.0]], [[2.0]]])), scored(2, **TWO)),
    "another case": (columns().rename_columns(["Question", "ANSWER", "References"]), scored(2, **TWO)),
    "no columns": (pa.table({}), refused("odd.")),
    "time as a time": (columns(extra=pa.array([1, 2], pa.time64("us"))), scored(2, **TWO)),
}
NOT_IN_PARQUET = {"string views"}


def stored(table, kind):
    stream = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, stream)
    elif kind == "arrow":
        with pyarrow.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
    elif kind == "stream":
        with pyarrow.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    else:
        pyarrow.feather.write_feather(table, stream, compression=kind)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("name", TABLES)
def test_columns_of_odd_types(cli, home, name, kind):
    if kind == "parquet" and name in NOT_IN_PARQUET:
        pytest.skip("Parquet has no such type")
    table, expected = TABLES[name]
    write({f"odd.{kind}": stored(table, kind)})
    check(cli("run", f"odd.{kind}", "-o", "out", "-m", METRICS), expected)


@pytest.mark.parametrize("kind", ["lz4", "zstd", "uncompressed"])
def test_other_files_of_arrow(cli, home, kind):
    write({"odd.feather": stored(columns(), kind)})
    check(cli("run", "odd.feather", "-o", "out", "-m", METRICS), scored(2, **TWO))


def _zip(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_xml", ".xml").replace("_jsonl", ".jsonl").replace("__", "/"), content)
    return stream.getvalue()


def _tar(content):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo("answers.jsonl")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def _sqlite():
    with sqlite3.connect("made.db") as base:
        base.execute("create table answers (question text)")
    base.close()
    return Path("made.db").read_bytes()


def _twice_named():
    stream = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays([pa.array(["q"]), pa.array(["a"]), pa.array(["b"])], ["question", "answer", "answer"]),
        stream,
    )
    return stream.getvalue()


ARCHIVES = {
    "two members.jsonl.gz": (
        gzip.compress(lines(row())) + gzip.compress(lines(row(id="b", answer="no"))),
        scored(2, **TWO),
    ),
    "padded.jsonl.gz": (gzip.compress(PAIR) + bytes(512), scored(2, **TWO)),
    "garbage after.jsonl.gz": (gzip.compress(PAIR) + b"garbage", refused("garbage after")),
    "gzip of gzip.jsonl.gz": (gzip.compress(gzip.compress(PAIR)), refused("gzip")),
    "not gzip.jsonl.gz": (PAIR, scored(2, **TWO)),
    "hidden gzip.csv": (gzip.compress(b"id,question,answer,references\na,q,x,x\n"), scored(1, **ONE)),
    "parquet in gzip.parquet.gz": (gzip.compress(stored(columns(), "parquet")), refused("parquet in gzip")),
    "second member cut.jsonl.gz": (
        gzip.compress(lines(row())) + gzip.compress(lines(row(id="b")))[:-9],
        refused("second member cut"),
    ),
    "archive.zip": (_zip(answers_jsonl=PAIR), refused("zip")),
    "sheet.xlsx": (_zip(xl__workbook_xml="<workbook/>"), refused("Excel")),
    "text.docx": (_zip(word__document_xml="<w/>"), refused("text.docx")),
    "packed.jsonl.bz2": (bz2.compress(PAIR), refused("bz2")),
    "packed.jsonl.xz": (lzma.compress(PAIR), refused("xz")),
    "packed.jsonl.zst": (pa.compress(PAIR, codec="zstd", asbytes=True), refused("zst")),
    "packed.tar.gz": (_tar(PAIR), refused("tar")),
    "frame.pkl": (pickle.dumps({"question": ["q"]}), refused("frame.pkl")),
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", refused("paper.pdf")),
    "twice named.parquet": (_twice_named(), refused("answer")),
    "names of a parquet.csv": (stored(columns(), "parquet"), scored(2, **TWO)),
    "json named.parquet": (PAIR, scored(2, **TWO)),
    "cut footer.parquet": (stored(columns(), "parquet")[:-1], refused("cut footer")),
    "longer.parquet": (stored(columns(), "parquet") + b"\n", refused("longer")),
    "cut.arrow": (stored(columns(), "arrow")[:-9], refused("cut.arrow", code=1)),
    "cut stream.arrow": (stored(columns(), "stream"), refused("cut stream")),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_and_other_programs(cli, home, name):
    content, expected = ARCHIVES[name]
    write({name: content})
    check(cli("run", name, "-o", "out", "-m", METRICS), expected)


def test_a_database(cli, home):
    write({"base.jsonl": _sqlite()})
    check(cli("run", "base.jsonl", "-o", "out"), refused("base.jsonl"))


NAMES = [
    "new\nline.jsonl",
    "100%s %d.jsonl",
    "🚢.jsonl",
    "a#b?c=d.jsonl",
    "*.jsonl",
    "[a].jsonl",
    "{x}.jsonl",
    "a'b\"c.jsonl",
    "x" * 240 + ".jsonl",
    ".jsonl",
    "\u202egnp.jsonl",
    "<b>.jsonl",
    "~.jsonl",
    "a:b.jsonl",
    "\x1b[31mred.jsonl",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_names_of_files(cli, home, name):
    Path(name).write_bytes(PAIR)
    printed = cli("run", f"./{name}", "-o", "out", "-m", METRICS)
    check(printed, scored(2, **TWO))
    shown = cli("show", "latest", "-o", "out")
    assert "\x1b[31m" not in printed.out + printed.err + shown.out
    Path(name).write_bytes(b"{\n")
    printed = cli("run", f"./{name}", "-o", "other", "-m", METRICS)
    check(printed, refused("is not JSON"), root="other")
    assert "\x1b[31m" not in printed.err


def test_places_that_are_no_files(cli, home):
    os.symlink("loop.jsonl", "loop.jsonl")
    os.symlink("gone.jsonl", "broken.jsonl")
    Path("folder.jsonl").mkdir()
    Path("folder.jsonl/x.txt").write_text("x")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.jsonl")
        for name in ("loop.jsonl", "broken.jsonl", "folder.jsonl", "socket.jsonl", "."):
            printed = cli("run", name, "-o", "out")
            check(printed, refused(name.split("\0", maxsplit=1)[0][:40]))


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_pipe_is_never_waited_for(cli, home, kind):
    """As `ragstone run <(jq … file)` in a shell; the message says what to do instead."""
    os.mkfifo(f"pipe.{kind}")
    check(cli("run", f"pipe.{kind}", "-o", "out", "-m", METRICS), refused(f"pipe.{kind}", "standard input"))


URLS = {
    "http://127.0.0.1:9/answers.jsonl": "127.0.0.1",
    "file:///nowhere/answers.jsonl": "nowhere",
    "s3://bucket": "bucket",
    "s3:///key": "s3:///key",
    "gs://bucket/key.jsonl": "gs",
    "hf://datasets/x/y": "hf",
    "ftp://host/file": "ftp",
    "s3://no-such-bucket-of-mine/key.jsonl": "no-such-bucket-of-mine",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("url", URLS)
def test_urls(cli, bucket, home, url):
    printed = cli("run", url, "-o", "out")
    decent(printed)
    assert printed.code in (1, 2)
    assert URLS[url] in printed.err
    assert not Path("out").exists()


def test_a_folder_of_parts_that_do_not_fit(cli, home):
    write(
        {
            "set/README.md": "# x",
            "set/data/a.parquet": stored(columns(), "parquet"),
            "set/data/b.parquet": stored(columns(answer=pa.array([["x"], ["x"]])), "parquet"),
        }
    )
    printed = cli("run", "set", "-o", "out", "-m", METRICS)
    check(printed, refused("answer"))
    assert "b.parquet" in printed.err


def test_a_folder_of_parts_with_other_columns(cli, home):
    write(
        {
            "set/README.md": "# x",
            "set/data/a.parquet": stored(columns(), "parquet"),
            "set/data/b.parquet": stored(columns().drop_columns(["references"]), "parquet"),
        }
    )
    printed = cli("run", "set", "-o", "out", "-m", METRICS)
    decent(printed)
    assert (printed.code, "references" in printed.err) in ((0, True), (0, False), (2, True))
    if printed.code == 0:
        check(printed, scored(4))


@pytest.mark.slow
def test_long_lines(cli, home):
    """Up to 100 MB a line is read; more is refused in words."""
    write({"long.jsonl": lines(row(metadata={"n": "x" * 50_000_000}))})
    check(cli("run", "long.jsonl", "-o", "out", "-m", METRICS), scored(1, **ONE))
    write({"longer.jsonl": lines(row(), row(id="b", metadata={"n": "x" * 106_000_000}))})
    check(cli("run", "longer.jsonl", "-o", "other", "-m", METRICS), refused("line 2", "MB"), root="other")


@pytest.mark.slow
def test_standard_input(shell):
    for content, code, word in (
        (PAIR, 0, "exact_match"),
        (b"", 2, "empty"),
        (b"\x00\xff", 2, "-"),
        (gzip.compress(PAIR), 0, "exact_match"),
    ):
        done = shell("run", "-", "-o", "out", "-m", METRICS, input=content, text=False)
        assert done.returncode == code, done.stderr
        assert word in (done.stdout + done.stderr).decode()
        assert b"Traceback" not in done.stderr


def test_json_numbers_beyond_all_types(cli, home):
    """Numbers of 30 digits and more in places where nothing is computed from them."""
    write({"n.jsonl": json.dumps({**row(), "metadata": {"n": 0}}).replace('"n": 0', '"n": ' + "9" * 4000) + "\n"})
    printed = cli("run", "n.jsonl", "-o", "out", "-m", METRICS)
    check(printed, scored(1, **ONE))
