"""The number of S3 requests of a run: a few per file of a part, and no listing per part."""

import pytest

from ragstone.engine.backends.worker import PartWorker
from ragstone.engine.evaluate import evaluate
from ragstone.registry import evidence, metric
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder
from tests.counted_s3 import counted_server, requests, s3_server  # noqa: F401  (fixtures)

pytest.importorskip("moto")
# Of a part: its evidence, its calls and its scores.
FILES = 3


@pytest.fixture
def judged(catalogue, monkeypatch):
    """A metric whose evidence waits, so that a part has two rows."""

    @evidence
    async def slow_word(question: str) -> str:
        return question

    @metric("judged_word")
    def judged_word(slow_word: str) -> float:
        return 1 / len(slow_word)

    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 2)
    return "judged_word"


def make_rows(parts):
    return [{"id": str(number), "question": f"q {number}", "answer": "a"} for number in range(2 * parts)]


@pytest.mark.slow
def test_a_run_makes_three_requests_per_file_of_a_part(bucket, requests, judged):  # noqa: F811
    found = {}
    for parts in (5, 15):
        requests.reset()
        evaluate(make_rows(parts), [judged], f"{bucket.url}/r{parts}")
        found[parts] = requests.count()
        assert requests.count("/parts/")["LIST"] <= 4
    per_part = {kind: (found[15][kind] - found[5][kind]) / 10 for kind in found[15]}
    assert per_part == {"PUT": FILES, "HEAD": FILES, "GET": FILES, "LIST": 0, "DELETE": 0, "POST": 0}
    assert sum(found[5].values()) - 5 * 3 * FILES < 60


@pytest.mark.slow
def test_more_than_a_thousand_files(bucket, requests):  # noqa: F811
    """A listing has pages of 1,000 keys; a folder is removed 1,000 keys at a time."""
    folder = RunFolder(open_place(f"{bucket.url}/runs/many"))
    for number in range(1250):
        bucket.client.put_object(Bucket=bucket.name, Key=f"runs/many/parts/{number:06d}/scores.parquet", Body=b"")
    for number in range(0, 1250, 10):
        bucket.client.put_object(Bucket=bucket.name, Key=f"runs/many/parts/{number:06d}/tally.json", Body=b"{}")
    requests.reset()
    assert folder.finished_parts() == set(range(1250))
    assert requests.count() == {"LIST": 2}
    assert len(folder.parts_with("tally.json")) == 125
    requests.reset()
    folder.remove_scaffold()
    found = requests.count()
    assert found["POST"] <= 3
    assert found["LIST"] <= 5
    assert sum(found.values()) < 15
    assert folder.finished_parts() == set()


def test_a_worker_opens_the_samples_once(bucket, requests, judged):  # noqa: F811
    """A worker of a cluster looks whether each part is there, without a listing."""
    seen = {}

    def work(kit, parts, workers):
        worker = PartWorker(kit)
        for part in parts:
            requests.reset()
            yield from worker.work([part])
            seen[part.number] = requests.count("samples.parquet"), requests.count("/parts/")
        worker.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragstone.engine.backends.ray.work_on_ray", work)
        evaluate(make_rows(4), [judged], f"{bucket.url}/w", backend="ray")
    for number in (1, 2, 3):
        of_samples, of_part = seen[number]
        assert of_samples == {"GET": 1}
        assert of_part == {"HEAD": 1, "PUT": FILES}


def test_a_missing_file(bucket, requests):  # noqa: F811
    place = open_place(f"{bucket.url}/folder/nothing")
    assert not place.is_file()
    assert requests.count() == {"HEAD": 1}
    place.remove()
    place.write_bytes(b"x")
    assert place.is_file()
    assert not open_place(f"{bucket.url}/folder").is_file()
    place.remove()
    assert not place.exists()
