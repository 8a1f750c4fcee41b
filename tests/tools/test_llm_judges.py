"""Language models as tools: what is asked at a time, how replies are counted, and what is not asked at all."""

import asyncio
import json
import re

import jsonschema
import pytest

from ragstone.data.types import Claim
from ragstone.errors import UnknownNameError
from ragstone.llm.base import LLMBusyError, LLMReplyError, Reply
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.testing import FakeLLM
from ragstone.tools.llm_extractor import JudgeExtractor
from ragstone.tools.llm_judges import JudgeChecker, JudgeReader
from tests.tools.checking import in_chunks, in_text

BOTH = ("reference_claims", "reference_entities")


def judge(replies):
    llm = FakeLLM(replies if callable(replies) else [json.dumps(reply) for reply in replies])
    return llm, Judge(llm, PromptBook())


def shown(request, what):
    """The items of a list in the last message."""
    text = request.messages[-1].content
    inside = re.search(rf"<{what} (\w+)[ \d]*>(.*)</{what} \1>", text, re.DOTALL)
    return re.findall(rf"\[(\d+|[A-Z]+) {inside[1]}\] (.*)", inside[2])


def word_in_chunks(request):
    """A perfect judge of claims that are single words: a chunk supports a word that it has, and contradicts 'not word'."""
    claims = shown(request, "claims")
    chunks = shown(request, "chunks")
    verdicts = []
    for number, claim in claims:
        for_it = [at for at, text in chunks if claim in text.split() and f"not {claim}" not in text]
        against = [at for at, text in chunks if f"not {claim}" in text]
        verdicts.append({"claim": int(number), "supported_by": for_it, "contradicted_by": against})
    return json.dumps({"verdicts": verdicts})


def test_claims_against_chunks_in_groups_are_the_same_as_at_once():
    claims = ["oak", "elm", "ash", "fir", "yew"]
    chunks = ["oak and elm", "not oak here", "fir", "nothing", "ash elm"]
    one, alone = judge(word_in_chunks)
    at_once = asyncio.run(in_chunks(JudgeChecker(alone), "q", claims, chunks))
    many, several = judge(word_in_chunks)
    checker = JudgeChecker(several, claims_per_call=2, chunks_per_call=2)
    in_groups = asyncio.run(in_chunks(checker, "q", claims, chunks))
    assert len(one.requests) == 1
    assert len(many.requests) == 3 * 3
    assert at_once == in_groups
    e, n, c = "entailment", "neutral", "contradiction"
    assert at_once.each == [[e, c, n, n, n], [e, n, n, n, e], [n, n, n, n, e], [n, n, e, n, n], [n] * 5]
    assert at_once.together == [e, e, e, e, n]
    assert at_once.agreement is None


def entry(claim, supported_by=(), contradicted_by=()):
    return {"claim": claim, "supported_by": list(supported_by), "contradicted_by": list(contradicted_by)}


@pytest.mark.parametrize(
    ("row", "each", "together"),
    [
        (entry(1, "B"), ["neutral", "entailment", "neutral"], "entailment"),
        (entry(1, "B", "A"), ["contradiction", "entailment", "neutral"], "entailment"),
        (entry(1, "", "C"), ["neutral", "neutral", "contradiction"], "contradiction"),
        (entry(1, ["A+C"]), ["neutral"] * 3, "entailment"),
        (entry(1), ["neutral"] * 3, "neutral"),
        # Of a prompt of the user's own that still asks for it.
        ({**entry(1, "A"), "together": "contradiction"}, ["entailment", "neutral", "neutral"], "entailment"),
    ],
)
def test_what_all_chunks_say_follows_from_what_each_says(row, each, together):
    """A reply that said `supported_by: [1], together: contradiction` made two faithfulness metrics contradict each other."""
    _, asked = judge([{"verdicts": [row]}])
    found = asyncio.run(in_chunks(JudgeChecker(asked), "q", ["x"], ["a", "b", "c"]))
    assert (found.each, found.together) == ([each], [together])


def test_the_majority_of_repeats_counts_and_agreement_is_told():
    def verdicts(first, second):
        return {"verdicts": [entry(1, first), entry(2, second)]}

    llm, asked = judge([verdicts("A", ""), verdicts("A", ""), verdicts("", "")])
    found = asyncio.run(in_chunks(JudgeChecker(asked, repeats=3), "q", ["x", "y"], ["a"]))
    assert found.each == [["entailment"], ["neutral"]]
    # Of the first claim both cells have two votes of three, of the second all.
    assert found.agreement == pytest.approx([2 / 3, 1.0])
    assert [request.repeat for request in llm.requests] == [0, 1, 2]


def verdict(claim, word):
    return {"claim": claim, "verdict": word}


@pytest.mark.parametrize(
    ("verdicts", "problem"),
    [
        ([verdict(2, "entailment")], "there is no verdict for claim 1"),
        ([verdict(1, "entailment"), verdict(2, "neutral")], "there is no claim 2"),
        ([verdict(1, "entailment"), verdict(1, "neutral")], "more than one verdict"),
    ],
)
def test_a_reply_that_does_not_fit_the_claim_is_asked_for_again_and_then_fails(verdicts, problem):
    wrong, right = {"verdicts": verdicts}, {"verdicts": [verdict(1, "entailment")]}
    llm, asked = judge([wrong, right])
    assert asyncio.run(in_text(JudgeChecker(asked), "q", ["x"], "text")) == ["entailment"]
    assert problem in llm.requests[1].messages[-1].content
    _, asked = judge([wrong, wrong])
    with pytest.raises(LLMReplyError, match=problem):
        asyncio.run(in_text(JudgeChecker(asked), "q", ["x"], "text"))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (entry(1, "C"), "there is no chunk C, the chunks are A to B"),
        (entry(1, ["A+E"]), "there is no chunk E"),
        (entry(1, [1]), "not what was asked for"),
        (entry(1, "A", "A"), "cannot both support and contradict"),
    ],
)
def test_a_reply_that_does_not_fit_the_chunks(row, problem):
    wrong = {"verdicts": [row]}
    _, asked = judge([wrong, wrong])
    with pytest.raises(LLMReplyError, match=problem):
        asyncio.run(in_chunks(JudgeChecker(asked), "q", ["x"], ["a", "b"]))


def test_the_schema_allows_what_was_shown_and_nothing_else():
    llm, asked = judge([{"verdicts": [entry(1), entry(2)]}])
    asyncio.run(in_chunks(JudgeChecker(asked), "q", ["x", "y"], ["a", "b"]))
    schema = llm.requests[0].schema
    jsonschema.validate({"verdicts": [entry(1, ["A+B"]), entry(2, "", "AB")]}, schema)
    for bad in (
        [entry(1)],
        [entry(1), entry(2), entry(2)],
        [entry(1), entry(3)],
        [entry(1, "C"), entry(2)],
        [entry(1, "AA"), entry(2)],
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"verdicts": bad}, schema)


def words_in_text(fails):
    """A judge of claims that are words of the text; requests for which `fails` gives something get that instead."""

    def reply(request):
        claims = shown(request, "claims")
        if (wrong := fails(claims)) is not None:
            return wrong
        text = re.search(r"<text (\w+)>(.*)</text \1>", request.messages[-1].content, re.DOTALL)[2].split()
        said = [verdict(int(number), "entailment" if word in text else "neutral") for number, word in claims]
        return json.dumps({"verdicts": said})

    return reply


@pytest.mark.parametrize("wrong", ["no idea", LLMBusyError("no reply within 120 s", timed_out=True)])
def test_claims_are_asked_about_in_smaller_groups_after_a_failure(wrong):
    """Not unchanged, and not with the error: a model that cannot answer for five may answer for three and for two."""
    llm, asked = judge(words_in_text(lambda claims: wrong if len(claims) > 3 else None))
    found = asyncio.run(in_text(JudgeChecker(asked), "q", ["oak", "elm", "ash", "fir", "yew"], "oak ash yew"))
    assert [word == "entailment" for word in found] == [True, False, True, False, True]
    assert [len(shown(request, "claims")) for request in llm.requests] == [5, 3, 2]
    assert len({len(request.messages) for request in llm.requests}) == 1


def test_a_single_claim_that_times_out_fails_with_the_reason():
    late = LLMBusyError("no reply within 120 s", timed_out=True)
    llm, asked = judge(words_in_text(lambda claims: late))
    with pytest.raises(LLMBusyError, match="no reply within 120 s"):
        asyncio.run(in_text(JudgeChecker(asked), "q", ["oak"], "oak"))
    assert len(llm.requests) == 1


def test_nothing_is_asked_about_nothing():
    llm, asked = judge([])
    checker, extractor = JudgeChecker(asked), JudgeExtractor(asked)
    assert asyncio.run(in_text(checker, "q", [], "text")) == []
    assert asyncio.run(in_text(checker, "q", ["x", "y"], " \n")) == ["neutral", "neutral"]
    assert asyncio.run(in_chunks(checker, "q", [], ["a"])) == ([], [], None, [])
    assert asyncio.run(in_chunks(checker, "q", ["x"], [])) == ([[]], ["neutral"], None, [])
    assert asyncio.run(extractor.claims("q", "")) == []
    assert asyncio.run(extractor.content("q", " ", BOTH)) == ([], [])
    assert llm.requests == []


def test_claims_as_sentences_each_once():
    _, asked = judge([{"claims": ["It is red.", " It is red. ", "It is old.", ""]}])
    assert asyncio.run(JudgeExtractor(asked).claims("q", "text")) == [Claim("It is red."), Claim("It is old.")]


HARBOUR = "The harbour was built in 1892. The light stands on the mole. A crossing costs 12 crowns. Dogs travel free."


def test_a_text_is_taken_apart_in_smaller_pieces_after_a_failure():
    """The error is never shown: a model took "The model reached its limit of tokens." for a claim of the text."""

    def reply(request):
        text = re.search(r"<text (\w+)>\n(.*)\n</text \1>", request.messages[-1].content, re.DOTALL)[2]
        lines = [line if line.endswith(".") else f"{line}." for line in text.split(". ")]
        cut = Reply('{"claims": ["The harbour', "m", finish_reason="length")
        return cut if len(lines) > 2 else json.dumps({"claims": lines})

    llm, asked = judge(reply)
    found = asyncio.run(JudgeExtractor(asked).claims("q", HARBOUR))
    assert " ".join(claim.text for claim in found) == HARBOUR
    assert len(llm.requests) == 3
    assert not any("limit of tokens" in request.messages[-1].content for request in llm.requests)


@pytest.mark.parametrize(
    ("question", "text", "claim", "kept"),
    [
        ("When?", HARBOUR, "The model reached its limit of tokens.", False),
        ("When?", HARBOUR, "The port dates from 1892.", True),
        ("When?", HARBOUR, "It has 12 dogs.", True),
        ("Does the night train carry bicycles?", "No.", "The night train does not carry bicycles.", True),
        ("Does the night train carry bicycles?", "No.", "The model reached its limit of tokens.", False),
        ("Wann?", "Der Hafen wurde im Jahr 1892 gebaut.", "Das Modell brach ab.", False),
        ("何时？", "港口建于一八九二年,从那时起就停泊渔船。", "港口建于一八九二年。", True),
        ("何时？", "港口建于一八九二年,从那时起就停泊渔船。", "The model stopped.", False),
    ],
)
def test_a_claim_that_shares_no_word_with_its_text_is_rejected(question, text, claim, kept):
    _, asked = judge([{"claims": [claim]}])
    assert asyncio.run(JudgeExtractor(asked).claims(question, text)) == ([Claim(claim)] if kept else [])


@pytest.mark.parametrize(
    ("text", "claim", "expected"),
    [
        ("No", "No", "Does the night train go to Oskel? No."),
        ("520 km", "520 km", "Does the night train go to Oskel? 520 km."),
        ("No", "The night train does not go to Oskel.", "The night train does not go to Oskel."),
    ],
)
def test_a_fragment_is_completed_by_its_question(text, claim, expected):
    _, asked = judge([{"claims": [claim], "entities": []}])
    found = asyncio.run(JudgeExtractor(asked).content("Does the night train go to Oskel?", text, BOTH))
    assert found.claims == [Claim(expected)]


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
        [{"needed": [3, 1, 3]}, {"useful": ["B"]}, {"questions": ["a?", "b?", "c?", "d?"], "noncommittal": False}]
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
        (lambda reader: reader.useful_chunks("q", "a", ["x"]), {"useful": ["C"]}, "there is no chunk C"),
        (lambda reader: reader.guess_questions("a", 3), {"questions": [], "noncommittal": False}, "no question"),
        (
            lambda reader: reader.guess_questions("a", 3),
            {"questions": ["a?"], "noncommittal": True},
            "not noncommittal",
        ),
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
