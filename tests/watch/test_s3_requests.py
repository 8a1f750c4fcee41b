"""The number of S3 requests of a pass: it depends on what is new, not on the periods and files that are done."""

import json
from datetime import datetime

import pytest

from ragstone.watch.sample_design import Design
from ragstone.watch.series import estimate_series
from ragstone.watch.store import WatchStore
from ragstone.watch.watch import Settings, Watch, open_watch
from tests.counted_s3 import counted_server, requests, s3_server  # noqa: F401  (fixtures)
from tests.watch.logs import request

pytest.importorskip("moto")


class Bench:
    """A watch in a bucket with one log file per day."""

    def __init__(self, bucket, name):
        self.bucket, self.name, self.numbers = bucket, name, iter(range(1_000_000))
        self.store = WatchStore(f"{bucket.url}/{name}/watch")
        self.settings = Settings((f"{bucket.url}/{name}/logs",), Design(rate=1.0), metrics=("refusal",))

    def write(self, day, part=0, rows=2):
        lines = "".join(json.dumps(request(next(self.numbers), day)) + "\n" for _ in range(rows))
        self.bucket.write(f"{self.name}/logs/{day}-{part}.jsonl", lines.encode())

    def step(self, now):
        watch = Watch(
            self.store, open_watch(self.store, self.settings), clock=lambda: datetime.fromisoformat(f"{now}+00:00")
        )
        watch.clean()
        return watch.step()


def days(count):
    return [f"2026-{1 + number // 28:02d}-{1 + number % 28:02d}" for number in range(count)]


@pytest.mark.slow
def test_a_pass_does_not_read_complete_periods(bucket, requests):  # noqa: F811
    """Neither a pass without anything new, nor one with a new request."""
    idle, fresh = {}, {}
    for count in (2, 6):
        bench = Bench(bucket, f"w{count}")
        for day in days(count):
            bench.write(day)
        assert len(bench.step("2026-11-10T00:00:00").complete) == count
        requests.reset()
        assert bench.step("2026-11-10T00:01:00").requests == 0
        idle[count] = requests.count()
        bench.write("2026-11-10")
        requests.reset()
        assert bench.step("2026-11-10T00:02:00").requests == 2
        fresh[count] = requests.count()
        assert not requests.count("/periods/2026-01")
        assert not requests.count("/runs/2026-01")
    assert idle[2] == idle[6]
    assert fresh[2] == fresh[6]
    assert sum(idle[6].values()) < 20
    assert sum(fresh[6].values()) < 40


@pytest.mark.slow
def test_requests_per_new_file(bucket, requests):  # noqa: F811
    """A new file is compared with all known ones, and yet opened a fixed number of times."""
    found = {}
    for count in (5, 10, 20):
        bench = Bench(bucket, f"f{count}")
        for part in range(count):
            bench.write("2026-11-10", part)
        requests.reset()
        assert bench.step("2026-11-10T12:00:00").requests == 2 * count
        found[count] = requests.count("/logs")
    first, second = (found[10]["GET"] - found[5]["GET"]) / 5, (found[20]["GET"] - found[10]["GET"]) / 10
    assert first == second <= 6
    assert found[20]["HEAD"] <= 6 * 20
    assert found[5]["LIST"] == found[20]["LIST"] <= 4


@pytest.mark.slow
def test_requests_per_period(bucket, requests):  # noqa: F811
    """Closing and evaluating a period, and the estimates of the series, take a fixed number of requests per period."""
    found, read = {}, {}
    for count in (2, 4, 8):
        bench = Bench(bucket, f"p{count}")
        for day in days(count):
            bench.write(day)
        requests.reset()
        bench.step("2026-11-10T00:00:00")
        found[count] = sum(requests.count().values())
        requests.reset()
        estimate_series(bench.store)
        read[count] = sum(requests.count().values())
    for counts, most in ((found, 110), (read, 15)):
        first, second = (counts[4] - counts[2]) / 2, (counts[8] - counts[4]) / 4
        assert abs(first - second) <= 1
        assert second <= most


@pytest.mark.slow
def test_more_than_a_thousand_log_files(bucket, requests):  # noqa: F811
    """Files that are read are not opened again; the listing has two pages."""
    for number in range(1_010):
        bucket.client.put_object(Bucket=bucket.name, Key=f"many/logs/old-{number:05d}.jsonl", Body=b"")
    bench = Bench(bucket, "many")
    bench.write("2026-11-10", part="z")
    requests.reset()
    assert bench.step("2026-11-10T12:00:00").requests == 2
    assert requests.count("prefix=many/logs")["LIST"] <= 6
    assert requests.count("/many/logs/old")["GET"] == 0
