"""The meter reports finished rows, and parts of a row while models are asked."""

from types import SimpleNamespace

from ragstone.engine.progress import Meter, silent


def meter(async_steps, total):
    steps = [SimpleNamespace(spec=SimpleNamespace(is_async=True)) for _ in range(async_steps)]
    reports = []
    return Meter(SimpleNamespace(evidence=steps), total, reports.append), reports


def test_finished_rows_are_reported():
    counter, reports = meter(0, 4)
    counter.add_rows(1)
    counter.add_rows(3)
    assert [(report.stage, report.done, report.total) for report in reports] == [
        ("evaluating", 1, 4),
        ("evaluating", 4, 4),
    ]


def test_a_row_counts_once_all_its_steps_are_done():
    counter, reports = meter(2, 10)
    for _ in range(5):
        counter.tick()
    assert [report.done for report in reports] == [0, 1, 2]


def test_only_stored_rows_complete_the_meter():
    counter, reports = meter(1, 2)
    for _ in range(2):
        counter.tick()
    assert reports[-1].done == 1
    counter.add_rows(2)
    assert reports[-1].done == 2


def test_calls_count_until_a_row_is_done():
    counter, reports = meter(1, 2)
    counter.add_rows(0)
    counter.count_call()
    counter.count_call()
    counter.tick()
    counter.count_call()
    assert [(report.done, report.calls) for report in reports] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_silent_returns_nothing():
    assert silent(None) is None
