"""Replies as models write them: read rightly, or refused with the right reason; never a crash, never a guess."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.llm.base import LLMReplyError
from ragstone.llm.reply_parser import Fault, read_reply, repeats_itself
from ragstone.llm.reply_types import KINDS, ClaimsReply, VerdictsReply
from tests.each_case import each_case
from tests.llm.broken_replies import REPLIES


def outcome(kind, text, finish_reason="stop"):
    """The object as plain values, or the fault."""
    try:
        return read_reply(text, kind, finish_reason).model_dump()
    except LLMReplyError as error:
        assert error.raw == text  # noqa: PT017  (both outcomes are fine; the reply must be kept)
        return next(fault for fault in Fault if str(error).startswith(fault))


def test_there_are_enough_of_them():
    assert len(REPLIES) >= 80
    assert len({name for name, *_ in REPLIES}) == len(REPLIES)
    assert {expected for *_, expected in REPLIES if isinstance(expected, Fault)} == set(Fault)


@each_case("kind, text, expected", [reply[1:] for reply in REPLIES])
def test_broken_replies(kind, text, expected):
    assert outcome(kind, text) == expected


def test_a_reply_at_the_limit_of_tokens_is_never_used():
    assert outcome(ClaimsReply, '{"claims": ["a"]}', "length") is Fault.CUT_OFF
    assert outcome(ClaimsReply, "", "content_filter") is Fault.DECLINED


# A draft before the answer is a whole reply by itself, and so is each line of JSON Lines: the judge's check counts claims.
WHOLE_EARLIER = {"channels", "thoughts", "thoughts without begin", "corrected", "example, then answer", "JSON Lines"}


@each_case(
    "kind, text, expected",
    [reply[1:] for reply in REPLIES if isinstance(reply[3], dict) and reply[0] not in WHOLE_EARLIER],
)
def test_no_part_of_a_reply_passes_for_the_whole(kind, text, expected):
    for end in range(len(text)):
        got = outcome(kind, text[:end])
        assert isinstance(got, Fault) or got == expected, text[:end]


texts = st.text(max_size=200)
jsonish = st.lists(
    st.sampled_from(
        [
            *"{}[]\",:'\\\n /#",
            '"claims"',
            '"a"',
            "claims",
            "verdicts",
            "1",
            "true",
            "None",
            "<think>",
            "</think>",
            "```json\n",
            "```",
            "I cannot",
            '{"claims": ["a"]}',
            "“",
            "”",
            "&quot;",
            "...",
            "\ud800",
            "\x00",
            '"claim": 1',
            '"verdict": "neutral"',
        ],
    ),
    max_size=30,
).map("".join)


@given(st.one_of(texts, jsonish), st.sampled_from(list(KINDS.values())))
def test_any_text_gives_an_object_or_a_fault(text, kind):
    assert outcome(kind, text) is not None


words = st.text(st.characters(exclude_characters="{}[]<>&◁\ufeff", exclude_categories=["Cs"]), max_size=60)
claims = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool), min_size=1, max_size=5
)


@given(claims, words, words, st.booleans(), st.booleans())
def test_objects_are_found_in_any_prose(expected, before, behind, fenced, ascii_only):
    reply = json.dumps({"claims": expected}, ensure_ascii=ascii_only)
    block = f"\n```json\n{reply}\n```\n" if fenced else f"\n{reply}\n"
    assert outcome(ClaimsReply, before + block + behind) == {"claims": expected}


@given(claims)
def test_python_literals_are_read_as_python_means_them(expected):
    assert outcome(ClaimsReply, repr({"claims": expected})) in ({"claims": expected}, Fault.NOT_JSON, Fault.CUT_OFF)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"claims": ["' + "{[" * 50_000,
        "{a " * 50_000,
        '"' * 100_000,
        "<think>" * 20_000,
    ],
)
def test_long_rubbish_is_refused_quickly(text):
    start = time.process_time()
    assert isinstance(outcome(VerdictsReply, text), Fault)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"claims": ["The boat leaves at nine.", ' + '"It is red.", ' * 30, True),
        ("\n" * 200, True),
        ("".join(f'{{"claim": {number}, "verdict": "neutral"}}, ' for number in range(1, 60)), True),
        ('{"claims": ["The boat leaves at nine.", "It is red.", "It is old.", "It is slow', False),
        ("It is red. It is red.", False),
        ("", False),
    ],
)
def test_a_reply_that_repeats_itself(text, expected):
    assert repeats_itself(text) == expected
    with pytest.raises(LLMReplyError, match="repeats itself" if expected else "limit of tokens"):
        read_reply(text, ClaimsReply, "length")
