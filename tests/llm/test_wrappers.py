"""Another try: when, how often, and in which words it is given up."""

import asyncio
import statistics
import time
from collections import Counter
from dataclasses import replace

import pytest

from ragstone.http.retry import Patience
from ragstone.llm import wrappers
from ragstone.llm.base import (
    LLMAccessError,
    LLMBusyError,
    LLMGoneError,
    LLMRefusedError,
    LLMStoppedError,
    LLMUnreachableError,
)
from ragstone.llm.concurrency import call_notes
from ragstone.llm.wrappers import Retrying
from ragstone.testing import FakeLLM
from tests.http.loopback import GARBAGE, RESET, completion
from tests.llm.asking import QUICK, ask, request


def complete(*replies, patience=QUICK):
    llm = FakeLLM(replies)
    try:
        return asyncio.run(Retrying(llm, patience).complete(request())), llm
    except (LLMBusyError, LLMRefusedError, LLMAccessError, LLMStoppedError) as error:
        return error, llm


def test_attempts_are_counted():
    reply, llm = complete(LLMBusyError("no"), LLMBusyError("no"), "yes")
    assert (reply.text, reply.attempts, len(llm.requests)) == ("yes", 3, 3)


def test_given_up_after_six():
    error, llm = complete(*[LLMBusyError("the server is down")] * 9)
    assert str(error) == "the server is down; given up after 6 attempts"
    assert (error.attempts, len(llm.requests)) == (6, 6)


@pytest.mark.parametrize("kind", [LLMRefusedError, LLMAccessError, LLMStoppedError])
def test_what_is_not_busy_is_not_repeated(kind):
    error, llm = complete(LLMBusyError("no"), kind("never"), "yes")
    assert type(error) is kind
    # Where money or time is used up, no request was sent for that attempt.
    assert (error.attempts, len(llm.requests)) == (1 if kind is LLMStoppedError else 2, 2)


@pytest.mark.parametrize(("retry_late", "sent"), [(True, 6), (False, 1)])
def test_the_same_request_is_not_sent_again_after_a_timeout(retry_late, sent):
    """At temperature 0 it would take as long again; a system that is tested may be quicker the next time."""
    llm = FakeLLM([LLMBusyError("no reply within 120 s", timed_out=True)] * 9)
    with pytest.raises(LLMBusyError, match="no reply within 120 s") as caught:
        asyncio.run(Retrying(llm, QUICK).complete(request(retry_late=retry_late)))
    assert caught.value.timed_out
    assert len(llm.requests) == caught.value.attempts == sent


def test_a_server_that_asks_for_fewer_is_asked_until_it_answers():
    reply, _ = complete(*[LLMBusyError("429", slow_down=True)] * 30, "yes")
    assert (reply.text, reply.attempts) == ("yes", 31)


def test_but_not_for_ever():
    patience = Patience(first_wait_s=0.01, longest_wait_s=0.02, longest_s=0.2)
    started = time.perf_counter()
    error, llm = complete(*[LLMBusyError("429", slow_down=True)] * 999, patience=patience)
    assert time.perf_counter() - started < 8
    assert 6 < len(llm.requests) < 999
    assert str(error) == f"429; given up after {len(llm.requests)} attempts"


def test_a_wait_that_is_too_long_is_not_begun():
    error, llm = complete(LLMBusyError("429", retry_after_s=3600, slow_down=True), "yes")
    assert str(error) == "429 (the server asks to wait 3600 s); given up after 1 attempt"
    assert len(llm.requests) == 1


def test_never_sooner_than_the_server_asks():
    started = time.perf_counter()
    complete(LLMBusyError("429", retry_after_s=0.2), "yes")
    assert 0.2 <= time.perf_counter() - started < 20


def test_full_jitter_grows_to_its_limit():
    patience = Patience(first_wait_s=1, longest_wait_s=10)
    for failures, most in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (5000, 10)):
        waits = [patience.wait_s(failures, LLMBusyError("")) for _ in range(400)]
        assert 0 <= min(waits) <= max(waits) <= most
        assert statistics.mean(waits) == pytest.approx(most / 2, rel=0.25)


def test_an_address_that_never_answered_ends_the_run():
    error, llm = complete(*[LLMUnreachableError("nothing answers at x")] * 9)
    assert type(error) is LLMAccessError
    assert (str(error), len(llm.requests), error.attempts) == ("nothing answers at x", 3, 3)


def test_nobody_listens(loopback):
    loopback.stop()
    error = ask(loopback)
    assert type(error) is LLMAccessError
    assert f"no server answers at {loopback.url}/chat/completions" in str(error)
    assert "OPENAI_BASE_URL or --base-url" in str(error)


def test_a_server_that_dies_midway_is_told_once_and_soon_given_up(loopback, monkeypatch):
    from ragstone.llm.gateway import Gateway, GatewaySettings

    monkeypatch.setattr(wrappers, "_QUIET_S", 0.05)
    patience = replace(QUICK, longest_gone_s=0.3)
    notes, seconds = [], []

    async def ask_all():
        gateway = Gateway(GatewaySettings(base_url=loopback.url, patience=patience))
        llm = gateway.open_llm("openai/m")
        await llm.complete(request())
        await asyncio.to_thread(loopback.stop)
        errors = []
        try:
            with call_notes(notes.append):
                for names in ("abcd", "efgh"):
                    started = time.perf_counter()
                    calls = (llm.complete(request(name)) for name in names)
                    errors += await asyncio.gather(*calls, return_exceptions=True)
                    seconds.append(time.perf_counter() - started)
        finally:
            await gateway.close()
        return errors

    errors = asyncio.run(ask_all())
    assert {type(error) for error in errors} == {LLMGoneError}
    [words] = {str(error).partition("is it running?")[2] for error in errors}
    assert words.startswith(" It answered before. Start it and run the same command again")
    gone = f"no server answers at {loopback.url}/chat/completions: is it running?"
    assert notes == [f"{gone} Trying again for 0.3 s; Ctrl-C keeps what is done."]
    assert seconds[0] >= 0.3
    assert [error.attempts for error in errors[4:]] == [1] * 4


def test_a_server_that_restarts_is_survived():
    reply, llm = complete(*[LLMGoneError("nothing answers at x")] * 9, "yes")
    assert (reply.text, len(llm.requests)) == ("yes", 10)


@pytest.mark.parametrize("trouble", [RESET, GARBAGE, (500, b"oops"), (200, b"{"), (503, b"", {"Retry-After": "0"})])
def test_the_third_answer_is_good(loopback, trouble):
    seen = Counter()

    def handler(asked):
        seen[asked.body] += 1
        return completion() if seen[asked.body] == 3 else trouble

    loopback.handler = handler
    replies = ask(loopback, *(request(str(number)) for number in range(12)))
    assert [reply.text for reply in replies] == ["fine"] * 12
    assert sum(reply.attempts for reply in replies) == len(loopback.asked) == 36


@pytest.mark.slow
def test_all_rows_survive_a_storm(loopback):
    """Four of five requests are refused, most with a time to wait; all 200 rows have their reply in the end."""
    headers = [{"Retry-After": "0"}, {"retry-after-ms": "5"}, {}]

    def storm(asked):
        number = len(loopback.asked)
        return completion() if number % 5 == 0 else (429, {"error": {"message": "slow"}}, headers[number % 3])

    loopback.handler = storm
    replies = ask(loopback, *(request(str(number)) for number in range(200)))
    assert [reply for reply in replies if isinstance(reply, Exception)] == []
    assert {reply.text for reply in replies} == {"fine"}
    assert sum(reply.attempts for reply in replies) == len(loopback.asked) >= 1000


def test_the_timeout_is_for_each_attempt(loopback):
    loopback.handler = lambda asked: completion() if len(loopback.asked) > 2 else "hang"
    reply = ask(loopback, timeout_s=1)
    assert (reply.text, reply.attempts) == ("fine", 3)
