"""A quote: the same calls as a real run, none of them made."""

import time

import pytest

from ragstone.llm.base import Reply, estimate_request
from ragstone.llm.budget import Budget, Price, Prices
from ragstone.llm.cache import Cache
from ragstone.llm.wrappers import Speed
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


def test_the_time_and_the_tokens_come_from_measured_calls(loopback, tmp_path):
    """This server takes its time, and its tokenizer makes twice as many tokens as are estimated."""
    from tests.http.loopback import completion

    def count(asked):
        time.sleep(0.05)
        estimated, _ = estimate_request(request(asked.json["messages"][0]["content"]))
        return completion(usage={"prompt_tokens": 2 * estimated, "completion_tokens": 4})

    loopback.handler = count
    new = request("a new question", guess="one two three four")
    assert ask(loopback, new, quoting=True, cache=Cache(tmp_path)).latency_s == 0
    ask(loopback, request("a first one"), request("and a longer second one"), cache=Cache(tmp_path))
    quoted = ask(loopback, new, quoting=True, cache=Cache(tmp_path))
    assert quoted.input_tokens == 2 * estimate_request(new)[0]
    assert 0.02 < quoted.latency_s < 1
    assert Cache(tmp_path).size().entries == 2


def measured(*calls):
    """The speed after calls of so many tokens sent and received, in so many seconds."""
    total = Speed()
    for sent, received, seconds in calls:
        reply = Reply("x", "m", input_tokens=sent, output_tokens=received, latency_s=seconds)
        total = total.add(Speed.of_call(request("one"), reply))
    return total


def test_sent_and_received_tokens_have_their_own_speed():
    speed = measured((100, 10, 2.0), (1000, 10, 11.0), (100, 50, 6.0))
    assert speed.time_s(500, 20) == pytest.approx(500 * 0.01 + 20 * 0.1)


@pytest.mark.parametrize("calls", [[(800, 100, 4.0)], [(800, 100, 4.0), (800, 100, 4.0)]])
def test_calls_that_are_all_alike_give_a_rough_time(calls):
    assert measured(*calls).time_s(800, 100) == pytest.approx(4.0)
    assert measured(*calls).time_s(800, 200) == pytest.approx(6.0)


def test_calls_without_counts_measure_nothing():
    assert Speed.of_call(request("one"), Reply("x", "m", latency_s=3.0)) == Speed()


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"m": [1]}', b'{"m": "fast"}', b"\xff"])
def test_a_broken_file_of_speeds_is_none(tmp_path, content):
    (tmp_path / "speeds.json").write_bytes(content)
    cache = Cache(tmp_path)
    assert cache.read_speed("other") is None
    cache.add_speed("other", measured((800, 100, 4.0)))
    assert cache.read_speed("other").seconds == 4.0


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
