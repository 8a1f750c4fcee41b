"""The judge: what it asks, how it steps down to plainer formats, and what it does with replies that cannot be used."""

import asyncio
import json

import jsonschema
import pytest
from pydantic import BaseModel

from ragstone.errors import DefinitionError
from ragstone.llm.base import LLMBusyError, LLMReplyError, Reply, UnsupportedFormatError
from ragstone.llm.prompted import REPEAT_TEMPERATURE, Judge, strict_schema
from ragstone.llm.prompts import PromptBook
from ragstone.llm.reply_types import KINDS, ClaimsReply, VerdictsReply
from ragstone.testing import FakeLLM
from tests.llm.prompts.fenced import read_fenced

BOOK = PromptBook()
GOOD = '{"claims": ["a"]}'
NO_SCHEMA = UnsupportedFormatError("no schema")


def ask(judge, check=None, **fields):
    data = {"question": "When?", "text": "At nine."}
    return asyncio.run(judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=["g"]), check, **fields))


def formats(llm):
    return [request.reply_format for request in llm.requests]


def test_a_request_has_all_that_identifies_it():
    llm = FakeLLM([GOOD])
    judge = Judge(llm, BOOK)
    assert ask(judge) == ClaimsReply(claims=["a"])
    (request,) = llm.requests
    assert (request.prompt, request.prompt_hash) == ("claims", BOOK.get("claims").hash)
    assert request.prompt_hash == judge.prompt_hash("claims")
    assert request.reply_format == "json_schema"
    assert request.schema == strict_schema(ClaimsReply)
    assert (request.temperature, request.repeat) == (0.0, 0)
    assert request.guess == '{"claims":["g"]}'
    assert read_fenced(request.messages[-1].content) == {"question": "When?", "text": "At nine."}


def test_signatures_tell_judges_apart():
    assert Judge(FakeLLM([]), BOOK).signature == "fake/model,temperature=0"
    assert Judge(FakeLLM([]), BOOK, temperature=0.3).signature == "fake/model,temperature=0.3"


@pytest.mark.parametrize(
    ("temperature", "repeat", "expected"), [(0.0, 0, 0.0), (0.0, 2, REPEAT_TEMPERATURE), (0.3, 0, 0.3), (0.3, 2, 0.3)]
)
def test_repeats_are_not_asked_at_temperature_zero(temperature, repeat, expected):
    llm = FakeLLM([GOOD])
    ask(Judge(llm, BOOK, temperature), repeat=repeat)
    assert (llm.requests[0].temperature, llm.requests[0].repeat) == (expected, repeat)


def test_formats_that_the_server_refuses_are_asked_for_once():
    llm = FakeLLM([NO_SCHEMA, UnsupportedFormatError("no JSON"), GOOD, GOOD])
    judge = Judge(llm, BOOK)
    assert ask(judge) == ask(judge) == ClaimsReply(claims=["a"])
    assert formats(llm) == ["json_schema", "json_object", "text", "text"]


def test_where_the_server_does_not_know_the_schema_the_prompt_tells_it():
    llm = FakeLLM([NO_SCHEMA, GOOD])
    ask(Judge(llm, BOOK))
    strict, loose = llm.requests
    assert loose.schema is None
    assert loose.messages[0].content.startswith(strict.messages[0].content)
    assert json.dumps(strict_schema(ClaimsReply)) in loose.messages[0].content
    assert "JSON" in loose.messages[0].content
    assert loose.messages[1:] == strict.messages[1:]


def test_calls_at_once_step_down_no_further_than_needed():
    llm = FakeLLM(lambda request: NO_SCHEMA if request.reply_format == "json_schema" else GOOD)
    judge = Judge(llm, BOOK)

    async def many():
        data = {"question": "When?", "text": "At nine."}
        return await asyncio.gather(*(judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=[])) for _ in range(5)))

    assert asyncio.run(many()) == [ClaimsReply(claims=["a"])] * 5
    assert "text" not in formats(llm)


def test_a_server_that_refuses_plain_text_too_is_an_error():
    with pytest.raises(UnsupportedFormatError):
        ask(Judge(FakeLLM([NO_SCHEMA] * 3), BOOK))


def test_a_bad_reply_is_shown_once_with_what_is_wrong():
    llm = FakeLLM(['{"statements": ["a"]}', GOOD])
    assert ask(Judge(llm, BOOK)) == ClaimsReply(claims=["a"])
    first, second = llm.requests
    *same, quoted, complaint = second.messages
    assert tuple(same) == first.messages
    assert (quoted.role, quoted.content) == ("assistant", '{"statements": ["a"]}')
    assert complaint.role == "user"
    assert "claims: Field required" in complaint.content


def test_after_two_bad_replies_the_raw_one_is_kept():
    llm = FakeLLM(["no idea what you mean", "- still a list\n- of claims"])
    with pytest.raises(LLMReplyError, match="claims: the reply cannot be used, asked twice: no JSON") as caught:
        ask(Judge(llm, BOOK))
    assert caught.value.raw == "- still a list\n- of claims"
    assert len(llm.requests) == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty reply"),
        (Reply(GOOD, "m", finish_reason="length"), "cut off"),
        ('{"claims": ["a', "cut off"),
        ("I'm sorry, but I can't help with that.", "the model declined"),
        (Reply("", "m", finish_reason="content_filter"), "the model declined"),
    ],
)
def test_reasons_are_told(reply, reason):
    llm = FakeLLM([reply, reply])
    with pytest.raises(LLMReplyError, match=f"asked twice: {reason}"):
        ask(Judge(llm, BOOK))
    assert f"cannot be used: {reason}" in llm.requests[1].messages[-1].content
    assert llm.requests[1].messages[-2].content


def test_a_check_is_held_against_both_replies():
    def check(reply):
        return None if len(reply.claims) == 2 else f"two claims are wanted, not {len(reply.claims)}"

    llm = FakeLLM([GOOD, '{"claims": ["a", "b"]}'])
    assert ask(Judge(llm, BOOK), check).claims == ["a", "b"]
    assert "two claims are wanted, not 1" in llm.requests[1].messages[-1].content
    with pytest.raises(LLMReplyError, match="asked twice: two claims are wanted, not 1") as caught:
        ask(Judge(FakeLLM([GOOD, GOOD]), BOOK), check)
    assert caught.value.raw == GOOD


def test_long_and_odd_replies_are_quoted_harmlessly():
    llm = FakeLLM(["<|im_end|>\ud800" + "x" * 100_000, GOOD])
    ask(Judge(llm, BOOK))
    quoted = llm.requests[1].messages[-2].content
    assert quoted.startswith("< |im_end|>\\ud800xxx")
    assert len(quoted) == 4000


def test_other_errors_pass():
    llm = FakeLLM([LLMBusyError("429")])
    with pytest.raises(LLMBusyError):
        ask(Judge(llm, BOOK))
    assert len(llm.requests) == 1


# Of prompts that come without examples.
REPLIES = {"grade": {"grade": 3}, "own_reference": {"answer": "a"}, "pair": {"reasoning": "a", "winner": "tie"}}


@pytest.mark.parametrize("name", KINDS)
def test_schemas_are_strict_and_plain(name):
    schema = strict_schema(KINDS[name])
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    assert text.count('"type": "object"') == text.count('"additionalProperties": false') == text.count('"required"')
    replies = [json.loads(example.reply) for example in BOOK.get(name).examples] or [REPLIES[name]]
    for reply in replies:
        jsonschema.validate(reply, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"other": 1}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**replies[0], "other": 1}, schema)


def test_schemas_know_the_verdicts():
    reply = {"verdicts": [{"claim": 1, "verdict": "maybe"}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(reply, strict_schema(VerdictsReply))


class Nested(BaseModel):
    title: str
    parts: list["Nested"]


class Titled(BaseModel):
    title: str
    default: int


def test_schemas_of_other_replies():
    assert list(strict_schema(Titled)["properties"]) == ["title", "default"]
    with pytest.raises(DefinitionError, match="Nested"):
        strict_schema(Nested)
