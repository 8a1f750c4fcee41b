"""Pairs by one token: a preference for a position cancels out over both orders and is still seen."""

import asyncio
import math
import re

import pytest

import ragstone
from ragstone.errors import StopRunError
from ragstone.llm.base import LLMReplyError, Reply
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.metrics.pairwise import OTHER_ANSWER, pair_consistency, pair_first_seat, pair_win
from ragstone.tools.token_pair import TokenPair
from tests.oracle.server import OracleServer


class Leaning:
    """Prefers longer answers a little and the first position a lot."""

    name = "fake/leaning"
    signature = "fake/leaning,temperature=0"

    def __init__(self, seat=2.0, knows=True):
        self.seat, self.knows, self.requests = seat, knows, []

    async def complete(self, request):
        self.requests.append(request)
        data = dict(re.findall(r"<(answer_\w)(?: \w+)?>\n(.*?)\n</", request.messages[-1].content, re.DOTALL))
        odds = self.seat + (len(data["answer_a"]) - len(data["answer_b"])) / 4
        likely = 1 / (1 + math.exp(-odds))
        pairs = (("yes", math.log(likely)), ("no", math.log(1 - likely)))
        return Reply("yes", self.name, logprobs=pairs[:1], alternatives=(pairs,) if self.knows else None)

    async def close(self):
        """Nothing is open."""


def compare(one, other, model=None, **settings):
    model = model or Leaning()
    return asyncio.run(TokenPair(Judge(model, PromptBook()), **settings).compare("q", one, other, (), None))


def test_a_preference_for_a_position_cancels_out():
    found = compare("long answer", "short")
    assert [(one.first, one.winner) for one in found] == [("one", "one"), ("other", "other"), ("both", "one")]
    assert pair_win(found) == 1.0
    assert pair_consistency(found) == 0.0
    assert pair_first_seat(found) == 1.0
    assert pair_win(compare("short", "long answer")) == 0.0
    assert pair_win(compare("same", "size")) == 0.5


def test_one_order_has_its_own_verdict_only():
    found = compare("long answer", "short", order="random")
    assert len(found) == 1
    assert found[0].first in ("one", "other")


def test_examples_are_yes_and_no_and_there_are_no_reasons():
    model = Leaning()
    compare("a", "b", model, manners=["few-shot", "cot"])
    said = [one.content for one in model.requests[0].messages if one.role == "assistant"]
    assert said == ["no", "yes"]
    assert model.requests[0].max_tokens == 1
    tool = TokenPair(Judge(model, PromptBook()), manners=["few-shot", "cot"])
    assert tool.signature.endswith(",few-shot,verdicts=tokens/2")
    assert tool.prompts == {"pair": ("token_pair",)}


def test_a_model_without_probabilities():
    with pytest.raises(LLMReplyError, match="no log-probabilities of tokens, asked 2 times"):
        compare("a", "b", Leaning(knows=False))


def test_a_run_with_a_server_without_them_ends_before_the_first_pair(tmp_path):
    row = {"question": "q", "answer": "a", "metadata": {OTHER_ANSWER: "b"}}
    with OracleServer(logprobs=False) as server, pytest.raises(StopRunError, match="Choose --verdicts json"):
        ragstone.evaluate(
            [row], ["pair.win"], tmp_path, judge="openai/oracle", base_url=server.base_url, verdicts="tokens"
        )
    assert dict(server.replies) == {"token_trial": 3}


def test_a_run_by_the_oracle(tmp_path):
    from tests.agreement.worlds import little, whole, world_rows

    pairs = zip(world_rows(6, whole), world_rows(6, little), strict=True)
    rows = [
        {**good, "metadata": {OTHER_ANSWER: bad["answer"]}} for good, bad in pairs if good["answer"] != bad["answer"]
    ]
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "verdicts": "tokens"}
        run = ragstone.evaluate(rows, ["pair.win", "pair.consistency"], tmp_path, **options)
    assert server.problems == []
    assert server.replies["token_pair"] == 2 * len(rows)
    assert [row.mean for row in run.summary()] == [1.0, 1.0]
    assert "token_pair" in run.info["prompts"]
