"""Word diffs lose nothing; the nearest miss is where a person would look."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.report.html.marked_text import overlay
from ragstone.text.word_diff import is_readable, word_diff
from ragstone.web.pages.facts import nearest_miss

WORDS = st.lists(st.sampled_from(["a", "boat", "red", "leaves", " ", "\n", ".", ",", "9", "é"]), max_size=30).map(
    "".join
)


@given(WORDS, WORDS)
def test_a_diff_holds_both_texts(before, after):
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after
    if before == after:
        assert {piece.kind for piece in pieces} <= {"same"}


def test_a_changed_word_is_found():
    pieces = word_diff("The boat leaves at nine.", "The boat leaves at ten.")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("same", "The boat leaves at "),
        ("gone", "nine"),
        ("new", "ten"),
        ("same", "."),
    ]


def test_neighbouring_changes_are_read_as_one():
    pieces = word_diff("one two three four", "one 2 3 four")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("same", "one "),
        ("gone", "two three"),
        ("new", "2 3"),
        ("same", " four"),
    ]


def test_the_nearest_miss_is_found_with_whole_words():
    texts = ["Nothing of the kind.", "They said: the boat leaves the harbour at ten every day. More follows."]
    miss = nearest_miss("The boat leaves the harbour at nine", texts)
    assert miss.text == 1
    assert texts[1][miss.start : miss.end].startswith("the boat leaves the harbour at")
    assert texts[1][miss.start - 1 : miss.start] == " "
    assert not texts[1][miss.end].isalnum()
    assert 70 < miss.similarity < 100


def test_what_comes_not_near_is_no_miss():
    assert nearest_miss("The boat leaves the harbour at nine", ["zzzz", ""]) is None
    assert nearest_miss("", ["text"]) is None
    assert nearest_miss("wanted", []) is None


def test_letters_that_change_their_length_do_not_shift_the_place():
    text = "İ" * 50 + " the boat leaves at nine"
    miss = nearest_miss("the boat leaves at nine", [text])
    assert text[miss.start : miss.end].strip() == "the boat leaves at nine"


def test_texts_shorter_than_the_fact():
    miss = nearest_miss("the boat leaves at nine from the old harbour", ["leaves at nine"])
    assert (miss.start, miss.end) == (0, 14)


def test_a_diff_is_readable_if_the_texts_share_enough():
    assert is_readable(word_diff("the boat leaves at nine", "the boat leaves at ten"))
    assert not is_readable(word_diff("I do not know", "60 days"))
    assert is_readable([])


def test_changes_and_numbers_are_laid_over_one_text():
    pieces = word_diff("a red boat", "a blue boat, late")
    parts = [("a bl", ()), ("ue boat", (1,)), (", late and more", ())]
    found = overlay(parts, pieces, "new")
    assert "".join(piece["text"] for piece in found) == "a blue boat, late and more"
    assert "".join(piece["text"] for piece in found if piece["kind"]) == "blue, late"
    assert "".join(piece["text"] for piece in found if piece["numbers"]) == "ue boat"
    assert [piece["kind"] for piece in overlay([("a red boat", ())], pieces, "gone", alike=False)] == [""]
