"""Servers on loopback that check requests as the published schemas of Langfuse, Phoenix and LangSmith do, and page.

Sources: Langfuse's fern definitions (traces, observations v1 and v2, scores v2 and v3, POST /scores), Phoenix's openapi.json
(spans, span and trace annotations), and LangSmith's OpenAPI client (runs query v1 and v2, sessions, feedback).
"""

import base64
import json
import re
import uuid
from datetime import datetime
from urllib.parse import parse_qs, unquote, urlsplit

from tests.http.loopback import Loopback
from tests.platforms import records


class InvalidError(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def need(condition, message, status=400):
    if not condition:
        raise InvalidError(status, message)


def time(text):
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise InvalidError(400, f"not a date-time: {text}") from None


def is_uuid(text):
    try:
        return str(uuid.UUID(text)) == text
    except (TypeError, ValueError, AttributeError):
        return False


def check(body, required, optional, status=400):
    """An object with these fields and types, and no others."""
    need(isinstance(body, dict), "the body must be an object", status)
    for name, kind in required.items():
        need(isinstance(body.get(name), kind) and not (kind is str and not body[name]), f"{name} is required", status)
    for name, value in body.items():
        kind = required.get(name) or optional.get(name)
        need(kind is not None, f"unknown field {name}", status)
        need(
            value is None or (isinstance(value, kind) and not isinstance(value, bool)),
            f"{name} has a wrong type",
            status,
        )


class Fake:
    """Routes by method and path. `faults` are answered first, one per request: a status with headers, or trouble."""

    page = 2

    def __init__(self):
        self.server = Loopback()
        self.server.handler = self._answer
        self.faults = []
        self.requests = []

    def running(self):
        return self.server.running()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.port}"

    def _answer(self, asked):
        parts = urlsplit(asked.path)
        self.requests.append((asked.method, parts.path))
        if self.faults:
            fault = self.faults.pop(0)
            if fault is not None:
                return fault
        try:
            need(self.knows_key(asked.headers), "Invalid credentials", 401)
            query = parse_qs(parts.query, keep_blank_values=True)
            if asked.method in ("POST", "PATCH"):
                need(asked.headers.get("content-type", "").startswith("application/json"), "JSON is required", 415)
            body = json.loads(asked.body) if asked.body else None
            return self.route(asked.method, unquote(parts.path), query, body)
        except InvalidError as problem:
            return problem.status, {"message": str(problem)}

    def limited(self, query, most):
        limit = query.get("limit", ["50"])[0]
        need(limit.isdecimal() and 0 < int(limit) <= most, f"limit must be from 1 to {most}", 422)
        return min(int(limit), self.page)


def within(query, names, row, time_of):
    start, end = (query.get(name, [None])[0] for name in names)
    at = time(time_of(row))
    return (start is None or at >= time(start)) and (end is None or at < time(end))


def only(query, *names):
    need(set(query) <= set(names), f"unknown parameters: {set(query) - set(names)}")


class FakeLangfuse(Fake):
    """Version 4 has observations and scores by cursor; version 3 has traces, observations and scores by page."""

    keys = ("pk-lf-test", "sk-lf-test")
    groups = frozenset(
        ["core", "basic", "time", "io", "metadata", "model", "usage", "prompt", "metrics", "trace_context"]
    )

    def __init__(self, version=4):
        super().__init__()
        self.version = version
        self.observations = records.langfuse_observations()
        self.scores = records.langfuse_scores()
        self.traces = records.langfuse_traces()
        self.written = {}

    def knows_key(self, headers):
        pair = base64.b64encode(":".join(self.keys).encode()).decode()
        return headers.get("authorization") == f"Basic {pair}"

    def route(self, method, path, query, body):
        routes = {
            ("POST", "/api/public/scores"): self.create_score,
            ("GET", "/api/public/projects"): lambda query, body: {
                "data": [{"id": "p1", "name": "demo", "metadata": {}}]
            },
        }
        if self.version >= 4:
            routes["GET", "/api/public/v2/observations"] = self.observations_v2
            routes["GET", "/api/public/v3/scores"] = self.scores_v3
        else:
            routes["GET", "/api/public/observations"] = self.observations_v1
            routes["GET", "/api/public/traces"] = self.traces_v1
            routes["GET", "/api/public/v2/scores"] = self.scores_v2
        need((method, path) in routes, "Not found", 404)
        return routes[method, path](query, body)

    def by_cursor(self, rows, query, most):
        size = self.limited(query, most)
        cursor = query.get("cursor", [None])[0]
        start = int(base64.b64decode(cursor)) if cursor else 0
        meta = {"limit": size}
        if start + size < len(rows):
            meta["cursor"] = base64.b64encode(str(start + size).encode()).decode()
        return {"data": rows[start : start + size], "meta": meta}

    def observations_v2(self, query, body):
        only(query, "fields", "limit", "cursor", "fromStartTime", "toStartTime", "expandMetadata", "parseIoAsJson",
             "name", "userId", "type", "traceId", "level", "parentObservationId", "environment", "version", "filter",
             "sessionId", "isRootObservation")  # fmt: skip
        fields = set(query.get("fields", ["core,basic"])[0].split(","))
        need(fields <= self.groups, f"unknown field groups {fields - self.groups}")
        times = ("fromStartTime", "toStartTime")
        rows = [row for row in self.observations if within(query, times, row, lambda row: row["startTime"])]
        rows.sort(key=lambda row: row["startTime"], reverse=True)
        if "io" not in fields:
            rows = [{**row, "input": None, "output": None} for row in rows]
        return self.by_cursor(rows, query, 1000)

    def scores_v3(self, query, body):
        only(query, "fields", "limit", "cursor", "fromTimestamp", "toTimestamp", "traceId", "name", "id", "source")
        fields = set(filter(None, query.get("fields", [""])[0].split(",")))
        need(fields <= {"details", "subject", "annotation"}, "unknown field groups")
        times = ("fromTimestamp", "toTimestamp")
        rows = [row for row in self.scores if within(query, times, row, lambda row: row["timestamp"])]
        if "subject" not in fields:
            rows = [{key: value for key, value in row.items() if key != "subject"} for row in rows]
        return self.by_cursor(rows, query, 100)

    def by_number(self, rows, query):
        size = self.limited(query, 100)
        number = int(query.get("page", ["1"])[0])
        need(number >= 1, "page starts at 1")
        pages = -(-len(rows) // size)
        meta = {"page": number, "limit": size, "totalItems": len(rows), "totalPages": pages}
        return {"data": rows[(number - 1) * size : number * size], "meta": meta}

    def observations_v1(self, query, body):
        only(query, "page", "limit", "fromStartTime", "toStartTime", "traceId", "name", "type", "userId")
        times = ("fromStartTime", "toStartTime")
        rows = [row for row in self.observations if within(query, times, row, lambda row: row["startTime"])]
        old = [{key: value for key, value in row.items() if key != "isRootObservation"} for row in rows]
        return self.by_number(old, query)

    def traces_v1(self, query, body):
        only(query, "page", "limit", "fromTimestamp", "toTimestamp", "orderBy", "fields", "userId", "name", "sessionId")
        need(query.get("orderBy", ["timestamp.asc"])[0] in ("timestamp.asc", "timestamp.desc"), "orderBy")
        times = ("fromTimestamp", "toTimestamp")
        return self.by_number(
            [row for row in self.traces if within(query, times, row, lambda row: row["timestamp"])], query
        )

    def scores_v2(self, query, body):
        only(query, "page", "limit", "fromTimestamp", "toTimestamp", "traceId", "name")
        old = [
            {**{key: value for key, value in row.items() if key != "subject"}, "traceId": row["subject"]["id"]}
            for row in self.scores
        ]
        return self.by_number(old, query)

    def create_score(self, query, body):
        """Version 4 takes a list and answers 202 or 207; version 3 takes one score."""
        if self.version < 4:
            need(isinstance(body, dict), "Expected object, received array")
            self.check_score(body)
            name = body.get("id") or str(uuid.uuid4())
            self.written[name] = body
            return {"id": name}
        need(isinstance(body, list) and body, "Expected array, received object")
        errors = []
        for one in body:
            try:
                self.check_score(one)
                # A score with the same id and time is replaced; another time makes another score.
                self.written[one.get("id") or str(uuid.uuid4()), one.get("timestamp")] = one
            except InvalidError as problem:
                errors.append({"message": str(problem)})
        if not errors:
            return 202, {"message": "Accepted"}
        return 207, {"accepted": len(body) - len(errors), "rejected": len(errors), "errors": errors}

    def check_score(self, body):
        optional = {"id": str, "traceId": str, "sessionId": str, "observationId": str, "datasetRunId": str, "comment": str,
                    "metadata": dict, "environment": str, "queueId": str, "dataType": str, "configId": str, "source": str,
                    "timestamp": str}  # fmt: skip
        check(body, {"name": str, "value": (int, float, str)}, optional)
        kind = body.get("dataType") or "NUMERIC"
        need(kind in ("NUMERIC", "CATEGORICAL", "BOOLEAN", "TEXT"), "dataType")
        need(kind != "NUMERIC" or isinstance(body["value"], int | float), "value must be a number")
        need(
            any(body.get(name) for name in ("traceId", "sessionId", "datasetRunId")), "a score needs a trace or session"
        )
        need(body.get("traceId") != "rejected", "the trace is rejected")
        if "timestamp" in body:
            need(time(body["timestamp"]).tzinfo is not None, "timestamp needs a time zone")


class FakePhoenix(Fake):
    key = "phoenix-test-key"

    def __init__(self):
        super().__init__()
        self.spans = records.phoenix_spans()
        self.annotations = records.phoenix_annotations()
        self.written = {}

    def knows_key(self, headers):
        return headers.get("authorization") == f"Bearer {self.key}"

    def route(self, method, path, query, body):
        routes = {
            ("GET", "/arize_phoenix_version"): lambda query, body: (200, b"14.0.0", {"Content-Type": "text/plain"}),
            ("GET", "/v1/projects/default/spans"): self.list_spans,
            ("GET", "/v1/projects/default/span_annotations"): self.list_annotations,
            ("POST", "/v1/span_annotations"): lambda query, body: self.annotate("span_id", query, body),
            ("POST", "/v1/trace_annotations"): lambda query, body: self.annotate("trace_id", query, body),
        }
        need((method, path) in routes, "Not found", 404)
        return routes[method, path](query, body)

    def cursored(self, rows, query, most):
        size = self.limited(query, most)
        start = int(query.get("cursor", ["0"])[0])
        following = str(start + size) if start + size < len(rows) else None
        return {"data": rows[start : start + size], "next_cursor": following}

    def list_spans(self, query, body):
        only(
            query, "cursor", "limit", "start_time", "end_time", "trace_id", "span_id", "parent_id", "name", "span_kind"
        )
        times = ("start_time", "end_time")
        rows = [row for row in self.spans if within(query, times, row, lambda row: row["start_time"])]
        return self.cursored(rows[::-1], query, 1000)

    def list_annotations(self, query, body):
        only(query, "cursor", "limit", "span_ids", "identifier", "include_annotation_names", "exclude_annotation_names")
        need("span_ids" in query or "identifier" in query, "span_ids or identifier must be supplied", 422)
        rows = [row for row in self.annotations if row["span_id"] in query.get("span_ids", ())]
        return self.cursored(rows, query, 10000)

    def annotate(self, target, query, body):
        only(query, "sync")
        check(body, {"data": list}, {}, 422)
        known = {"span_id": {s["context"]["span_id"] for s in self.spans}, "trace_id": set(records.TRACES.values())}
        for one in body["data"]:
            required = {"name": str, "annotator_kind": str, target: str}
            check(one, required, {"result": dict, "metadata": dict, "identifier": str}, 422)
            need(one["annotator_kind"] in ("LLM", "CODE", "HUMAN"), "annotator_kind", 422)
            result = one.get("result") or {}
            check(result, {}, {"label": str, "score": (int, float), "explanation": str}, 422)
            need(
                any(result.get(name) is not None for name in ("label", "score", "explanation")), "an empty result", 422
            )
        missing = [one[target] for one in body["data"] if one[target] not in known[target]]
        need(not missing, f"Spans with IDs {missing} do not exist.", 404)
        for one in body["data"]:
            self.written[one["name"], one[target], one.get("identifier", "")] = one
        return {"data": [{"id": f"id{number}"} for number in range(len(body["data"]))]}


class FakeLangSmith(Fake):
    key = "lsv2_test_key"
    v1_select = frozenset((
        "id", "name", "run_type", "start_time", "end_time", "first_token_time", "error", "extra", "inputs", "outputs",
        "tags", "trace_id", "dotted_order", "prompt_tokens", "completion_tokens", "total_tokens", "total_cost",
        "feedback_stats", "parent_run_id", "parent_run_ids", "session_id", "status", "app_path", "events",
        "completion_cost", "prompt_cost", "reference_example_id", "s3_urls",
    ))  # fmt: skip
    v2_select = frozenset((
        "ID", "NAME", "RUN_TYPE", "STATUS", "START_TIME", "END_TIME", "LATENCY_SECONDS", "FIRST_TOKEN_TIME", "ERROR",
        "EXTRA", "METADATA", "EVENTS", "INPUTS", "OUTPUTS", "PARENT_RUN_IDS", "PROJECT_ID", "TRACE_ID", "THREAD_ID",
        "DOTTED_ORDER", "IS_ROOT", "TOTAL_TOKENS", "PROMPT_TOKENS", "COMPLETION_TOKENS", "TOTAL_COST", "TAGS",
        "FEEDBACK_STATS",
    ))  # fmt: skip

    def __init__(self, version=2, conflicts=False):
        super().__init__()
        self.version = version
        self.conflicts = conflicts
        self.runs = records.langsmith_runs()
        self.written = {}

    def knows_key(self, headers):
        return headers.get("x-api-key") == self.key

    def route(self, method, path, query, body):
        if method == "PATCH" and path.startswith("/feedback/"):
            return self.change(path.removeprefix("/feedback/"), body)
        routes = {
            ("GET", "/sessions"): self.sessions,
            ("POST", "/feedback"): self.create_feedback,
            ("GET", "/info"): lambda query, body: {"version": "0.16.0", "instance_flags": {}},
        }
        if self.version == 2:
            routes["POST", "/api/v2/runs/query"] = self.query_v2
        else:
            routes["POST", "/runs/query"] = self.query_v1
        need((method, path) in routes, "Not found", 404)
        return routes[method, path](query, body)

    def sessions(self, query, body):
        only(query, "name", "limit", "include_stats")
        start = {
            "start_time": records.day(1),
            "tenant_id": records.PROJECT,
            "run_count": 0,
            "reference_dataset_id": None,
        }
        return [{"id": records.PROJECT, "name": "default", **start}] if query["name"] == ["default"] else []

    def selected(self, start, end):
        rows = [
            run for run in self.runs if time(start) <= time(run["start_time"]) < time(end or "2099-01-01T00:00:00Z")
        ]
        return sorted(rows, key=lambda run: run["start_time"])

    def query_v1(self, query, body):
        optional = {"session": list, "start_time": str, "end_time": str, "limit": int, "order": str, "select": list,
                    "cursor": str, "is_root": (bool, int), "filter": str, "id": list, "run_type": str}  # fmt: skip
        check(body, {}, optional, 422)
        need(body.get("session") or body.get("id"), "At least one of 'session', 'id' must be specified")
        need(all(map(is_uuid, body.get("session", ()))), "session must be UUIDs", 422)
        need(set(body.get("select") or ()) <= self.v1_select, "select", 422)
        need(1 <= body.get("limit", 100) <= 100, "limit must be from 1 to 100", 422)
        need(body.get("order", "desc") in ("asc", "desc"), "order", 422)
        upper = None
        if body.get("filter"):
            found = re.fullmatch(r'lt\(start_time, "([^"]+)"\)', body["filter"])
            need(found, "Invalid filter")
            upper = found[1]
        rows, start = self.selected(body["start_time"], upper), int(body.get("cursor") or 0)
        following = str(start + self.page) if start + self.page < len(rows) else None
        return {"runs": rows[start : start + self.page], "cursors": {"next": following}, "parsed_query": None}

    def query_v2(self, query, body):
        optional = {"min_start_time": str, "max_start_time": str, "page_size": int, "selects": list, "cursor": str,
                    "is_root": (bool, int), "filter": str, "ids": list, "run_type": str}  # fmt: skip
        check(body, {"project_ids": list}, optional, 422)
        need(all(map(is_uuid, body["project_ids"])), "project_ids must be UUIDs", 422)
        need(set(body.get("selects") or ()) <= self.v2_select, "selects", 422)
        need(1 <= body.get("page_size", 100) <= 1000, "page_size", 422)
        rows, start = self.selected(body["min_start_time"], body.get("max_start_time")), int(body.get("cursor") or 0)
        wanted = {name.lower() for name in body.get("selects") or ["ID"]}
        items = []
        for run in rows[start : start + self.page]:
            known = {**run, "project_id": run["session_id"], "thread_id": "s1", "metadata": run["extra"]["metadata"]}
            items.append({key: value for key, value in known.items() if key in wanted})
        following = str(start + self.page) if start + self.page < len(rows) else None
        return {"items": items, **({"next_cursor": following} if following else {})}

    def create_feedback(self, query, body):
        optional = {"id": str, "run_id": str, "trace_id": str, "session_id": str, "start_time": str, "score": (int, float),
                    "value": (int, float, str, dict), "comment": str, "correction": (dict, str), "feedback_source": dict,
                    "created_at": str, "modified_at": str, "extra": dict, "feedback_config": dict,
                    "extend_trace_retention": (bool, int)}  # fmt: skip
        flags = {"extend_trace_retention"}
        check({key: value for key, value in (body or {}).items() if key not in flags}, {"key": str}, optional, 422)
        for name in ("id", "run_id", "trace_id", "session_id"):
            need(body.get(name) is None or is_uuid(body[name]), f"{name} must be a UUID", 422)
        need(body.get("run_id") or body.get("session_id"), "run_id or session_id is required", 422)
        source = body.get("feedback_source") or {"type": "api"}
        need(source.get("type") in ("api", "model", "app", "auto_eval"), "feedback_source.type", 422)
        need(body.get("run_id") in {run["id"] for run in self.runs}, "Run not found", 404)
        need(not self.conflicts or body.get("id") not in self.written, "Feedback already exists", 409)
        name = body.get("id") or str(uuid.uuid4())
        self.written[name] = body
        return {**body, "id": name}

    def change(self, name, body):
        check(body, {}, {"score": (int, float), "value": (int, float, str), "comment": str, "correction": dict}, 422)
        need(name in self.written, "Feedback not found", 404)
        self.written[name] |= body
        return self.written[name]


FAKES = {"langfuse": FakeLangfuse, "phoenix": FakePhoenix, "langsmith": FakeLangSmith}


def variables(platform, fake):
    """The environment for a fake."""
    return {
        "langfuse": {
            "LANGFUSE_PUBLIC_KEY": FakeLangfuse.keys[0],
            "LANGFUSE_SECRET_KEY": FakeLangfuse.keys[1],
            "LANGFUSE_HOST": fake.url,
        },
        "phoenix": {"PHOENIX_API_KEY": FakePhoenix.key, "PHOENIX_COLLECTOR_ENDPOINT": f"{fake.url}/v1/traces"},
        "langsmith": {"LANGSMITH_API_KEY": FakeLangSmith.key, "LANGSMITH_ENDPOINT": fake.url},
    }[platform]
