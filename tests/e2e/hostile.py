"""Files that somebody will one day hand to us, and that are no data."""

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

GOOD = json.dumps({"id": "a", "question": "q", "answer": "a", "references": ["a"], "contexts": ["a"]})


def _parquet(table):
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


_FINE_PARQUET = _parquet(pa.table({"question": ["q"] * 1000, "answer": ["a"] * 1000}))
_FINE_GZIP = gzip.compress((GOOD + "\n").encode() * 10)

FILES: dict[str, bytes] = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n \n\t\n",
    "empty.json": b"[]",
    "empty_object.json": b"{}",
    "empty.parquet": _parquet(pa.table({"question": pa.array([], pa.string())})),
    "empty.csv": b"question,answer\n",
    "nothing.gz": gzip.compress(b""),
    "null.jsonl": b"null\n",
    "number.json": b"5",
    "text.json": b'"hello"',
    "array_of_numbers.json": b"[1, 2, 3]",
    "array_of_arrays.json": b"[[1], [2]]",
    "broken_line.jsonl": f'{GOOD}\n{{"id": "b", "question": \n{GOOD.replace("a", "c")}\n'.encode(),
    "half_a_document.json": b'[{"question": "q"',
    "trailing_comma.json": b'[{"question": "q"},]',
    "single_quotes.jsonl": b"{'question': 'q'}\n",
    "two_on_a_line.jsonl": f"{GOOD}{GOOD}\n".encode(),
    "infinity.jsonl": b'{"question": "q", "relevance": {"a": Infinity}}\n',
    "huge_number.jsonl": b'{"question": "q", "relevance": {"a": 1e999}}\n',
    "huge_integer.jsonl": b'{"question": "q", "relevance": {"a": ' + b"9" * 400 + b"}}\n",
    "endless_integer.jsonl": b'{"question": "q", "relevance": {"a": ' + b"9" * 5000 + b"}}\n",
    "deep.json": b"[" * 100_000,
    "deep_line.jsonl": b'{"question": "q", "metadata": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}\n",
    "same_id.jsonl": f"{GOOD}\n{GOOD}\n".encode(),
    "number_as_contexts.jsonl": b'{"question": "q", "contexts": 5}\n',
    "text_as_facts_of_numbers.jsonl": b'{"question": "q", "facts": [5]}\n',
    "mapping_as_question.jsonl": b'{"question": {"text": "q"}, "answer": "a"}\n',
    "mixed_contexts.jsonl": b'{"question": "q", "contexts": ["a", {"text": "b"}]}\n',
    "context_without_text.jsonl": b'{"question": "q", "contexts": [{"score": 1}]}\n',
    "list_as_relevance_grades.jsonl": b'{"question": "q", "relevance": {"a": [1]}}\n',
    "unknown_columns.jsonl": b'{"foo": "q", "bar": "a"}\n',
    "latin1.jsonl": '{"question": "Gr\xf6\xdfe", "answer": "a"}\n'.encode("latin-1"),
    "utf16.jsonl": GOOD.encode("utf-16"),
    "binary.jsonl": bytes(range(256)) * 10,
    "nul_bytes.jsonl": b"\0" * 1000,
    "png.jsonl": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "html.jsonl": b"<!DOCTYPE html><html><body>404</body></html>",
    "yaml.jsonl": b"question: q\nanswer: a\n",
    "ragged.csv": b"question,answer\nq,a,extra\nq\n",
    "twice.csv": b"question,question\nq,q\n",
    "unclosed.csv": b'question,answer\n"q,a\n',
    "no_list.csv": b'question,contexts\nq,"[""one"" two"\n',
    "latin1.csv": "question,answer\nq,\xe9\n".encode("latin-1"),
    "damaged.parquet": _FINE_PARQUET[:-20],
    "damaged_middle.parquet": _FINE_PARQUET[:20] + b"\xff" * 100 + _FINE_PARQUET[120:],
    "magic_only.parquet": b"PAR1",
    "magic_twice.parquet": b"PAR1PAR1",
    "damaged.arrow": b"ARROW1\0\0nonsense",
    "odd_types.parquet": _parquet(pa.table({"question": pa.array([b"\xff"], pa.binary()), "contexts": pa.array([1])})),
    "cut.jsonl.gz": _FINE_GZIP[:-12],
    "bad_check.jsonl.gz": _FINE_GZIP[:-8] + b"\0" * 8,
    "bad_middle.jsonl.gz": _FINE_GZIP[:12] + b"\xff" * 8 + _FINE_GZIP[20:],
    "magic_only.gz": b"\x1f\x8b",
    "zip.jsonl": b"PK\x03\x04" + bytes(50),
}


def write(folder: Path, name: str) -> Path:
    """One of the files, in a folder."""
    path = folder / name
    path.write_bytes(FILES[name])
    return path
