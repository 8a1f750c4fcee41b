"""Another attempt: when, how often, how long a server may make us wait, and in which words it is given up."""

import asyncio
import math
import time
from email.utils import formatdate

import pytest

from ragstone.http.retry import BusyError, Patience, UnreachableError, is_busy, read_retry_after, retry

QUICK = Patience(first_wait_s=0.0)


def attempt(*outcomes, patience=QUICK, **options):
    """The result and the waits of a call with these outcomes."""
    left, waits = list(outcomes), []

    async def call():
        if isinstance(found := left.pop(0), Exception):
            raise found
        return found

    async def wait(wait_s, error):
        waits.append(wait_s)

    return asyncio.run(retry(call, patience, wait=wait, **options)), waits


def test_the_result_comes_with_the_number_of_attempts():
    assert attempt("fine") == (("fine", 1), [])
    assert attempt(BusyError("no"), BusyError("no"), "fine")[0] == ("fine", 3)


def test_a_server_may_ask_for_a_wait_up_to_a_limit():
    patience = Patience(first_wait_s=0.0, longest_s=math.inf)
    _, waits = attempt(*(BusyError("429", asked) for asked in (3, 600, 1e9)), "fine", patience=patience)
    assert waits == [3, 600, 600]


def test_what_takes_too_long_altogether_is_not_begun():
    with pytest.raises(BusyError) as raised:
        attempt(BusyError("429", 3600, slow_down=True), "fine")
    assert str(raised.value) == "429 (the server asks to wait 3600 s); given up after 1 attempt"
    assert raised.value.attempts == 1


def test_an_address_that_never_answered_is_given_up_early():
    with pytest.raises(UnreachableError, match="x; given up after 3 attempts"):
        attempt(*[UnreachableError("x")] * 9)


def test_other_errors_are_raised_at_once():
    with pytest.raises(ValueError, match="wrong"):
        attempt(BusyError("no"), ValueError("wrong"), "fine")


def test_statuses():
    assert [status for status in range(200, 600) if is_busy(status)] == [408, 425, 429, *range(500, 600)]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "2"}, 2.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"retry-after-ms": "x", "Retry-After": "7"}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert read_retry_after(headers) == seconds


def test_a_date_to_wait_for():
    assert read_retry_after({"Retry-After": formatdate(time.time() + 30, usegmt=True)}) == pytest.approx(30, abs=2)
