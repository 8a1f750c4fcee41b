from datetime import UTC, datetime

import pytest

from ragstone.platforms import phoenix
from ragstone.platforms.protocol import Window
from tests.platforms.stub import StubApi, run, score

ROOT = "1234567890abcdef"


def test_scores_are_annotations_of_root_spans_or_of_traces():
    api = StubApi((200, {}), (200, {}))
    results = run(phoenix.write(api, [score(metric="recall", judged=False), score(root_span_id=ROOT)]))
    assert [result.error for result in results] == [None, None]
    (_, first, spans), (_, second, traces) = api.asked
    assert (first, second) == ("/v1/span_annotations", "/v1/trace_annotations")
    assert spans["data"][0]["span_id"] == ROOT
    assert spans["data"][0]["annotator_kind"] == "LLM"
    assert traces["data"][0]["trace_id"] == "a" * 32
    assert traces["data"][0]["annotator_kind"] == "CODE"


def test_one_unknown_span_fails_alone():
    marks = [score(metric=name) for name in "abc"]
    # All fail, then the first alone works, then the rest fails and is divided again.
    api = StubApi((404, None), (200, {}), (404, None), (404, None), (200, {}))
    results = run(phoenix.write(api, marks))
    assert [result.error for result in results] == [None, "the trace is not in the project's server", None]
    assert [len(body["data"]) for _, _, body in api.asked] == [3, 1, 2, 1, 1]


@pytest.mark.parametrize(("trace", "accepted"), [("a" * 32, True), ("A" * 32, False), ("a" * 31, False), ("q1", False)])
def test_only_ids_of_opentelemetry_are_sent(trace, accepted):
    assert phoenix.accepts(score(trace)) is accepted


def test_annotations_are_read_for_root_spans_only_and_old_servers_have_none():
    window = Window(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 2, tzinfo=UTC), "my/project")
    spans = [{"context": {"span_id": "r"}}, {"context": {"span_id": "c"}, "parent_id": "r"}]
    note = {"span_id": "r", "name": "like"}
    read = phoenix.STAGES[0].routes[0]
    api = StubApi((200, {"data": [dict(row) for row in spans], "next_cursor": "n"}), (200, {"data": [note]}))
    page = run(read(api, window, None))
    assert page.next == "n"
    assert page.rows == [{**spans[0], "annotations": [note]}, spans[1]]
    assert api.asked[0][1] == "/v1/projects/my%2Fproject/spans"
    old = StubApi((200, {"data": [dict(row) for row in spans]}), (404, None))
    assert run(read(old, window, None)) == (spans, None)
