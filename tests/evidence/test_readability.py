"""Letters, words, syllables and sentences, counted by hand."""

import pyarrow as pa
import pytest

from ragstone.evidence.readability import answer_size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat on the mat.", (17, 6, 6, 1)),
        ("It's well-known. Isn't it?", (18, 4, 6, 2)),
        ("Pi is 3.14, not 3,000.", (14, 5, 10, 1)),
        ("one_two", (6, 2, 2, 1)),
        ("Cafe\u0301 NAÏVE", (9, 2, 3, 1)),
        ("東京", (2, 2, 2, 1)),
        ("", (0, 0, 0, 0)),
        ("... !", (0, 0, 0, 0)),
        ("x\x00y", (2, 2, 2, 1)),
    ],
)
def test_counts(text, expected):
    assert answer_size(pa.array([text])).tolist() == [list(expected)]


def test_no_rows():
    assert answer_size(pa.array([], type=pa.string())).shape == (0, 4)
