"""A folder to work in, for the tests of commands."""

import json

import pytest

from tests.e2e.conftest import ROWS


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a small file of answers."""
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(tmp_path)
    return tmp_path
