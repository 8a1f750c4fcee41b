"""Files of chunks."""

import pytest

from ragstone.data.types import Chunk
from ragstone.errors import InputError
from ragstone.formats.chunk_files import read_chunks


def test_chunks_are_read_line_by_line(tmp_path):
    file = tmp_path / "chunks.jsonl"
    file.write_text('{"text": "a", "id": 7, "source": "d"}\n\n{"text": "b"}\n')
    assert read_chunks(str(file)) == [Chunk("a", "7", source="d"), Chunk("b")]


def test_bad_lines_are_named(tmp_path):
    file = tmp_path / "chunks.jsonl"
    file.write_text('{"text": "a"}\n{"id": 1}\nno\n')
    with pytest.raises(InputError, match="line 2"):
        read_chunks(str(file))
