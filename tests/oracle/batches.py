"""The oracle with batch APIs: OpenAI's files and batches, and Anthropic's messages and message batches, by their schemas.

with BatchOracle(end="expired", spoil=lambda number: "expired" if number % 3 == 0 else None) as server:
    ...
server.at["create"] = ["lost"]     the next batch is created, and the reply about it is cut off
server.created                     how often each request was submitted, by its custom_id
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from tests.oracle import trouble as troubles
from tests.oracle.server import OracleServer

# What happens to the request of this number within a batch: None, `refused`, `format`, `expired`, `missing` or `garbage`.
Spoil = Callable[[int], str | None]
STEPS = ("validating", "in_progress", "finalizing")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class BatchOracle(OracleServer):
    """A judge by the world that also takes batches. A batch goes one step further with each look at it."""

    def __init__(
        self, steps: Sequence[str] = STEPS, end: str = "completed", spoil: Spoil = lambda number: None, **more: Any
    ) -> None:
        super().__init__(**more)
        self.steps, self.end, self.spoil = steps, end, spoil
        # Troubles of the next requests by phase: `429`, `500`, `reset` (nothing is done), `lost` (it is done, the reply is
        # cut off), `hold` and `hold_after` (no reply before or after it is done), `foreign` (somebody else submits a batch of
        # the same size, and nothing else is done).
        self.at: dict[str, list[str]] = defaultdict(list)
        self.held: list[str] = []
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.created: Counter[str] = Counter()
        self.cancelled: list[str] = []

    def add_routes(self, app: web.Application) -> None:
        app._client_max_size = 2**28
        routes: list[tuple[str, str, str, Any]] = [
            ("POST", "/v1/files", "upload", self._upload),
            ("GET", "/v1/files/{id}/content", "content", self._content),
            ("POST", "/v1/batches", "create", self._create),
            ("GET", "/v1/batches", "list", self._list),
            ("GET", "/v1/batches/{id}", "look", self._look),
            ("POST", "/v1/batches/{id}/cancel", "cancel", self._cancel),
            ("POST", "/v1/messages", "message", self._message),
            ("POST", "/v1/messages/batches", "create", self._create_messages),
            ("GET", "/v1/messages/batches", "list", self._list_messages),
            ("GET", "/v1/messages/batches/{id}", "look", self._look_messages),
            ("GET", "/v1/messages/batches/{id}/results", "content", self._results),
            ("POST", "/v1/messages/batches/{id}/cancel", "cancel", self._cancel_messages),
        ]
        for method, path, phase, handler in routes:
            app.router.add_route(method, path, self._met(phase, handler))

    def _met(self, phase: str, handler: Any) -> Any:
        async def serve(request: web.Request) -> web.StreamResponse:
            met = self.at[phase].pop(0) if self.at[phase] else None
            if met in ("429", "500"):
                return troubles.error(int(met), "not now", {"Retry-After": "0"} if met == "429" else {})
            if met == "hold":
                await self._hold(phase)
            if met == "foreign":
                self._submit_another(len((await request.json())["requests"]))
                return await _cut(request)
            if met == "reset":
                return await _cut(request)
            key = request.headers.get("x-api-key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
            if self.key and key != self.key:
                return troubles.error(401, f"Incorrect API key provided: {key}")
            reply: web.StreamResponse = await handler(request)
            if met == "hold_after":
                await self._hold(phase)
            return await _cut(request) if met == "lost" else reply

        return serve

    async def _hold(self, phase: str) -> None:
        self.held.append(phase)
        await asyncio.sleep(3600)

    # OpenAI

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        name = f"file-{len(self.files)}"
        with upload.file:
            self.files[name] = content = upload.file.read()
        about = {"id": name, "object": "file", "bytes": len(content), "created_at": int(time.time())}
        return web.json_response({**about, "filename": upload.filename, "purpose": "batch"})

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["id"]])

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert set(body) <= {"input_file_id", "endpoint", "completion_window", "metadata"}
        assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
        assert all(isinstance(value, str) and len(value) <= 512 for value in body["metadata"].values())
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        for line in lines:
            assert set(line) == {"custom_id", "method", "url", "body"}
            assert (line["method"], line["url"]) == ("POST", body["endpoint"])
        assert len({line["body"]["model"] for line in lines}) == 1
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "errors": None,
            "input_file_id": body["input_file_id"],
            "completion_window": "24h",
            "status": self.steps[0] if self.steps else self.end,
            "output_file_id": None,
            "error_file_id": None,
            "created_at": int(time.time()),
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "metadata": body["metadata"],
        }
        self._remember(batch, {line["custom_id"]: line["body"] for line in lines}, len(lines))
        return web.json_response(batch)

    def _remember(self, batch: dict[str, Any], requests: dict[str, Any], count: int) -> None:
        assert len(requests) == count, "a custom_id is used twice"
        assert all(_ID.fullmatch(key) for key in requests)
        self.created.update(requests.keys())
        self.batches[batch["id"]] = {"batch": batch, "requests": requests, "looks": 0}

    async def _list(self, request: web.Request) -> web.Response:
        found = [kept["batch"] for kept in reversed(self.batches.values())]
        ids = [batch["id"] for batch in found]
        start = ids.index(request.query["after"]) + 1 if "after" in request.query else 0
        end = start + min(int(request.query.get("limit", 20)), 2)
        page = found[start:end]
        return web.json_response({"object": "list", "data": page, "has_more": end < len(found)})

    async def _look(self, request: web.Request) -> web.Response:
        if request.match_info["id"] not in self.batches:
            return troubles.error(404, "no such batch")
        kept = self.batches[request.match_info["id"]]
        batch, kept["looks"] = kept["batch"], kept["looks"] + 1
        if batch["status"] in ("cancelling", "cancelled"):
            self._finish(kept, "cancelled")
        elif kept["looks"] < len(self.steps):
            batch["status"] = self.steps[kept["looks"]]
        elif batch["output_file_id"] is None and batch["errors"] is None:
            self._finish(kept, self.end)
        return web.json_response(batch)

    def _finish(self, kept: dict[str, Any], end: str) -> None:
        batch = kept["batch"]
        batch["status"] = end
        if end == "failed":
            error = {
                "code": "token_limit_exceeded",
                "message": "Enqueued token limit reached",
                "param": None,
                "line": None,
            }
            batch["errors"] = {"object": "list", "data": [error]}
            return
        good, bad = [], []
        for number, (key, body) in enumerate(kept["requests"].items()):
            line, is_good = self._line(key, body, self.spoil(number))
            if line is not None:
                (good if is_good else bad).append(line)
        # Results come in any order.
        for name, lines in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if lines or name == "output_file_id":
                batch[name] = f"file-{len(self.files)}"
                self.files[batch[name]] = b"".join(lines)
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}

    def _line(self, key: str, body: dict[str, Any], spoilt: str | None) -> tuple[bytes | None, bool]:
        if spoilt == "missing":
            return None, False
        if spoilt == "garbage":
            return b'{"custom_id": "' + key.encode() + b'", "resp\n', True
        if spoilt == "expired":
            message = "This request could not be executed before the completion window expired."
            return _row(key, None, {"code": "batch_expired", "message": message}), False
        reply = self._answer(body)
        if spoilt or isinstance(reply, web.Response):
            words = "response_format is not supported" if spoilt == "format" else "this request makes no sense"
            response = {"status_code": 400, "request_id": "r", "body": {"error": {"message": words, "code": None}}}
            return _row(key, response, None), False
        return _row(key, {"status_code": 200, "request_id": "r", "body": reply}, None), True

    def _answer(self, body: dict[str, Any]) -> dict[str, Any] | web.Response:
        reply = self._completion(body, None)
        if isinstance(reply, web.Response):
            return reply
        self._count(body, reply, reply["prompt"])
        return {name: value for name, value in reply.items() if name != "prompt"}

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]["batch"]
        batch["status"] = "cancelling"
        self.cancelled.append(batch["id"])
        return web.json_response(batch)

    # Anthropic

    async def _message(self, request: web.Request) -> web.Response:
        assert request.headers["anthropic-version"] == "2023-06-01"
        reply = self._reply_message(await request.json())
        return web.json_response(reply, status=400 if reply["type"] == "error" else 200)

    def _reply_message(self, body: dict[str, Any]) -> dict[str, Any]:
        allowed = {"model", "max_tokens", "messages", "system", "temperature", "output_config"}
        assert set(body) <= allowed
        assert {"model", "max_tokens", "messages"} <= set(body)
        assert all(turn["role"] in ("user", "assistant") for turn in body["messages"])
        schema = body.get("output_config", {}).get("format", {}).get("schema")
        for word in ("maxItems", "minItems", "maxLength", "minimum"):
            if schema and f'"{word}"' in json.dumps(schema):
                words = f"output_config.format.schema: property '{word}' is not supported"
                return {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
        first = [{"role": "system", "content": body["system"]}] if "system" in body else []
        asked = {"model": body["model"], "messages": [*first, *body["messages"]], "max_tokens": body["max_tokens"]}
        if schema:
            asked["response_format"] = {"type": "json_schema", "json_schema": {"name": "r", "schema": schema}}
        reply = self._answer(asked)
        if isinstance(reply, web.Response):
            return {"type": "error", "error": {"type": "invalid_request_error", "message": "it makes no sense"}}
        usage = {"input_tokens": reply["usage"]["prompt_tokens"], "output_tokens": reply["usage"]["completion_tokens"]}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": reply["choices"][0]["message"]["content"]}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }

    async def _create_messages(self, request: web.Request) -> web.Response:
        assert request.headers["anthropic-version"] == "2023-06-01"
        body = await request.json()
        assert set(body) == {"requests"}
        assert all(set(line) == {"custom_id", "params"} for line in body["requests"])
        count = len(body["requests"])
        batch = self._message_batch(count)
        self._remember(batch, {line["custom_id"]: line["params"] for line in body["requests"]}, count)
        return web.json_response(batch)

    def _submit_another(self, count: int) -> None:
        body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "not about our world"}]}
        self._remember(self._message_batch(count), {f"other-{number}": body for number in range(count)}, count)

    def _message_batch(self, count: int) -> dict[str, Any]:
        now = datetime.now(UTC)
        return {
            "id": f"msgbatch_{len(self.batches)}",
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": {"processing": count, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
            "ended_at": None,
            "created_at": now.isoformat().replace("+00:00", "Z"),
            "expires_at": (now + timedelta(days=1)).isoformat().replace("+00:00", "Z"),
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None,
        }

    async def _list_messages(self, request: web.Request) -> web.Response:
        found = [kept["batch"] for kept in reversed(self.batches.values())]
        ids = [batch["id"] for batch in found]
        start = ids.index(request.query["after_id"]) + 1 if "after_id" in request.query else 0
        page = found[start : start + 2]
        ends = {"first_id": page[0]["id"] if page else None, "last_id": page[-1]["id"] if page else None}
        return web.json_response({"data": page, "has_more": start + 2 < len(found), **ends})

    async def _look_messages(self, request: web.Request) -> web.Response:
        if request.match_info["id"] not in self.batches:
            return troubles.error(404, "no such batch")
        kept = self.batches[request.match_info["id"]]
        batch, kept["looks"] = kept["batch"], kept["looks"] + 1
        if "results" not in kept and (kept["looks"] >= len(self.steps) or batch["processing_status"] == "canceling"):
            kept["results"] = self._message_results(kept["requests"])
            counts = Counter(line["result"]["type"] for line in kept["results"])
            batch["request_counts"] |= {"processing": 0, **counts}
            batch["processing_status"] = "ended"
            # The client must not send its key to an address that comes from the server.
            batch["results_url"] = "http://elsewhere.invalid/results"
        return web.json_response(batch)

    def _message_results(self, requests: dict[str, Any]) -> list[dict[str, Any]]:
        lines = []
        for number, (key, body) in enumerate(requests.items()):
            spoilt = self.spoil(number)
            if spoilt in ("expired", "canceled"):
                result: dict[str, Any] = {"type": spoilt}
            elif spoilt == "refused":
                error = {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
                result = {"type": "errored", "error": error}
            else:
                reply = self._reply_message(body)
                is_good = reply["type"] == "message"
                result = {"type": "succeeded", "message": reply} if is_good else {"type": "errored", "error": reply}
            lines.append({"custom_id": key, "result": result})
        return lines[::-1]

    async def _results(self, request: web.Request) -> web.Response:
        kept = self.batches[request.match_info["id"]]
        return web.Response(body=b"".join(json.dumps(line).encode() + b"\n" for line in kept["results"]))

    async def _cancel_messages(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]["batch"]
        batch["processing_status"] = "canceling"
        self.cancelled.append(batch["id"])
        return web.json_response(batch)


def _row(key: str, response: Any, error: Any) -> bytes:
    return json.dumps({"id": f"req_{key[:6]}", "custom_id": key, "response": response, "error": error}).encode() + b"\n"


async def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
