"""The series of a watch: estimates for all traffic, alarms, labels of people, and the worst samples."""

import csv
import json
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest

from ragstone.errors import StorageError, UnknownNameError
from ragstone.stats.weighted import traffic_mean
from ragstone.storage.runs import RunFolder
from ragstone.watch import series as module
from ragstone.watch.series import Alarm, estimate_series, odds, read_period, worst, worst_rows
from ragstone.watch.store import PeriodRecord, WatchStore
from ragstone.web.watches import WatchLibrary
from tests.watch.made_watch import ferry, make_watch  # noqa: F401  (a fixture)


@pytest.fixture
def copied(ferry, tmp_path):  # noqa: F811
    """A copy of the watch that a test may change."""
    shutil.copytree(ferry.place.path, tmp_path / "copy")
    return WatchStore(tmp_path / "copy")


def test_each_row_stands_for_the_requests_of_its_stratum(ferry):  # noqa: F811
    found = estimate_series(ferry)
    record = found.periods[0]
    values = dict(ferry.scores(record.period)["exact_match"])
    by_stratum = {
        name: np.mean([values[row] for row, stratum in record.strata.items() if stratum == name])
        for name in record.seen
    }
    point = found.points["exact_match"][0]
    assert point.estimate == pytest.approx(0.9 * by_stratum["up"] + 0.1 * by_stratum["down"])
    assert (point.rows, point.requests, point.period) == (60, 400, record.period)
    assert point.low < point.estimate < point.high
    plain = np.mean(list(values.values()))
    assert point.estimate > plain + 0.1  # half of the draws are bad, a tenth of the requests is


def test_the_interval_is_that_of_the_draws(ferry):  # noqa: F811
    record = ferry.periods()[0]
    part = read_period(ferry, record)
    expected = traffic_mean(part.scores["token_f1"].values, part.weights, part.strata.astype(str), (0.0, 1.0))
    point = estimate_series(ferry, ["token_f1"]).points["token_f1"][0]
    assert (point.low, point.high) == expected.interval


def test_the_alarm_names_the_day_of_the_change(ferry):  # noqa: F811
    found = estimate_series(ferry)
    assert {alarm.metric for alarm in found.alarms} == {"exact_match", "token_f1"}
    alarm = found.alarms[0]
    days = [record.period for record in found.periods]
    assert (alarm.since, alarm.direction, alarm.worse) == (days[6], "lower", True)
    assert alarm.period in days[6:8]
    assert alarm.before > 0.8
    assert alarm.after < 0.5
    assert 0 < alarm.chance < 0.05
    assert str(alarm).startswith(f"{alarm.metric} seems lower since {days[6]}")


def test_an_open_period_raises_no_alarm(copied):
    for record in copied.periods()[6:]:
        copied.write_period(replace(record, complete=False))
    assert not estimate_series(copied).alarms


def test_another_judge_starts_a_new_level(copied):
    """Scores of another judge are not comparable: the break is named, and is not an alarm."""
    records = copied.periods()
    for record in records[6:]:
        for name in record.runs:
            file = RunFolder(copied.place / "runs" / name).manifest
            info = json.loads(file.read_bytes())
            for metric in info["metrics"]:
                metric["signature"] = metric["signature"].replace("|", "|other-judge/1|", 1)
            file.write_bytes(json.dumps(info).encode())
    found = estimate_series(copied)
    assert not found.alarms
    assert set(found.breaks) == {(records[6].period, "exact_match"), (records[6].period, "token_f1")}


def test_a_metric_by_name(ferry):  # noqa: F811
    assert [info.metric for info in estimate_series(ferry, ["token_f1"]).metrics] == ["token_f1"]
    with pytest.raises(UnknownNameError, match="exact_match, token_f1"):
        estimate_series(ferry, ["ndcg"])


def test_periods_are_read_once(ferry, monkeypatch):  # noqa: F811
    cache = {}
    first = estimate_series(ferry, cache=cache)
    monkeypatch.setattr(module, "read_period", lambda *_: pytest.fail("read again"))
    assert estimate_series(ferry, cache=cache) == first


def test_a_watch_without_periods_and_a_period_without_rows(tmp_path):
    with pytest.raises(StorageError, match="not a watch"):
        estimate_series(WatchStore(tmp_path))
    store = WatchStore(tmp_path)
    store.write_settings({"period": "day"})
    found = estimate_series(store)
    assert (found.periods, found.metrics, found.alarms) == ((), (), ())
    store.write_period(PeriodRecord("2026-11-15", {"all": 7}, complete=True))
    assert estimate_series(store).periods[0].requests == 7
    assert worst(store, "2026-11-15", 3) == worst(store, "2026-11-14", 3) == []


def test_rows_without_weight_count_as_their_stratum(copied):
    record = copied.periods()[0]
    expected = estimate_series(copied).points["exact_match"][0]
    copied.write_period(replace(record, weights={}))
    assert estimate_series(copied).points["exact_match"][0] == expected


def test_the_worst_come_first(ferry):  # noqa: F811
    record = ferry.periods()[7]
    ids = worst(ferry, record.period, 8)
    values = dict(ferry.scores(record.period)["exact_match"])
    assert len(set(ids)) == 8
    assert [values[name] for name in ids] == [0.0] * 8
    rows = worst_rows(read_period(ferry, record), 8)
    assert [row.sample_id for row in rows] == ids
    run = ferry.runs(record.period)[0]
    assert [run.samples[row.row].id for row in rows] == ids


def write_labels(store, ids, label):
    with open(store.labels_file.path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sample_id", "label"])
        writer.writerows([name, label(name)] for name in ids)


def test_labels_of_people_correct_the_metric(copied):
    """People find half of the wrong answers acceptable; a random half of all rows has labels."""
    random = np.random.default_rng(0)
    values = {name: value for record in copied.periods() for name, value in copied.scores(record.period)["exact_match"]}
    kind = {name: max(value, float(random.random() < 0.5)) for name, value in values.items()}
    ids = [name for name in values if random.random() < 0.5]
    write_labels(copied, ids, lambda name: kind[name])
    found = estimate_series(copied)
    whole = next(one for one in found.labelled if not one.period and one.metric == "exact_match")
    weights = {name: weight for record in found.periods for name, weight in record.weights.items()}
    truth = np.average(list(kind.values()), weights=[weights[name] for name in kind])
    assert whole.labels == len(ids)
    assert whole.low < truth < whole.high
    assert whole.judge_mean < whole.low
    days = [one for one in found.labelled if one.period and one.metric == "exact_match"]
    assert all(one.labels >= 30 for one in days)


def test_few_labels_are_named_and_not_used(copied):
    write_labels(copied, list(copied.periods()[0].weights)[:5], lambda _: 1)
    found = estimate_series(copied)
    assert found.labelled == ()
    assert found.remarks[0].startswith("5 rows of labels.csv match")


def test_a_metric_without_an_estimate_gets_none_of_another_metric(copied, monkeypatch):
    write_labels(copied, [name for record in copied.periods() for name in record.weights], lambda _: 1)
    assert estimate_series(copied).labelled
    monkeypatch.setattr("ragstone.watch.series.powered_traffic_mean", lambda *_: None)
    assert estimate_series(copied).labelled == ()


def test_weeks(tmp_path):
    store = make_watch(tmp_path, [0.9, 0.9], draws=4, period="week")
    found = estimate_series(store)
    assert (found.period, [record.period for record in found.periods]) == ("week", ["2026-W41", "2026-W42"])


def test_a_watch_on_s3(bucket):
    store = make_watch(f"s3://{bucket.name}/watch", [0.9, 0.9], draws=4)
    found = estimate_series(store)
    assert [point.rows for point in found.points["exact_match"]] == [8, 8]
    assert len(worst(store, found.periods[1].period, 2)) == 2
    library = WatchLibrary(store.place)
    while (seen := library.series()) is None:
        time.sleep(0.05)
    assert seen == found
    library.close()


def test_chances_as_words():
    assert odds(0.01) == "once in 100 years"
    assert odds(1e-9) == "less than once in 10,000 years"
    alarm = Alarm("2026-11-02", "refusal", "higher", True, "2026-11-01", 0.1, 0.4, 6.0, 0.004)
    assert (
        str(alarm)
        == "refusal seems higher since 2026-11-01: 0.400, before 0.100 (found after 2026-11-02; by chance once in 250 years)"
    )
