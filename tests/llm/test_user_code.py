"""Objects in a user's files, and versions of functions."""

import sys

import pytest

from ragstone.errors import UsageError
from ragstone.llm.user_code import UNKNOWN_VERSION, load_name, split_file_name, version_of


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rag.py:answer", ("rag.py", "answer")),
        ("a/b c.py:x_1", ("a/b c.py", "x_1")),
        ("openai/m", None),
        ("rag.py", None),
    ],
)
def test_names_in_files(text, parts):
    assert split_file_name(text) == parts


def test_a_file_is_loaded_once_per_version(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("import helper\nstate = []\ndef f(): return helper.VALUE")
    (tmp_path / "helper.py").write_text("VALUE = 7")
    try:
        first = load_name(str(path), "f", "model")
        assert (first.value(), first.label) == (7, "mine.py:f")
        assert load_name(str(path), "state", "model").value is load_name(str(path), "state", "model").value
        path.write_text("def f(): return 8")
        second = load_name(str(path), "f", "model")
        assert (second.value(), second.version != first.version) == (8, True)
    finally:
        sys.path.remove(str(tmp_path))


@pytest.mark.parametrize(
    ("code", "words"), [("1 / 0", "ZeroDivisionError"), ("def g(): ...", "it has g"), ("(", "SyntaxError")]
)
def test_files_that_cannot_be_used(tmp_path, code, words):
    path = tmp_path / "mine.py"
    path.write_text(code)
    with pytest.raises(UsageError, match=words):
        load_name(str(path), "f", "model")


def test_versions_change_with_the_code_and_its_values():
    def make(value):
        return lambda question: question + value

    assert version_of(make("a")) == version_of(make("a")) != version_of(make("b"))
    assert version_of(lambda question: question) != version_of(lambda question: question.upper())
    assert version_of(len) == UNKNOWN_VERSION
