"""How a server misbehaves, and when: a trouble has a name, a schedule says which request meets which."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from aiohttp import web

# Which trouble meets the request of this number, counted from 0; None is none.
Schedule = Callable[[int], str | None]
# Troubles that are in the reply's text only: the server does all else right.
IN_TEXT: dict[str, Callable[[str], str]] = {
    "fenced": lambda text: f"```json\n{text}\n```",
    "thinking": lambda text: f'<think>Is it {{"verdicts": []}}? No, let me look.</think>\n{text}',
    "prose": lambda text: f"Certainly! Here is what you asked for:\n\n{text}\n\nLet me know if you need more.",
    "wrong_json": lambda text: '{"answer": 42}',
    "truncated": lambda text: text[: len(text) // 2],
    "refusal": lambda text: "I'm sorry, but I can't help with that.",
    "empty": lambda text: "",
}
# Troubles that are in the choice around the text.
IN_CHOICE: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "no_logprobs": lambda choice: {name: value for name, value in choice.items() if name != "logprobs"},
    "null_logprobs": lambda choice: {**choice, "logprobs": None},
    "null_content": lambda choice: {**choice, "logprobs": {"content": None}},
    "empty_content": lambda choice: {**choice, "logprobs": {"content": []}},
    "empty_alternatives": lambda choice: {
        **choice,
        "logprobs": {"content": [{**token, "top_logprobs": []} for token in choice["logprobs"]["content"]]},
    },
    "empty_choices": lambda choice: None,
}
_MESSAGES = {
    400: "this request makes no sense",
    401: "Incorrect API key provided",
    403: "you have no access to this model",
    404: "the model `oracle` does not exist",
    429: "rate limit reached, slow down",
    500: "internal error",
    502: "bad gateway",
    503: "overloaded",
}


def never(number: int) -> str | None:
    """No trouble at all."""
    return None


def always(trouble: str) -> Schedule:
    """Every request meets the trouble."""
    return lambda number: trouble


def first(count: int, trouble: str) -> Schedule:
    """The first requests meet the trouble, all others none."""
    return lambda number: trouble if number < count else None


def after(count: int, trouble: str) -> Schedule:
    """The first requests meet none, all others do."""
    return lambda number: trouble if number >= count else None


def every(step: int, trouble: str) -> Schedule:
    """Each step-th request meets the trouble."""
    return lambda number: trouble if number % step == step - 1 else None


def share(part: float, trouble: str, seed: int = 0) -> Schedule:
    """A part of the requests, drawn by a seed, meets the trouble."""
    return lambda number: trouble if random.Random(f"{seed}/{number}").random() < part else None


def mixed(*schedules: Schedule) -> Schedule:
    """The first trouble that any of them has for a request."""
    return lambda number: next(filter(None, (schedule(number) for schedule in schedules)), None)


def error(status: int, message: str = "", headers: dict[str, str] | None = None) -> web.Response:
    """A refusal in the words of an OpenAI-compatible server."""
    body = {"error": {"message": message or _MESSAGES.get(status, "no"), "type": "error", "code": str(status)}}
    return web.json_response(body, status=status, headers=headers)


async def meet(trouble: str, request: web.Request, reply: dict[str, Any]) -> web.StreamResponse:
    """Do to a request what the trouble's name says: a status (`429`, `429 after 0.5`), or hang, reset, garbage, drip."""
    if trouble[:3].isdigit():
        status, _, wait = trouble.partition(" after ")
        return error(int(status), headers={"Retry-After": wait} if wait else None)
    if trouble == "hang":
        await asyncio.sleep(3600)
    if trouble == "reset":
        assert request.transport
        request.transport.abort()
        return web.Response()
    if trouble == "garbage":
        return web.Response(text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
    assert trouble == "drip", f"there is no trouble named {trouble!r}"
    return await _drip(request, web.json_response(reply).body)


async def _drip(request: web.Request, body: Any, pause_s: float = 0.2) -> web.StreamResponse:
    """The right reply, a few bytes at a time: it keeps coming for as long as anybody listens."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for start in range(0, len(body), 4):
        await response.write(body[start : start + 4])
        await asyncio.sleep(pause_s)
    return response
