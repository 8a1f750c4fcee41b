"""run.json as typed data."""

import json
from importlib import resources

import pytest

import ragstone
from ragstone.data.signature import Signature
from ragstone.errors import StorageError
from ragstone.storage.places import open_place
from ragstone.storage.run_info import MetricInfo, RunInfo, read_run_info, write_run_info

HARBOUR = resources.files("ragstone.examples") / "harbour"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.evaluate(str(HARBOUR / "better.jsonl"), None, tmp_path_factory.mktemp("store"))


def stored(run):
    return json.loads(run.folder.manifest.read_bytes())


def test_every_signature_of_the_example_survives_a_round_trip(run):
    texts = {metric["signature"] for metric in stored(run)["metrics"]} | set(run.scores["signature"].to_pylist())
    for name in run.info.evidence:
        texts |= set(run.evidence(name)["signature"].to_pylist())
    assert len(texts) > 20
    for text in texts:
        found = Signature.parse(text)
        assert str(found) == text
        assert not found.other
    assert [str(metric.signature) for metric in run.info.metrics] == [
        one["signature"] for one in stored(run)["metrics"]
    ]


def test_signatures_name_metric_and_evidence(run):
    for metric in run.info.metrics:
        assert (metric.signature.metric, metric.signature.version[:1]) == (metric.metric, "v")
    assert "matcher" in run.info.metric("fact_recall").signature.tools


def test_the_manifest_is_written_as_it_was_read(run, tmp_path):
    copy = open_place(tmp_path / "run.json")
    write_run_info(copy, stored(run))
    assert copy.read_bytes() == run.folder.manifest.read_bytes()


def test_typed_fields_and_json_fields_agree(run):
    info = run.info
    assert (info.name, info.rows) == (info["name"], info["dataset"]["rows"])
    assert [metric.metric for metric in info.metrics] == [metric["metric"] for metric in stored(run)["metrics"]]
    assert dict(info).keys() == stored(run).keys()
    assert info.metric("no such metric") is None


def test_unknown_fields_are_kept(run, tmp_path):
    content = stored(run)
    content["colour"], content["metrics"][0]["shade"] = "red", 3
    place = open_place(tmp_path / "run.json")
    write_run_info(place, content)
    info = read_run_info(place)
    assert (info["colour"], info["metrics"][0]["shade"]) == ("red", 3)


@pytest.mark.parametrize("name", ["params", "judge", "tools", "prompts", "code", "truth", "rescored"])
def test_an_old_run_may_lack_optional_fields(run, name):
    content = stored(run)
    content.pop(name, None)
    info = RunInfo.from_json(content, "run.json")
    assert info.judge == {} or name != "judge"


def without(content, name):
    return {key: value for key, value in content.items() if key != name}


@pytest.mark.parametrize(
    "name", ["name", "dataset", "metrics", "skipped", "evidence", "versions", "totals", "created_at", "finished_at"]
)
def test_a_missing_field_is_named(run, name):
    with pytest.raises(StorageError, match=rf"run\.json: field '{name}' is missing"):
        RunInfo.from_json(without(stored(run), name), "run.json")


@pytest.mark.parametrize(
    ("name", "value"),
    [("name", 3), ("metrics", {}), ("dataset", []), ("dataset", {"rows": "many"}), ("dataset", {}), ("judge", "gpt")],
)
def test_an_odd_field_is_named(run, name, value):
    with pytest.raises(StorageError, match=rf"field '{name}"):
        RunInfo.from_json({**stored(run), name: value}, "run.json")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"metric": None}, "metric"),
        ({"signature": 3}, "signature"),
        ({"better": "up"}, "better"),
        ({"bounds": [0]}, "bounds"),
        ({"bounds": ["0", "1"]}, "bounds"),
        ({"bounds": [True, False]}, "bounds"),
    ],
)
def test_an_odd_metric_is_named(run, change, word):
    content = stored(run)
    content["metrics"][1] |= change
    with pytest.raises(StorageError, match=rf"metrics\[1\].*'{word}'"):
        RunInfo.from_json(content, "run.json")


def test_an_entry_that_is_no_object(run):
    with pytest.raises(StorageError, match=r"metrics\[0\] is not an object"):
        RunInfo.from_json({**stored(run), "metrics": ["token_f1"]}, "run.json")


def test_content_that_could_not_be_read_back_is_not_written(run, tmp_path):
    place = open_place(tmp_path / "run.json")
    with pytest.raises(StorageError, match="totals"):
        write_run_info(place, without(stored(run), "totals"))
    assert not place.exists()


def test_a_declared_metric():
    metric = MetricInfo.declare("mine", better="lower", bounds=(0.0, None))
    assert (metric["metric"], metric.better, metric.bounds) == ("mine", "lower", (0.0, None))
