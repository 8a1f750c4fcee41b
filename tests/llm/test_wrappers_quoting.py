"""A quote: the same calls as a real run, none of them made."""

import pytest

from ragstone.llm.budget import Budget, Price, Prices
from ragstone.llm.cache import Cache
from tests.llm.asking import MODEL, ask, request

PRICES = Prices({MODEL: Price(1e6, 2e6)})


def test_guesses_are_priced_and_nothing_is_asked(loopback):
    reply = ask(loopback, request("one two three", guess="four five"), quoting=True, prices=PRICES)
    assert loopback.asked == []
    # 3 words, 7 around them; 2 words back.
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.cost_usd) == ("four five", 10, 2, 10 + 2 * 2)
    assert reply.model == MODEL


def test_no_key_is_needed():
    assert ask(None, request(guess="x"), quoting=True).text == "x"
    assert ask(None, request(guess="x"), quoting=True, model="bedrock/some-model").cost_usd is None


def test_a_run_again_is_quoted_at_nothing(loopback, tmp_path):
    ask(loopback, request("known"), cache=Cache(tmp_path))
    known, new = ask(loopback, request("known"), request("new", guess="x"), quoting=True, cache=Cache(tmp_path))
    assert (known.text, known.cached, known.cost_usd) == ("fine", True, 0)
    assert (new.text, new.cached) == ("x", False)
    assert new.cost_usd > 0


def test_guesses_are_not_kept(loopback, tmp_path):
    ask(loopback, request(guess="wrong"), quoting=True, cache=Cache(tmp_path))
    assert Cache(tmp_path).size() == (0, 0)
    assert ask(loopback, request(), cache=Cache(tmp_path)).text == "fine"


def test_what_a_real_run_would_have_for_free_is_free(loopback, tmp_path):
    replies = ask(loopback, *[request("same", guess="x")] * 3, quoting=True, cache=Cache(tmp_path))
    assert sorted(reply.cached for reply in replies) == [False, True, True]


def test_a_budget_does_not_stop_a_quote(loopback):
    replies = ask(
        loopback, *(request(str(n), guess="x") for n in range(3)), quoting=True, prices=PRICES, budget=Budget(1)
    )
    assert [reply.text for reply in replies] == ["x"] * 3


@pytest.mark.parametrize("text", ["short", "The harbour was built in 1892 and has sheltered boats ever since. " * 40])
def test_a_quote_is_near_what_then_happens(loopback, text):
    """The server counts as a tokenizer does that makes 1.2 tokens of a word."""
    from tests.http.loopback import completion

    def count(asked):
        words = sum(len(message["content"].split()) for message in asked.json["messages"])
        return completion(usage={"prompt_tokens": round(1.2 * words) + 7, "completion_tokens": 4})

    loopback.handler = count
    real = ask(loopback, request(text), prices=PRICES)
    quoted = ask(loopback, request(text, guess="one two three four"), quoting=True, prices=PRICES)
    assert quoted.cost_usd == pytest.approx(real.cost_usd, rel=0.25)
