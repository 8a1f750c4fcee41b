"""What reading complains about."""

import json

import pytest

from ragstone.errors import InputError, StorageError
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
