"""The items of the exam, and the marks."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from ragstone.data.types import Claim, PairVerdict
from ragstone.errors import Skip
from ragstone.llm.base import LLMReplyError
from ragstone.text.refusals import find_refusal
from ragstone.tools.judge_exam import ExamMark, ask_items, find_patterns, load_items, mark
from tests.tools.checking import Found, Stub


class Always(Stub):
    """A judge that gives the same reply to everything."""

    def __init__(self, word="entailment", seat="A", error=None):
        self.word, self.seat, self.error = word, seat, error

    async def in_text(self, question, claims, text):
        if self.error:
            raise self.error
        return [self.word] * len(claims)

    async def in_chunks(self, question, claims, chunks):
        each = [["entailment" if at == row else "neutral" for at in range(len(chunks))] for row in range(len(claims))]
        return Found(each, [self.word] * len(claims))

    async def matches(self, question, answer, references):
        return [1.0] * len(references)

    async def compare(self, question, one, other, contexts, reference):
        seats = {"A": ("one", "other"), "B": ("other", "one"), "tie": ("tie", "tie")}[self.seat]
        return [PairVerdict("one", seats[0], ""), PairVerdict("other", seats[1], "")]

    async def claims(self, question, text):
        return [Claim(text)]


def examine(judge):
    tools = dict.fromkeys(("checker", "grader", "pair_judge", "extractor"), judge)
    answers, _ = asyncio.run(ask_items(load_items(), tools, []))
    return answers


def test_the_items():
    items = load_items()
    assert len(items) == 40
    verdicts = [item.data for item in items if item.kind == "verdict"]
    assert set(Counter(data["right"] for data in verdicts).values()) == {8}
    assert set(Counter(data["right"] for data in verdicts if data.get("first")).values()) == {4}
    assert {item.data["language"] for item in items} == {"en", "de", "fr", "es", "zh"}
    assert len({(data["claim"], data["text"]) for data in verdicts}) == 24
    matches = [item.data["right"] for item in items if item.kind == "match"]
    assert sum(matches) * 2 == len(matches)
    for item in items:
        if item.kind == "grid":
            assert all(right != place for place, right in enumerate(item.data["right"], start=1))
        for text in ("text", "answer", "better", "worse"):
            # Some tools do not ask about a text that refuses.
            assert text not in item.data or not find_refusal(item.data[text]), item


def test_the_items_are_in_no_prompt():
    """A judge must not be shown an item as an example."""
    prompts = Path(__file__).parents[2] / "src" / "ragstone" / "llm"
    shown = "".join(path.read_text(encoding="utf-8") for path in prompts.rglob("*.md"))
    assert shown.count("## Example") > 20
    for item in load_items():
        for text in ("text", "claim", "question"):
            assert text not in item.data or item.data[text] not in shown


@pytest.mark.parametrize("word", ["entailment", "neutral", "contradiction"])
def test_a_judge_that_always_says_the_same(word):
    answers = examine(Always(word))
    found = {one.task: one for one in mark(answers)}
    assert (found["verdicts"].right, found["verdicts"].asked, found["verdicts"].verdict) == (8, 24, "at chance")
    assert {found[task].verdict for task in ("answer match", "pairs", "claims by chunks")} == {"at chance"}
    patterns = find_patterns(answers)
    assert patterns[0] == f"all 24 verdicts are equal ({word})"
    assert "in pairs it chooses answer A in 8 of 8 replies, in either order" in patterns
    assert "claim number k is supported by chunk number k alone in 6 of 6 claims; never right" in patterns


def test_ties_are_no_seat():
    assert not any("in pairs" in pattern for pattern in find_patterns(examine(Always(seat="tie"))))
    assert any("answer B" in pattern for pattern in find_patterns(examine(Always(seat="B"))))


def test_unusable_replies_are_wrong_and_skipped_items_are_not_asked():
    failed = {one.task: one for one in mark(examine(Always(error=LLMReplyError("no"))))}["verdicts"]
    assert (failed.right, failed.asked, failed.unusable) == (0, 24, 24)
    assert "verdicts" not in {one.task for one in mark(examine(Always(error=Skip("no"))))}


def test_a_judge_of_support_alone():
    found = {one.task: one for one in mark(examine(Always("neutral")), two_way=True)}["verdicts"]
    assert (found.right, found.asked, found.verdict) == (16, 24, "at chance")


@pytest.mark.parametrize(("right", "verdict"), [(12, "at chance"), (13, "weak"), (19, "weak"), (20, "usable")])
def test_the_words(right, verdict):
    assert ExamMark("verdicts", right, 24, 0, 1 / 3).verdict == verdict
