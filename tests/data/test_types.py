"""A score is a value, or the reason why there is none."""

import pytest

from ragstone.data.types import Score


def test_ok_score_has_a_value():
    assert Score(0.5) == Score(0.5, "ok", None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "a ok score cannot have the value None"),
        ((0.5, "skipped", "why"), "a skipped score cannot have the value 0.5"),
        ((0.0, "failed", "why"), "a failed score cannot have the value 0.0"),
        ((None, "failed"), "a failed score needs a reason"),
        ((None, "skipped", ""), "a skipped score needs a reason"),
    ],
)
def test_a_failure_is_never_a_number(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        Score(*arguments)
