"""A sample as Markdown."""

import pytest

from ragstone.report.sample_markdown import fence


@pytest.mark.parametrize("text", ["plain", "```\ninside\n```", "`````` and ```", "a\n~~~\n# b", "\x1b[31m\u202e"])
def test_no_text_ends_its_fence(text):
    first, *inside, last = fence(text)
    assert first == f"{last}text"
    assert set(last) == {"`"}
    assert not any(last in line for line in inside)
    assert not {"\x1b", "\u202e"} & set("".join(inside))
