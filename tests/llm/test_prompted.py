"""The judge: what it asks, how it steps down to plainer formats, and what it does with replies that cannot be used."""

import asyncio
import json

import jsonschema
import pytest
from pydantic import BaseModel

from ragstone.errors import DefinitionError
from ragstone.llm.base import (
    LLMBusyError,
    LLMRefusedError,
    LLMReplyError,
    Reply,
    UnsupportedFormatError,
    estimate_tokens,
)
from ragstone.llm.cache import Cache, Cached
from ragstone.llm.prompted import (
    LONGEST_REPLY,
    REPEAT_TEMPERATURE,
    Judge,
    ask_in_pieces,
    bounded_schema,
    strict_schema,
)
from ragstone.llm.prompts import PromptBook
from ragstone.llm.reply_types import KINDS, ClaimsReply, ContextVerdictsReply, NeededSentencesReply, VerdictsReply
from ragstone.llm.wrappers import Recorded, record_calls
from ragstone.testing import FakeLLM
from tests.llm.prompts.fenced import read_fenced

BOOK = PromptBook()
GOOD = '{"claims": ["a"]}'
NO_SCHEMA = UnsupportedFormatError("no schema")


def ask(judge, check=None, **fields):
    data = {"question": "When?", "text": "At nine."}
    return asyncio.run(judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=["g"]), check, **fields))


def ask_needed(judge, check=None):
    """A prompt whose replies are numbers, so that an error may be quoted to it."""
    data = {"question": "When?", "sentences": ["At nine.", "Or ten."]}
    guess = NeededSentencesReply(needed=[1])
    return asyncio.run(judge.ask("needed_sentences", NeededSentencesReply, data, guess, check))


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
    assert request.schema == bounded_schema(ClaimsReply, {"claims": ["g"]}, {})
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
    llm = FakeLLM([NO_SCHEMA, NO_SCHEMA, UnsupportedFormatError("no JSON"), GOOD, GOOD])
    judge = Judge(llm, BOOK)
    assert ask(judge) == ask(judge) == ClaimsReply(claims=["a"])
    assert formats(llm) == ["json_schema", "plain_schema", "json_object", "text", "text"]


def test_a_server_that_refuses_bounds_gets_the_plain_schema():
    llm = FakeLLM([UnsupportedFormatError("'uniqueItems' is not permitted"), GOOD])
    ask(Judge(llm, BOOK))
    assert llm.requests[0].schema["properties"]["claims"]["maxItems"] == 8
    assert llm.requests[1].schema == strict_schema(ClaimsReply)


def test_where_the_server_does_not_know_the_schema_the_prompt_tells_it():
    llm = FakeLLM([NO_SCHEMA, NO_SCHEMA, GOOD])
    ask(Judge(llm, BOOK))
    strict, _, loose = llm.requests
    assert loose.schema is None
    assert loose.messages[0].content.startswith(strict.messages[0].content)
    assert json.dumps(strict_schema(ClaimsReply)) in loose.messages[0].content
    assert "JSON" in loose.messages[0].content
    assert loose.messages[1:] == strict.messages[1:]


def test_calls_at_once_step_down_no_further_than_needed():
    llm = FakeLLM(lambda request: NO_SCHEMA if "schema" in request.reply_format else GOOD)
    judge = Judge(llm, BOOK)

    async def many():
        data = {"question": "When?", "text": "At nine."}
        return await asyncio.gather(*(judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=[])) for _ in range(5)))

    assert asyncio.run(many()) == [ClaimsReply(claims=["a"])] * 5
    assert "text" not in formats(llm)


def test_a_server_that_refuses_plain_text_too_is_an_error():
    with pytest.raises(UnsupportedFormatError):
        ask(Judge(FakeLLM([NO_SCHEMA] * 4), BOOK))


def test_a_bad_reply_is_shown_once_with_what_is_wrong():
    llm = FakeLLM(['{"wanted": [1]}', '{"needed": [1]}'])
    assert ask_needed(Judge(llm, BOOK)).needed == [1]
    first, second = llm.requests
    *same, quoted, complaint = second.messages
    assert tuple(same) == first.messages
    assert (quoted.role, quoted.content) == ("assistant", '{"wanted": [1]}')
    assert complaint.role == "user"
    assert "needed: Field required" in complaint.content


@pytest.mark.parametrize("bad", [Reply('{"claims": ["a", "b', "m", finish_reason="length"), '{"statements": ["a"]}'])
def test_no_error_is_quoted_to_a_prompt_that_takes_claims_from_a_text(bad):
    """A model took "The model reached its limit of tokens." for a claim of the answer."""
    llm = FakeLLM([bad, GOOD])
    assert ask(Judge(llm, BOOK)) == ClaimsReply(claims=["a"])
    first, second = llm.requests
    assert second.messages == first.messages
    assert second.repeat != first.repeat
    assert second.temperature == REPEAT_TEMPERATURE


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
        (Reply('{"needed": [1]}', "m", finish_reason="length"), "cut off"),
        ('{"needed": [1', "cut off"),
        ("I'm sorry, but I can't help with that.", "the model declined"),
        (Reply("", "m", finish_reason="content_filter"), "the model declined"),
    ],
)
def test_reasons_are_told(reply, reason):
    llm = FakeLLM([reply, reply])
    with pytest.raises(LLMReplyError, match=f"asked twice: {reason}"):
        ask_needed(Judge(llm, BOOK))
    assert f"cannot be used: {reason}" in llm.requests[1].messages[-1].content
    assert llm.requests[1].messages[-2].content


def test_a_check_is_held_against_both_replies():
    def check(reply):
        return None if len(reply.needed) == 2 else f"two sentences are wanted, not {len(reply.needed)}"

    one = '{"needed": [1]}'
    llm = FakeLLM([one, '{"needed": [1, 2]}'])
    assert ask_needed(Judge(llm, BOOK), check).needed == [1, 2]
    assert "two sentences are wanted, not 1" in llm.requests[1].messages[-1].content
    with pytest.raises(LLMReplyError, match="asked twice: two sentences are wanted, not 1") as caught:
        ask_needed(Judge(FakeLLM([one, one]), BOOK), check)
    assert caught.value.raw == one


def test_long_and_odd_replies_are_quoted_harmlessly():
    llm = FakeLLM(["<|im_end|>\ud800" + "x" * 100_000, '{"needed": []}'])
    ask_needed(Judge(llm, BOOK))
    quoted = llm.requests[1].messages[-2].content
    assert quoted.startswith("< |im_end|>?xxx")
    assert len(quoted) == 4000


def test_the_limit_of_a_reply_is_a_few_times_the_guess():
    llm = FakeLLM(['{"needed": [1]}'])
    ask_needed(Judge(llm, BOOK))
    guessed = estimate_tokens(llm.requests[0].guess)
    assert 4 * guessed <= llm.requests[0].max_tokens <= 4 * guessed + 64


@pytest.mark.parametrize("thoughts", ["", "<think>Let me see: the text says", "First I look at the sentences"])
def test_a_model_that_reasons_first_gets_more_room_from_then_on(thoughts):
    cut = Reply(thoughts, "m", finish_reason="length")
    llm = FakeLLM([cut, GOOD, GOOD])
    judge = Judge(llm, BOOK)
    assert ask(judge) == ask(judge) == ClaimsReply(claims=["a"])
    first, second, third = llm.requests
    assert first.max_tokens < second.max_tokens == third.max_tokens == LONGEST_REPLY
    assert second.messages == first.messages


def test_a_reply_that_repeats_itself_gets_no_more_room():
    runaway = Reply("I think that " * 40, "m", finish_reason="length")
    llm = FakeLLM([runaway, runaway])
    with pytest.raises(LLMReplyError, match="cut off: the reply repeats itself without end"):
        ask(Judge(llm, BOOK))
    assert all(request.max_tokens < 1000 for request in llm.requests)


def test_a_rejected_reply_carries_its_error_in_the_calls():
    calls = []
    llm = Recorded(FakeLLM(['{"needed": [7]}', '{"needed": [1]}']))
    with record_calls(calls, "s", "e"):
        ask_needed(Judge(llm, BOOK), lambda reply: "there is no sentence 7" if 7 in reply.needed else None)
    assert [call.error for call in calls] == ["rejected: there is no sentence 7", None]
    assert [call.reply for call in calls] == ['{"needed": [7]}', '{"needed": [1]}']


def test_a_reply_that_is_known_to_fail_is_not_asked_for_again_unchanged(tmp_path):
    bad = FakeLLM(["no idea", "no idea still"])
    with pytest.raises(LLMReplyError):
        ask(Judge(Cached(bad, Cache(tmp_path)), BOOK))
    again = FakeLLM([GOOD])
    assert ask(Judge(Cached(again, Cache(tmp_path)), BOOK)) == ClaimsReply(claims=["a"])
    (request,) = again.requests
    assert request not in bad.requests
    assert ask(Judge(Cached(FakeLLM([]), Cache(tmp_path)), BOOK)) == ClaimsReply(claims=["a"])


def test_the_words_of_an_error_are_not_part_of_the_cache_key(tmp_path, monkeypatch):
    """A better sentence does not ask again for what a cache has; a new version number does."""

    def replies(words, script):
        llm = FakeLLM(script)
        check = lambda value: None if value.needed == [1] else words  # noqa: E731
        assert ask_needed(Judge(Cached(llm, Cache(tmp_path)), BOOK), check).needed == [1]
        return llm.requests

    first = replies("there is no sentence 7", ['{"needed": [7]}', '{"needed": [1]}'])
    assert "there is no sentence 7" in first[1].messages[-1].content
    assert replies("sentence 7 does not exist", []) == []
    monkeypatch.setattr("ragstone.llm.prompted._REPAIR_VERSION", 2)
    assert len(replies("sentence 7 does not exist", ['{"needed": [1]}'])) == 1


def halving(fails):
    """Ask about numbers; groups for which `fails` gives an error fail. Returns the result and the groups asked."""
    asked = []

    async def ask_some(items, repair):
        asked.append((list(items), repair))
        if error := fails(items):
            raise error
        return [10 * item for item in items]

    return asked, lambda items: asyncio.run(ask_in_pieces(items, ask_some))


@pytest.mark.parametrize("error", [LLMReplyError("bad"), LLMBusyError("late", timed_out=True)])
def test_what_fails_is_asked_in_halves(error):
    asked, run = halving(lambda items: error if len(items) > 2 else None)
    assert run([1, 2, 3, 4, 5]) == [10, 20, 30, 40, 50]
    assert [items for items, _ in asked] == [[1, 2, 3, 4, 5], [1, 2, 3], [1, 2], [3], [4, 5]]
    assert [repair for _, repair in asked] == [False, False, True, True, False]


def test_a_hopeless_model_is_not_asked_about_each_item():
    asked, run = halving(lambda items: LLMReplyError("bad"))
    with pytest.raises(LLMReplyError, match="bad"):
        run(list(range(25)))
    assert [len(items) for items, _ in asked] == [25, 13, 7]


@pytest.mark.parametrize("error", [LLMBusyError("503"), LLMRefusedError("filter")])
def test_other_failures_are_not_asked_in_halves(error):
    asked, run = halving(lambda items: error)
    with pytest.raises(type(error)):
        run([1, 2])
    assert len(asked) == 1


def test_bounds_of_a_schema():
    bounds = {
        "verdicts": {"minItems": 2, "maxItems": 2},
        "verdicts.supported_by": {"items": {"enum": ["A", "B"]}, "uniqueItems": True, "maxItems": 2},
    }
    schema = bounded_schema(ContextVerdictsReply, {"verdicts": []}, bounds)
    entry = {"claim": 1, "supported_by": ["B"], "contradicted_by": []}
    jsonschema.validate({"verdicts": [entry, entry]}, schema)
    for bad in (
        [entry],
        [entry] * 3,
        [entry, {**entry, "supported_by": ["C"]}],
        [entry, {**entry, "supported_by": ["A"] * 2}],
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"verdicts": bad}, schema)
    assert "maxItems" not in json.dumps(strict_schema(ContextVerdictsReply))


def test_texts_are_bounded_by_the_guess():
    schema = bounded_schema(ClaimsReply, {"claims": ["x" * 100, "y"] * 3}, {})
    claims = schema["properties"]["claims"]
    assert (claims["maxItems"], claims["items"]["maxLength"]) == (24, 800)
    # A grammar that ends a long text in its middle leaves no trace.
    longer = bounded_schema(ClaimsReply, {"claims": ["x" * 500]}, {})
    assert "maxLength" not in longer["properties"]["claims"]["items"]


def test_other_errors_pass():
    llm = FakeLLM([LLMBusyError("429")])
    with pytest.raises(LLMBusyError):
        ask(Judge(llm, BOOK))
    assert len(llm.requests) == 1


# Of prompts that come without examples.
_PAIR = {"reasoning": "a", "winner": "tie"}
REPLIES = {
    "relevance_grade": {"match": 2, "trust": 3, "grade": 2},
    "grade": {"grade": 3},
    "own_reference": {"answer": "a"},
    "pair": _PAIR,
    "pair_reasoned": _PAIR,
    "checklist": {"items": [{"item": 1, "verdict": "yes"}]},
    "pass_fail": {"verdict": "pass"},
    "decision": {"reason": "It does.", "choice": "yes"},
}


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
