import pytest

from ragstone.data.usage import number_of, question_of


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), ("1.5", 1.5), (" 2 ", 2.0), (True, None), ("", None), ("nan", None), ("1e999", None), ([1], None)],
)
def test_numbers_are_finite_and_may_be_written_as_text(value, number):
    assert number_of(value) == number


def test_repeats_answer_the_same_question():
    assert question_of("q1", None) == "q1"
    assert question_of("q1-2", {"repeat_of": "q1"}) == "q1"
    assert question_of("8", {"repeat_of": 7}) == "7"
