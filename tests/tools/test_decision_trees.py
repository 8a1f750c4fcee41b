"""Decision trees: what a file may say, every mistake by name, and the path that is asked for."""

import asyncio
import json

import pytest

from ragstone.errors import UsageError
from ragstone.llm.base import LLMReplyError
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.testing import FakeLLM
from ragstone.tools.checklists import Leaf, read_checklists
from ragstone.tools.llm_rater import JudgeRater

TREE = """
[refund]
shows = ["question", "contexts"]

[refund.tree.on_topic]
ask = "Does it answer what was asked?"
yes = "deadline"
no = { score = 0, reason = "It answers something else." }

[refund.tree.deadline]
ask = "How does it give the deadline?"
"as a date" = 1
"vaguely" = "polite"
"not at all" = "polite"

[refund.tree.polite]
ask = "Is it polite?"
yes = { score = 0.5, reason = "Polite, without a date." }
no = 0.25
"""


def read(tmp_path, text=TREE):
    file = tmp_path / "ours.toml"
    file.write_text(text)
    return read_checklists(file)["refund"]


def test_a_tree_is_read_and_two_answers_may_lead_to_one_question(tmp_path):
    tree = read(tmp_path)
    assert list(tree.decisions) == ["on_topic", "deadline", "polite"]
    assert tree.decisions["on_topic"].steps == {"yes": "deadline", "no": Leaf(0.0, "It answers something else.")}
    assert tree.lengths == {"on_topic": 3, "deadline": 2, "polite": 1}
    assert tree.longest(tree.decisions["on_topic"]) == "yes"
    assert tree.hash != read(tmp_path, TREE.replace("0.25", "0.3")).hash


NODE = "[refund.tree.a]\nask = 'x'\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            TREE.replace('yes = "deadline"', 'yes = "dead_line"'),
            "'on_topic' leads to 'dead_line', which is not a question",
        ),
        (TREE.replace("no = 0.25", 'no = "deadline"'), "in a circle: deadline → polite → deadline"),
        (f"{NODE}yes = 'a'\nno = 0", "in a circle: a → a"),
        (TREE.replace('yes = "deadline"', "yes = 1"), "no answer leads to 'deadline', 'polite'"),
        (
            TREE.replace("no = 0.25", "no = 2"),
            "question 'polite', answer 'no': write the next question, a score from 0 to 1",
        ),
        (TREE.replace("no = 0.25", "no = true"), "a score from 0 to 1"),
        (TREE.replace("no = 0.25", "no = { reason = 'r' }"), "a score from 0 to 1"),
        (TREE.replace("no = 0.25", "no = { score = 1, points = 3 }"), "a score from 0 to 1"),
        (f"{NODE}yes = 1", "two answers or more"),
        (f"{NODE}yes = 1\nYES = 0", "which differ in letters or digits"),
        (f"{NODE}'+' = 1\n'-' = 0", "which differ in letters or digits"),
        ("[refund.tree.a]\nyes = 1\nno = 0", "'ask' is missing"),
        ("[refund]\ntree = 'a'", "as [refund.tree.NAME]"),
        ("[refund.tree]", "1 to 50 questions"),
        (f"[refund]\nshows = ['facts']\n{NODE}yes = 1\nno = 0", "'shows' cannot have 'facts'"),
        (f"[refund]\nreason = true\n{NODE}yes = 1\nno = 0", "unknown key 'reason'"),
    ],
)
def test_mistakes_are_named(tmp_path, text, words):
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert "ours.toml, [refund]" in str(caught.value)


def decide(tmp_path, *choices):
    llm = FakeLLM([json.dumps({"reason": f"because {choice}", "choice": choice}) for choice in choices])
    rater = JudgeRater(Judge(llm, PromptBook()))
    return llm, asyncio.run(rater.check(read(tmp_path), "q", "Soon, dear.", ["a chunk"]))


def test_only_the_questions_on_the_path_are_asked(tmp_path):
    llm, checks = decide(tmp_path, "Yes.", "VAGUELY", "yes")
    assert [(check.item, check.verdict, check.reason) for check in checks] == [
        ("Does it answer what was asked?", "yes", "because Yes."),
        ("How does it give the deadline?", "vaguely", "because VAGUELY"),
        ("Is it polite?", "yes", "because yes"),
        ("score", "0.5", "Polite, without a date."),
    ]
    first, second, _ = (request.messages[0].content for request in llm.requests)
    assert "Does it answer what was asked?" in first
    assert '- "as a date"\n- "vaguely"\n- "not at all"' in second
    assert "Is it polite?" not in first + second
    assert llm.requests[1].schema["properties"]["choice"]["enum"] == ["as a date", "vaguely", "not at all"]
    assert "a chunk" in llm.requests[0].messages[-1].content
    llm, checks = decide(tmp_path, "no")
    assert len(llm.requests) == 1
    assert checks[-1].verdict == "0"


def test_a_choice_that_does_not_exist_is_asked_for_again_and_then_fails(tmp_path):
    llm, checks = decide(tmp_path, "maybe", "no")
    assert checks[-1].verdict == "0"
    assert "choose one of: yes, no" in llm.requests[1].messages[-1].content
    with pytest.raises(LLMReplyError):
        decide(tmp_path, "maybe", "perhaps")
