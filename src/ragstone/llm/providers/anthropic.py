"""Anthropic's Messages API, for batches and for the calls that go with them. Without batches, calls go through LiteLLM."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ragstone.data.codec import load_json
from ragstone.http.client import HttpClient
from ragstone.llm.base import LLMBusyError, LLMRefusedError, Reply, Request, SentImage
from ragstone.llm.batches import BatchRecord, BatchResult, BatchState
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.providers.openai import OpenAIEndpoint, explain_status
from ragstone.llm.providers.openai_batches import BatchEndpoint, count, mapping, understood

# A header of every request.
VERSION = {"anthropic-version": "2023-06-01"}
_MEGABYTE = 1_000_000
# The API requires a limit of tokens.
_MOST_TOKENS = 4096
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
# Keywords of JSON schema that the API refuses.
_BOUNDS = (
    *("minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "uniqueItems"),
)
# The clocks of two machines may differ by so much.
_CLOCK_S = 300.0
_AT_A_TIME = 100
_PAGES = 20


class AnthropicChat(OpenAIEndpoint):
    """A chat model of Anthropic."""

    _takes_temperature = True

    def batch_body(self, request: Request) -> dict[str, Any]:
        """Return a request in Anthropic's format. Log-probabilities and seeds do not exist there."""
        instructions = "\n\n".join(message.content for message in request.messages if message.role == "system")
        turns = [{"role": m.role, "content": m.parts(_image)} for m in request.messages if m.role != "system"]
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "max_tokens": request.max_tokens or _MOST_TOKENS,
            "messages": turns,
        }
        if instructions:
            body["system"] = instructions
        if self._takes_temperature:
            body["temperature"] = min(request.temperature, 1.0)
        if request.schema is not None and request.reply_format in ("json_schema", "plain_schema"):
            body["output_config"] = {"format": {"type": "json_schema", "schema": _without_bounds(request.schema)}}
        return body

    async def complete(self, request: Request) -> Reply:
        """Send one request; repeat it only if the model refuses a temperature."""
        while True:
            started = time.perf_counter()
            sent = self._takes_temperature
            reply = await self._post("messages", self.batch_body(request))
            if reply.status == 200:
                return self.read_message(reply.json(), time.perf_counter() - started)
            if not (sent and reply.status == 400 and b"temperature" in reply.body):
                raise explain_status(reply, self._endpoint, request)
            self._takes_temperature = False

    def read_message(self, data: Any, latency_s: float) -> Reply:
        """Return a message as a reply. One without content is worth a retry."""
        try:
            text = "".join(block["text"] for block in data["content"] if block.get("type") == "text")
            reason = str(data.get("stop_reason") or "end_turn")
            usage = mapping(data.get("usage"))
        except (KeyError, TypeError, AttributeError):
            raise LLMBusyError(f"{self.name} sent a reply that is not a message") from None
        if reason == "refusal":
            raise LLMRefusedError(f"{self.name} refused: {text[:200] or 'no reason is given'}")
        return Reply(
            text=text,
            model=self.name,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
            finish_reason=_FINISH.get(reason, reason),
            latency_s=latency_s,
        )


def _image(image: SentImage) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media, "data": image.data}
    return {"type": "image", "source": source if image.media else {"type": "url", "url": image.data}}


class AnthropicBatches(BatchEndpoint):
    """Anthropic's Message Batches."""

    kind, guesses = "anthropic", True
    most_requests, most_bytes = 100_000, 240 * _MEGABYTE

    def __init__(self, chat: AnthropicChat, endpoint: Endpoint, client: HttpClient, timeout_s: float) -> None:
        super().__init__(endpoint, client, timeout_s)
        self._chat = chat

    def line(self, key: str, request: Request) -> bytes:
        """Return a request of a batch as JSON."""
        line = {"custom_id": key, "params": self._chat.batch_body(request)}
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    @understood
    async def prepare(self, record: BatchRecord, lines: Sequence[bytes]) -> bytes:
        """Return the body of the request that submits the batch."""
        del record
        return b'{"requests":[' + b",".join(lines) + b"]}"

    @understood
    async def create(self, record: BatchRecord, prepared: bytes) -> str:
        """Submit the batch and return its id."""
        del record
        return str(load_json(await self._fetch("messages/batches", prepared))["id"])

    @understood
    async def find(self, record: BatchRecord, taken: frozenset[str]) -> str | None:
        """Return the batch of the same size that is nearest in time.

        These batches have no metadata, and their requests are only visible in the results. The caller checks those.
        """
        recent = await self._recent(record.created - _CLOCK_S)
        same = [batch for batch in recent if sum(batch["request_counts"].values()) == len(record.keys)]
        found = {abs(_time(batch) - record.created): str(batch["id"]) for batch in same if batch["id"] not in taken}
        return found[min(found)] if found else None

    async def _recent(self, since: float) -> list[Any]:
        """Return the batches that were created since a time; the API lists the newest first."""
        found: list[Any] = []
        after = ""
        for _ in range(_PAGES):
            page = await self._json(f"messages/batches?limit={_AT_A_TIME}{after}")
            new = [batch for batch in page["data"] if _time(batch) >= since]
            found += new
            if len(new) < len(page["data"]) or not page.get("has_more"):
                break
            after = f"&after_id={page['last_id']}"
        return found

    @understood
    async def look(self, record: BatchRecord) -> BatchState:
        """Return the state of a batch."""
        batch = await self._json(f"messages/batches/{record.batch}")
        counts, status = mapping(batch.get("request_counts")), str(batch["processing_status"])
        done = sum(count(number) for name, number in counts.items() if name != "processing")
        return BatchState(status, status == "ended", done, is_known=status in ("in_progress", "canceling", "ended"))

    @understood
    async def results(self, record: BatchRecord, state: BatchState) -> list[BatchResult]:
        """Return the results; the key is not sent to the address that the server names for them."""
        del state
        found = []
        for line in await self._fetch_lines(f"messages/batches/{record.batch}/results"):
            try:
                data = load_json(line)
                found.append(_result(str(data["custom_id"]), data["result"]))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue
        return found

    async def cancel(self, record: BatchRecord) -> None:
        """Ask the server to end a batch."""
        await self._json(f"messages/batches/{record.batch}/cancel", {})

    def read(self, result: BatchResult, request: Request | None) -> Reply:
        """Return the reply in a result, or raise an LLMError."""
        if result.status != 200:
            raise self._explained(result, request)
        return self._chat.read_message(result.body, 0.0)


def _time(batch: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(batch["created_at"]).timestamp()


def _result(key: str, result: Mapping[str, Any]) -> BatchResult:
    """Return a result with the status that a call would have had."""
    if result["type"] == "succeeded":
        return BatchResult(key, 200, result["message"])
    # The error is wrapped once more, as in replies to calls.
    error = result.get("error") or {"message": f"the request {result['type']}"}
    error = error.get("error", error)
    return BatchResult(key, _STATUSES.get(str(error.get("type")), 500), {"error": error})


def _without_bounds(node: Any) -> Any:
    """Return a schema without the keywords that the API refuses; the reply is checked anyway."""
    if isinstance(node, list):
        return [_without_bounds(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        # Names under `properties` are fields.
        key: {name: _without_bounds(part) for name, part in value.items()}
        if key == "properties"
        else _without_bounds(value)
        for key, value in node.items()
        if key not in _BOUNDS
    }
