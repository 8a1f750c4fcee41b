"""Our own client against a real model: plumbing, not quality. SmolLM2-135M is too small to judge anything."""

import asyncio
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel

import ragstone
from ragstone.llm.base import LLMAccessError, LLMError, LLMRefusedError, Message, Request, estimate_tokens
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.llm.prompted import Judge, StructuredLLM
from ragstone.llm.prompts import PromptBook
from ragstone.llm.reply_types import ClaimsReply, ClaimVerdict, VerdictsReply
from ragstone.models.catalogue import MODELS
from ragstone.models.fetch import checksum_of
from tests.oracle.world import make_samples
from tests.real_model.conftest import CONTEXT, LONGEST_REPLY, find_weights

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
HELLO = Request((Message("user", "Say hello to the captain."),), max_tokens=12)


class Colour(BaseModel):
    colour: str


def with_model(real_model, use, model="llamacpp/smollm2", **settings):
    """Open the model, use it, close it."""

    async def run():
        gateway = Gateway(GatewaySettings(base_url=real_model.base_url, timeout_s=120, **settings))
        try:
            return await use(gateway.open_llm(model))
        finally:
            await gateway.close()

    return asyncio.run(run())


def test_a_reply_in_words(real_model):
    reply = with_model(real_model, lambda llm: llm.complete(HELLO))
    assert reply.text.strip()
    assert reply.finish_reason == "length"
    assert reply.output_tokens == 12
    assert reply.latency_s > 0
    assert (reply.attempts, reply.cached) == (1, False)


def test_the_same_again_at_temperature_0(real_model):
    async def twice(llm):
        return [(await llm.complete(HELLO)).text for _ in range(2)]

    first, second = with_model(real_model, twice)
    assert first == second


def test_usage_is_the_tokenisers_own(real_model):
    text = "The last boat to Saltholm leaves at 21:40, except on Sundays. " * 4
    reply = with_model(real_model, lambda llm: llm.complete(Request((Message("user", text),), max_tokens=1)))
    # The chat template adds its own few: a system turn and the marks of turns.
    template = with_model(real_model, lambda llm: llm.complete(Request((Message("user", "x"),), max_tokens=1)))
    added = template.input_tokens - real_model.count_tokens("x")
    assert reply.input_tokens == real_model.count_tokens(text) + added
    assert reply.output_tokens == 1


def test_log_probabilities(real_model):
    request = Request(HELLO.messages, max_tokens=8, logprobs=True)
    reply = with_model(real_model, lambda llm: llm.complete(request))
    assert len(reply.logprobs) == 8
    assert "".join(token for token, _ in reply.logprobs).strip() == reply.text.strip()
    assert all(value <= 0 for _, value in reply.logprobs)


def test_json_by_schema(real_model):
    """A grammar holds even this model to the schema, so that the first reply can be read."""
    asked = Request((Message("user", "What colour is a ripe tomato? Reply in JSON."),), max_tokens=60)

    async def ask(llm):
        counting = Counting(llm)
        value, _ = await StructuredLLM(counting).ask(asked, Colour)
        return value, counting.formats

    found, formats = with_model(real_model, ask)
    assert isinstance(found.colour, str)
    assert formats == ["json_schema"]


@pytest.mark.parametrize("refused", [("json_schema", "plain_schema"), ("json_schema", "plain_schema", "json_object")])
def test_json_without_schema(real_model, refused):
    """Where the server does not hold to a schema the reply is read from what the model says, or typed as failed."""
    messages = (Message("user", 'Copy this and write nothing else: {"colour": "red"}'),)

    async def ask(llm):
        counting = Counting(llm, refused)
        try:
            value, _ = await StructuredLLM(counting).ask(Request(messages, max_tokens=60), Colour)
            return value, counting.formats
        except LLMError as error:
            return error, counting.formats

    found, formats = with_model(real_model, ask)
    assert formats[-1] == ("json_object" if len(refused) == 2 else "text")
    assert isinstance(found, Colour) or "asked twice" in str(found)


class Counting:
    """A model that writes down which formats it was asked for, and refuses some."""

    def __init__(self, llm, refused=()):
        self.llm, self.refused, self.formats = llm, refused, []
        self.name, self.signature = llm.name, llm.signature

    async def complete(self, request):
        from ragstone.llm.base import UnsupportedFormatError

        self.formats.append(request.reply_format)
        if request.reply_format in self.refused:
            raise UnsupportedFormatError("not here")
        return await self.llm.complete(request)

    async def close(self):
        await self.llm.close()


def test_a_whole_prompt_of_ours(real_model):
    """Claims by our own prompt: what comes back is an object, or a failure that says why; it never crashes."""
    row = make_samples(1)[0].row()
    data = {"question": row["question"], "text": row["answer"]}

    async def ask(llm):
        judge = Judge(llm, PromptBook())
        try:
            return await judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=["x"]))
        except LLMError as error:
            return error

    found = with_model(real_model, ask)
    assert isinstance(found, ClaimsReply) or str(found)


def test_verdicts_by_our_own_prompt(real_model):
    guess = VerdictsReply(verdicts=[ClaimVerdict(claim=1, verdict="neutral")])
    data = {
        "question": "When?",
        "claims": ["The boat leaves at nine."],
        "text": "The boat leaves at nine in the evening.",
    }

    async def ask(llm):
        try:
            return await Judge(llm, PromptBook()).ask("verdicts", VerdictsReply, data, guess)
        except LLMError as error:
            return error

    found = with_model(real_model, ask)
    if isinstance(found, VerdictsReply):
        assert {item.verdict for item in found.verdicts} <= {"entailment", "neutral", "contradiction"}
    else:
        assert str(found)


def test_a_prompt_that_is_too_long(real_model):
    request = Request((Message("user", "boat " * 2 * CONTEXT),), max_tokens=1)
    with pytest.raises(LLMRefusedError, match="longer than the model's context"):
        with_model(real_model, lambda llm: llm.complete(request))


def test_an_address_that_is_wrong(real_model):
    class Elsewhere:
        base_url = f"{real_model.address}/nowhere"

    with pytest.raises(LLMAccessError, match="404"):
        with_model(Elsewhere, lambda llm: llm.complete(HELLO))


def test_two_at_once(real_model):
    requests = [
        Request((Message("user", f"Count from {number} to {number + 3}."),), max_tokens=16) for number in range(6)
    ]

    async def all_of_them(llm):
        return await asyncio.gather(*map(llm.complete, requests))

    replies = with_model(real_model, all_of_them, concurrency=2)
    assert len(replies) == 6
    assert all(reply.output_tokens and reply.text for reply in replies)


def test_tokens_are_estimated_well_enough_for_a_quote(real_model):
    """The estimate is fitted to larger vocabularies than this model's; for English prompts it is still not far off."""
    book = PromptBook()
    for name in book.names:
        prompt = book.get(name)
        text = "\n".join([prompt.system, *(example.reply for example in prompt.examples)])
        assert estimate_tokens(text) == pytest.approx(real_model.count_tokens(text), rel=0.25), name


def test_weights_that_are_not_there():
    """The engine says so and the process goes on: no crash that would take a run with it."""
    pytest.importorskip("xllamacpp")
    code = (
        "import xllamacpp\n"
        "settings = xllamacpp.CommonParams()\n"
        "settings.model.path, settings.port = '/nowhere/none.gguf', 0\n"
        "try:\n"
        "    xllamacpp.Server(settings)\n"
        "except RuntimeError as error:\n"
        "    print('refused:', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert re.search("refused: Failed to init", done.stdout)


def test_the_weights_are_those_of_the_package():
    assert find_weights().stat().st_size == 98362432
    assert checksum_of(find_weights()) == MODELS["smollm2"].source.weights.sha256


def test_a_whole_run(real_model, tmp_path):
    """Whatever so small a model says, the run is stored: each cell has a value or a reason, each call its real tokens."""
    row = make_samples(1)[0].row()
    run = ragstone.evaluate(
        [row],
        metrics=["ragchecker.faithfulness", "token_recall"],
        judge="llamacpp/smollm2",
        base_url=real_model.base_url,
        out=tmp_path / "out",
        concurrency=2,
    )
    cells = pq.read_table(f"{run.path}/scores.parquet").to_pylist()
    assert {cell["metric"]: cell["status"] for cell in cells}["token_recall"] == "ok"
    assert all((cell["value"] is None) == bool(cell["reason"]) for cell in cells)
    calls = pq.read_table(f"{run.path}/calls.parquet").to_pylist()
    assert calls
    assert {call["model"] for call in calls} == {"llamacpp/smollm2"}
    assert all(call["input_tokens"] > 300 and 0 < call["output_tokens"] <= LONGEST_REPLY for call in calls)
