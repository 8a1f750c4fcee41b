"""The content of a column in figures."""

from ragstone.formats.column_profile import ColumnProfile


def test_questions():
    assert ColumnProfile("a", ["Where is it?", "how far is it", "It is here.", None]).questions == 2 / 3
    assert ColumnProfile("a", ["多少度？", "الى متى؟"]).marked_questions == 1.0


def test_lists_in_texts():
    profile = ColumnProfile("a", ['["one two", "three"]', "['four']", ""])
    assert profile.has_lists
    assert profile.items == ["one two", "three", "four"]


def test_ids():
    assert ColumnProfile("a", ["a1", "a2", "a3"]).looks_like_ids
    assert not ColumnProfile("a", ["a1", "a1", "a3"]).looks_like_ids
    assert not ColumnProfile("a", ["a1", None, "a3"]).looks_like_ids
    assert not ColumnProfile("a", [True, False]).looks_like_ids


def test_addresses():
    assert ColumnProfile("a", ["https://x.org/a", "manual.pdf"]).addresses == 1.0


def test_words_without_spaces_are_counted():
    assert ColumnProfile("a", ["八十度左右的水"]).words > 3


def test_shared_words_are_those_of_the_same_row():
    first, second = ColumnProfile("a", ["one two", None, "three"]), ColumnProfile("b", ["two", "x", "three four"])
    assert first.shared_words(second) == 0.75
