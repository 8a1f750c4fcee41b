"""Consoles and files with other encodings and line ends, as on Windows."""

import codecs
import io
import json
import os
import re
import subprocess
import sys

import pytest

from ragstone.cli import _SIMPLER, _simplify
from ragstone.cli.output import print_json
from ragstone.formats.reader import read_dataset as read

codecs.register_error("ragstone", _simplify)
ROWS = (
    "question,answer,contexts,references\r\n"
    'Wann fährt es – 東京?,"Um 9 € → ja","[""Um 9.\\r\\nOder 10.""]",9\r\n'
    '"two\r\nlines",b,"[""c""]",d\r\n'
)


@pytest.mark.parametrize(
    ("encoding", "printed"), [("cp1252", "+ x ? – >"), ("ascii", "+ x ? - >"), ("utf-8", "✓ ✗ 東 – →")]
)
def test_signs_stay_apart_in_every_encoding(encoding, printed):
    assert "✓ ✗ 東 – →".encode(encoding, "ragstone").decode(encoding) == printed


def test_simpler_signs_keep_columns_aligned():
    assert all(chr(sign).isascii() for sign in _SIMPLER.values())


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_json_loses_no_character(monkeypatch, encoding):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="ragstone")
    monkeypatch.setattr(sys, "stdout", stream)
    print_json({"text": "fährt 東京 😀 → €"})
    stream.flush()
    assert json.loads(stream.buffer.getvalue().decode("utf-8")) == {"text": "fährt 東京 😀 → €"}


def test_line_ends_of_windows_are_not_data(tmp_path):
    rows = [{"question": "a?", "answer": "b", "contexts": ["c"]}, {"question": "d?", "answer": "e", "contexts": ["f"]}]
    for ends in ("\n", "\r\n"):
        path = tmp_path / "rows.jsonl"
        path.write_bytes(ends.join(map(json.dumps, rows)).encode() + ends.encode())
        assert [(row.question, row.answer) for row in read(str(path))] == [("a?", "b"), ("d?", "e")]
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xef\xbb\xbf" + ROWS.encode())
    assert [row.references for row in read(str(path))] == [["9"], ["d"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNDEFAULTENCODING": "1"},
    ],
)
def test_commands_in_such_a_console(tmp_path, variables):
    (tmp_path / "rows.csv").write_bytes(ROWS.encode())
    for line in (
        "run rows.csv -m token_f1,k_precision",
        "explain latest 1",
        "show latest --json",
        "report latest -o r.html",
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ragstone", *line.split()],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
        assert b"Traceback" not in done.stderr
        assert not re.search(rb"ragstone/\S+: EncodingWarning", done.stderr), done.stderr
    assert "東京" in (tmp_path / "r.html").read_text(encoding="utf-8")
