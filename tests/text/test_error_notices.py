"""Answers that call their sources wrong, and answers that do not."""

import pytest

from ragstone.text.error_notices import find_error_notice

SAY_SO = [
    "There are factual errors in the provided documents. The answer is Tampa.",
    "所提供的文档存在事实性错误。正确答案是70。",
    "The document is incorrect: the game was in Tampa.",
    "The passages contain wrong information about the year.",
    "That date is a mistake in the text; it was 1903.",
    "The information provided is not correct.",
    "Contrary to what the provided documents say, it was 1903.",
    "资料中的年份有误，应为1903年。",
    "This is factually incorrect.",
]
DO_NOT = [
    "It was in Tampa, Florida.",
    "There are no factual errors in the provided documents. It was in Tampa.",
    "I found no errors in the documents.",
    "The documents do not contain factual errors.",
    "文档中没有事实性错误。",
    "I cannot answer the question because of insufficient information in the documents.",
    "The wrong turn led them to the harbour.",
    "He was mistaken for his brother.",
    "",
]


@pytest.mark.parametrize("answer", SAY_SO)
def test_it_says_so(answer):
    found = find_error_notice(answer)
    assert found
    assert found in answer


@pytest.mark.parametrize("answer", DO_NOT)
def test_it_does_not(answer):
    assert find_error_notice(answer) is None
