"""Language models as tools: what is asked at a time, how replies are counted, and what is not asked at all."""

import asyncio
import json
import re

import pytest

from ragstone.data.types import Claim
from ragstone.errors import UnknownNameError
from ragstone.llm.base import LLMReplyError
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.testing import FakeLLM
from ragstone.tools.llm_judges import JudgeChecker, JudgeExtractor, JudgeReader

BOTH = ("reference_claims", "reference_entities")


def judge(replies):
    llm = FakeLLM(replies if callable(replies) else [json.dumps(reply) for reply in replies])
    return llm, Judge(llm, PromptBook())


def shown(request, what):
    """The items of a list in the last message."""
    text = request.messages[-1].content
    inside = re.search(rf"<{what} (\w+)[ \d]*>(.*)</{what} \1>", text, re.DOTALL)
    return re.findall(rf"\[(\d+) {inside[1]}\] (.*)", inside[2])


def word_in_chunks(request):
    """A perfect judge of claims that are single words: a chunk supports a word that it has, and contradicts 'not word'."""
    claims = shown(request, "claims")
    chunks = shown(request, "chunks")
    verdicts = []
    for number, claim in claims:
        for_it = [int(at) for at, text in chunks if claim in text.split() and f"not {claim}" not in text]
        against = [int(at) for at, text in chunks if f"not {claim}" in text]
        words = [word for word, found in (("entailment", for_it), ("contradiction", against)) if found]
        verdicts.append(
            {
                "claim": int(number),
                "supported_by": for_it,
                "contradicted_by": against,
                "together": next(iter(words), "neutral"),
            }
        )
    return json.dumps({"verdicts": verdicts})


def test_claims_against_chunks_in_groups_are_the_same_as_at_once():
    claims = ["oak", "elm", "ash", "fir", "yew"]
    chunks = ["oak and elm", "not oak here", "fir", "nothing", "ash elm"]
    one, alone = judge(word_in_chunks)
    at_once = asyncio.run(JudgeChecker(alone).against_chunks("q", claims, chunks))
    many, several = judge(word_in_chunks)
    checker = JudgeChecker(several, claims_per_call=2, chunks_per_call=2)
    in_groups = asyncio.run(checker.against_chunks("q", claims, chunks))
    assert len(one.requests) == 1
    assert len(many.requests) == 3 * 3
    assert at_once == in_groups
    e, n, c = "entailment", "neutral", "contradiction"
    assert at_once.each == [[e, c, n, n, n], [e, n, n, n, e], [n, n, n, n, e], [n, n, e, n, n], [n] * 5]
    assert at_once.together == [e, e, e, e, n]
    assert at_once.agreement is None


def test_what_one_chunk_says_all_together_say_too():
    reply = {"verdicts": [{"claim": 1, "supported_by": [2], "contradicted_by": [], "together": "neutral"}]}
    _, asked = judge([reply])
    assert asyncio.run(JudgeChecker(asked).against_chunks("q", ["x"], ["a", "b"])).together == ["entailment"]


def test_the_majority_of_repeats_counts_and_agreement_is_told():
    def verdicts(first, second):
        rows = [
            {
                "claim": 1,
                "supported_by": first,
                "contradicted_by": [],
                "together": "entailment" if first else "neutral",
            },
            {"claim": 2, "supported_by": second, "contradicted_by": [], "together": "neutral"},
        ]
        return {"verdicts": rows}

    llm, asked = judge([verdicts([1], []), verdicts([1], []), verdicts([], [])])
    found = asyncio.run(JudgeChecker(asked, repeats=3).against_chunks("q", ["x", "y"], ["a"]))
    assert found.each == [["entailment"], ["neutral"]]
    # Of the first claim both cells have two votes of three, of the second all.
    assert found.agreement == pytest.approx([2 / 3, 1.0])
    assert [request.repeat for request in llm.requests] == [0, 1, 2]


@pytest.mark.parametrize(
    ("verdicts", "problem"),
    [
        ([(1, "entailment")], "there is no verdict for claim 2"),
        ([(1, "entailment"), (2, "neutral"), (3, "neutral")], "there is no claim 3"),
        ([(1, "entailment"), (2, "neutral"), (2, "entailment")], "more than one verdict"),
    ],
)
def test_a_reply_that_does_not_fit_the_claims_is_asked_for_again_and_then_fails(verdicts, problem):
    wrong = {"verdicts": [{"claim": claim, "verdict": word} for claim, word in verdicts]}
    right = {"verdicts": [{"claim": 2, "verdict": "neutral"}, {"claim": 1, "verdict": "entailment"}]}
    llm, asked = judge([wrong, right])
    assert asyncio.run(JudgeChecker(asked).against_text("q", ["x", "y"], "text")) == ["entailment", "neutral"]
    assert problem in llm.requests[1].messages[-1].content
    _, asked = judge([wrong, wrong])
    with pytest.raises(LLMReplyError, match=problem):
        asyncio.run(JudgeChecker(asked).against_text("q", ["x", "y"], "text"))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"supported_by": [3], "contradicted_by": []}, "there is no chunk 3"),
        ({"supported_by": [1], "contradicted_by": [1]}, "cannot both support and contradict"),
    ],
)
def test_a_reply_that_does_not_fit_the_chunks(row, problem):
    wrong = {"verdicts": [{"claim": 1, "together": "neutral", **row}]}
    _, asked = judge([wrong, wrong])
    with pytest.raises(LLMReplyError, match=problem):
        asyncio.run(JudgeChecker(asked).against_chunks("q", ["x"], ["a", "b"]))


def test_nothing_is_asked_about_nothing():
    llm, asked = judge([])
    checker, extractor = JudgeChecker(asked), JudgeExtractor(asked)
    assert asyncio.run(checker.against_text("q", [], "text")) == []
    assert asyncio.run(checker.against_text("q", ["x", "y"], " \n")) == ["neutral", "neutral"]
    assert asyncio.run(checker.against_chunks("q", [], ["a"])) == ([], [], None)
    assert asyncio.run(checker.against_chunks("q", ["x"], [])) == ([[]], ["neutral"], None)
    assert asyncio.run(extractor.claims("q", "")) == []
    assert asyncio.run(extractor.content("q", " ", BOTH)) == ([], [])
    assert llm.requests == []


def test_claims_as_sentences_each_once():
    _, asked = judge([{"claims": ["It is red.", " It is red. ", "It is old.", ""]}])
    assert asyncio.run(JudgeExtractor(asked).claims("q", "text")) == [Claim("It is red."), Claim("It is old.")]


def test_claims_as_triplets():
    triplet = {"subject": "The light", "relation": "stands on", "object": "the mole"}
    llm, asked = judge([{"triplets": [triplet]}])
    extractor = JudgeExtractor(asked, "triplets")
    found = asyncio.run(extractor.claims("q", "text"))
    assert found == [Claim("The light stands on the mole", ["The light", "stands on", "the mole"])]
    assert llm.requests[0].prompt == "triplets"
    assert extractor.prompt_hash("claims") == asked.prompt_hash("triplets") != asked.prompt_hash("claims")
    assert extractor.signature != JudgeExtractor(asked).signature
    with pytest.raises(UnknownNameError, match="sentences, triplets"):
        JudgeExtractor(asked, "triplet")


def test_triplets_of_a_reference_whose_names_nobody_wants_in_one_call():
    llm, asked = judge([{"triplets": []}])
    extractor = JudgeExtractor(asked, "triplets")
    assert asyncio.run(extractor.content("q", "text", ("reference_claims",))) == ([], [])
    assert len(llm.requests) == 1


def test_claims_and_names_of_a_reference_in_one_call():
    llm, asked = judge([{"claims": ["Ada was born in London."], "entities": ["Ada", "London", "Ada "]}])
    found = asyncio.run(JudgeExtractor(asked).content("q", "text", BOTH))
    assert found == ([Claim("Ada was born in London.")], ["Ada", "London"])
    assert len(llm.requests) == 1


def test_reading():
    llm, asked = judge(
        [{"needed": [3, 1, 3]}, {"useful": [2]}, {"questions": ["a?", "b?", "c?", "d?"], "noncommittal": False}]
    )
    reader = JudgeReader(asked)
    assert asyncio.run(reader.needed_sentences("q", ["x", "y", "z"])) == [0, 2]
    assert asyncio.run(reader.useful_chunks("q", "answer", ["x", "y"])) == [False, True]
    assert asyncio.run(reader.guess_questions("answer", 3)) == (["a?", "b?", "c?"], False)
    assert [request.prompt for request in llm.requests] == ["needed_sentences", "usefulness", "questions"]


@pytest.mark.parametrize(
    ("ask", "reply", "problem"),
    [
        (lambda reader: reader.needed_sentences("q", ["x"]), {"needed": [2]}, "there is no sentence 2"),
        (lambda reader: reader.useful_chunks("q", "a", ["x"]), {"useful": [0]}, "there is no chunk 0"),
        (lambda reader: reader.guess_questions("a", 3), {"questions": [], "noncommittal": False}, "no question"),
    ],
)
def test_numbers_that_were_not_shown_are_refused(ask, reply, problem):
    _, asked = judge([reply, reply])
    with pytest.raises(LLMReplyError, match=problem):
        asyncio.run(ask(JudgeReader(asked)))


def test_what_is_asked_at_a_time_is_part_of_the_signature():
    _, asked = judge([])
    settings = [{}, {"repeats": 3}, {"claims_per_call": 5}, {"chunks_per_call": 5}]
    assert len({JudgeChecker(asked, **chosen).signature for chosen in settings}) == len(settings)
