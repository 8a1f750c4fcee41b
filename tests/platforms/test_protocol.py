from datetime import datetime, timedelta, timezone

import pytest

from ragstone.errors import ServiceError
from ragstone.platforms.api import Answer
from ragstone.platforms.protocol import in_utc, rows_in
from tests.platforms.stub import score


def test_rows_are_the_objects_of_a_list():
    assert rows_in(Answer(200, {"data": [{"id": 1}, "x", None]}), "data", "Tool /spans") == [{"id": 1}]


@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": {"id": 1}}, [], None])
def test_a_reply_without_the_list_names_the_route(data):
    with pytest.raises(ServiceError, match="Tool /spans has no list 'data'"):
        rows_in(Answer(200, data), "data", "Tool /spans")


def test_times_are_in_utc():
    east = timezone(timedelta(hours=2))
    assert in_utc(datetime(2026, 11, 1, 1, 30, tzinfo=east)) == "2026-10-31T23:30:00.000Z"


def test_a_second_push_has_the_same_key_and_another_metric_or_trace_another():
    first = score(value=0.1)
    assert first.key == score(value=0.9, judged=False).key
    assert len({first.key, score(metric="recall").key, score(trace="b" * 32).key}) == 3
