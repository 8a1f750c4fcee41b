"""Texts without their marks, and the part of the text that each mark belongs to."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.citation_marks import Cited
from ragstone.text.cited_parts import cited_parts, clean, without_marks
from ragstone.text.refusals import find_refusal
from ragstone.text.statements import statements

CHUNKS = [Cited("a"), Cited("b"), Cited("c", "handbook.pdf")]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It opens at nine [1]. It closes [2].", "It opens at nine. It closes."),
        ("It opens at nine.[1][2] It closes.", "It opens at nine. It closes."),
        ("It opens at nine. [1] It closes.", "It opens at nine. It closes."),
        ("It opens (see [1], [2] and [3]) daily.", "It opens daily."),
        ("It opens ([1]).", "It opens."),
        ("According to [1], it opens.", "it opens."),
        ("It opens. See [1].", "It opens."),
        ("It opens 【1†source】 and closes¹.", "It opens and closes."),
        ("- [1] It opens\n- It closes [2]", "- It opens\n- It closes"),
        ("It opens.[^1]\n\nSources:\n[^1]: handbook.pdf", "It opens."),
        ("It opens [1].\n\n## References\n1. A book\n2. Another", "It opens."),
        # The mark stands for a name.
        ("[1] says that it opens.", "[1] says that it opens."),
        ("As in [1] it opens.", "As in [1] it opens."),
        # What is no citation stays.
        ("Use `rows[1]` in [1999].", "Use `rows[1]` in [1999]."),
        ("[1] Buy bread\n[2] Buy milk", "[1] Buy bread\n[2] Buy milk"),
        ("![1](x.png) and https://elsewhere.example", "![1](x.png) and https://elsewhere.example"),
        # Of a link the words stay.
        ("A [large pier](https://elsewhere.example).", "A large pier."),
        ("It opens (see [hours](https://port.example)).", "It opens."),
        ("", ""),
    ],
)
def test_without_marks(text, plain):
    assert without_marks(text) == plain


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It opens at nine [1]. It closes at five.", [("It opens at nine [1].", (0,))]),
        ("It opens at nine.[1] It closes at five. [2]", [("It opens at nine.", (0,)), ("It closes at five.", (1,))]),
        ("It opens [1] and closes at five [2].", [("It opens", (0,)), (" and closes at five [2].", (1,))]),
        ("It opens [1] and closes at five.", [("It opens [1] and closes at five.", (0,))]),
        ("According to [1], it opens at nine.", [("it opens at nine.", (0,))]),
        ("It opens [1][1].", [("It opens [1][1].", (0,))]),
        ("It opens [8][9].", [("It opens [8][9].", ()), ("It opens [8][9].", ())]),
        ("- It opens [1]\n- It closes [2]", [("- It opens", (0,)), ("- It closes", (1,))]),
        ("It opens.\n[2] It closes.", [("It closes.", (1,))]),
    ],
)
def test_the_part_that_a_citation_belongs_to(text, parts):
    assert [(text[one.part.start : one.part.end], one.chunks) for one in cited_parts(text, CHUNKS)] == parts


def test_places_go_there_and_back():
    text = "It opens [1] at nine [2, 3]. Yes."
    cleaned = clean(text)
    for start in range(len(cleaned.text)):
        for end in range(start + 1, len(cleaned.text) + 1):
            span = cleaned.original(start, end)
            assert (cleaned.place(span.start), cleaned.place(span.end)) == (start, end)


MARKS = st.sampled_from(
    ["[1]", "[2][3]", "[1, 2]", "[1-3]", "[doc-2]", "[Source 1]", "[^1]", "【1†source】", "【4:0†handbook.pdf】"]
)
WORDS = st.sampled_from(
    [
        "harbour",
        "ferry",
        "opens",
        "closes",
        "at",
        "nine",
        "five",
        "daily",
        "pier",
        "light",
        "red",
        "large",
        "Arden",
        "Maren",
        "1999",
        "12",
    ]
)
SENTENCES = st.lists(WORDS, min_size=3, max_size=9).map(lambda words: " ".join(words).capitalize())


@given(
    st.lists(
        st.tuples(SENTENCES, st.sampled_from(["", " {}", "{}", " ({})", " {}, {}"]), st.booleans(), MARKS), max_size=6
    )
)
def test_marks_change_no_claim(drawn):
    """A text with marks before or after the full stops says what it says without them."""
    plain = " ".join(f"{sentence}." for sentence, *_ in drawn)
    marked = " ".join(
        f"{sentence}.{shape.format(mark, mark)}" if after else f"{sentence}{shape.format(mark, mark)}."
        for sentence, shape, after, mark in drawn
    )
    assert without_marks(marked) == plain
    assert statements("Where is it?", without_marks(marked)) == statements("Where is it?", plain)


@given(st.text(alphabet=string.ascii_letters + " .,;!?-\n'\"()", max_size=200))
def test_a_text_without_marks_is_not_changed(text):
    assert without_marks(text) == text
    assert cited_parts(text, CHUNKS) == []


@given(st.text(alphabet="[]()【】†^1234567890¹² .`\n#:-abHdoc", max_size=120))
def test_any_text_can_be_read(text):
    cleaned = clean(text)
    assert len(cleaned.text) <= len(text)
    for one in cited_parts(text, CHUNKS):
        assert 0 <= one.start < one.end <= len(text)
        assert 0 <= one.part.start <= one.part.end <= len(text)
        assert all(0 <= chunk < len(CHUNKS) for chunk in one.chunks)


@pytest.mark.slow
def test_many_marks_are_read_once():
    started = time.process_time()
    assert len(cited_parts("`a` [1] " * 800, [Cited("c1", None)])) >= 1
    assert len(cited_parts("Word is here [1]. " * 800, [Cited("c1", None)])) == 800
    assert time.process_time() - started < 10


def _footnotes(count: int) -> str:
    marks = "".join(f"word{n} and [^{n}] " for n in range(count))
    return f"{marks}\n" + "".join(f"[^{n}]: source {n}\n" for n in range(count))


@pytest.mark.parametrize(
    "make",
    [
        _footnotes,
        lambda n: "a [1]" + " " * (20 * n) + "x [2]",
        lambda n: "Sources" + " " * (20 * n) + "x [1]",
        lambda n: "See [1]" + " " * (20 * n) + "x",
        lambda n: "and [1] " * n,
        lambda n: "[1] a\n" * n,
        lambda n: "I cannot say" + " " * (20 * n) + "x",
    ],
)
def test_time_grows_with_the_length(make):
    """Twice the text takes about twice the time, not four or eight times."""

    def seconds(count: int) -> float:
        times = []
        for more in ("", "a", "ab"):  # results are cached by text
            text = make(count) + more
            start = time.process_time()
            cited_parts(text, [Cited("a", "b")])
            find_refusal(text)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(2000) < 3.2 * seconds(1000) + 0.05
