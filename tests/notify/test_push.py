"""Scores on the traces of every platform: complete, once, and only those with a value."""

import asyncio
import json
from dataclasses import replace

import pytest

import ragstone
from ragstone.errors import UnknownNameError, UsageError
from ragstone.notify.push import push, push_metrics
from ragstone.platforms.api import PATIENCE
from ragstone.registry import metric
from tests.http.loopback import RESET
from tests.platforms import records
from tests.platforms.conftest import start

__all__ = ["start"]
ROWS = {
    "langfuse": records.langfuse_observations,
    "phoenix": records.phoenix_spans,
    "langsmith": records.langsmith_runs,
}
every_platform = pytest.mark.parametrize("platform", ROWS)


def evaluate(tmp_path, platform, metrics=("k_precision", "answer_words_own"), rows=None):
    log = tmp_path / f"{platform}.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in (rows or ROWS[platform]())))
    return ragstone.evaluate(str(log), list(metrics), tmp_path / "store")


@pytest.fixture
def own(catalogue):
    @metric("answer_words_own", family="own", bounds=(0, None))
    def answer_words_own(answer: str) -> float:
        """Words; broken for one answer."""
        if answer == "Ten.":
            raise ValueError("too short")
        return float(len(answer.split()))


def send(run, platform, metrics=()):
    return asyncio.run(push(run, platform, push_metrics(run, metrics), patience=replace(PATIENCE, first_wait_s=0.01)))


def written(fake, platform):
    """Trace, metric, value and comment of what the platform has."""
    span = {"0000000000000001": records.TRACES["ferry"], "0000000000000004": records.TRACES["fare"]}
    found = {}
    for one in fake.written.values():
        if platform == "langfuse":
            found[one["traceId"], one["name"]] = (one["value"], one["comment"])
        elif platform == "phoenix":
            found[span[one["span_id"]], one["name"]] = (one["result"]["score"], one["result"]["explanation"])
        else:
            found[one["run_id"], one["key"]] = (one["score"], one["comment"])
    return found


def expected(run):
    return {
        (cell["sample_id"], cell["metric"]): pytest.approx(cell["value"], abs=1e-4)
        for cell in run.scores.to_pylist()
        if cell["status"] == "ok"
    }


@every_platform
def test_each_score_with_a_value_is_on_its_trace(tmp_path, start, own, platform):
    fake = start(platform)
    run = evaluate(tmp_path, platform)
    cells = run.scores.to_pylist()
    lacking = sum(cell["status"] != "ok" for cell in cells)
    assert lacking == 1
    done = send(run, platform)
    found = written(fake, platform)
    assert {key: value for key, (value, _) in found.items()} == expected(run)
    assert (done.written, done.without_value, done.foreign) == (len(cells) - 1, 1, [])
    assert all(run.name in comment for _, comment in found.values())


@every_platform
def test_a_second_push_doubles_nothing(tmp_path, start, own, platform):
    fake = start(platform)
    run = evaluate(tmp_path, platform)
    send(run, platform)
    first = dict(fake.written)
    send(run, platform)
    assert fake.written.keys() == first.keys()
    again = evaluate(tmp_path, platform)
    send(again, platform)
    assert fake.written.keys() == first.keys()


def test_an_older_langfuse_takes_one_score_per_request(tmp_path, start):
    fake = start("langfuse", version=3)
    run = evaluate(tmp_path, "langfuse", ["k_precision", "distinct_2"])
    assert send(run, "langfuse").written == send(run, "langfuse").written == len(fake.written) == 3


def test_a_rejected_score_does_not_stop_the_others(tmp_path, start):
    start("langfuse")
    rows = records.langfuse_observations()
    for row in rows[3:]:
        row["traceId"] = "rejected"
    done = send(evaluate(tmp_path, "langfuse", ["k_precision"], rows), "langfuse")
    assert (done.written, dict(done.refused)) == (1, {"the trace is rejected": 1})


def test_feedback_that_exists_is_changed(tmp_path, start):
    """A LangSmith server that refuses a second feedback with the same id."""
    fake = start("langsmith", conflicts=True)
    run = evaluate(tmp_path, "langsmith", ["k_precision"])
    send(run, "langsmith")
    for one in fake.written.values():
        one["score"] = -1
    assert send(run, "langsmith").written == len(fake.written) == 2
    assert all(one["score"] >= 0 for one in fake.written.values())
    assert {one["session_id"] for one in fake.written.values()} == {records.PROJECT}
    assert all(one["start_time"] for one in fake.written.values())


@every_platform
def test_faults_are_waited_out(tmp_path, start, platform):
    fake = start(platform)
    run = evaluate(tmp_path, platform, ["k_precision"])
    fake.faults = [(429, {}, {"Retry-After": "0"}), (502, b"bad gateway"), RESET]
    send(run, platform)
    assert {key: value for key, (value, _) in written(fake, platform).items()} == expected(run)


def test_the_comment_has_counts_and_the_kind_of_judge(tmp_path, start, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    fake = start("phoenix")
    spans = records.phoenix_spans()
    spans[0]["attributes"]["output.value"] = "The ferry leaves at eight in the morning. Dogs travel free on the boat."
    run = evaluate(tmp_path, "phoenix", ["ragas.faithfulness", "k_precision"], spans)
    send(run, "phoenix")
    notes = {(one["name"], one["span_id"]): one for one in fake.written.values()}
    judged = notes["ragas.faithfulness", "0000000000000001"]
    assert judged["annotator_kind"] == "LLM"
    assert " words in answer claims" in judged["result"]["explanation"]
    assert judged["metadata"]["run"] == run.id
    assert notes["k_precision", "0000000000000001"]["annotator_kind"] == "CODE"


def test_traces_without_a_known_root_are_annotated_themselves(tmp_path, start):
    fake = start("phoenix")
    rows = [
        {"id": trace, "question": "q", "answer": "a boat", "contexts": ["a boat"]} for trace in records.TRACES.values()
    ]
    run = ragstone.evaluate(rows, ["k_precision"], tmp_path / "store")
    assert send(run, "phoenix").written == 2
    assert {one["trace_id"] for one in fake.written.values()} == set(records.TRACES.values())


def test_an_unknown_trace_does_not_stop_the_others(tmp_path, start):
    fake = start("phoenix")
    spans = records.phoenix_spans()
    spans += [
        {**span, "context": {"trace_id": "c" * 32, "span_id": f"9{span['context']['span_id'][1:]}"}} for span in spans
    ]
    for span in spans[5:]:
        span["parent_id"] = span["parent_id"] and f"9{span['parent_id'][1:]}"
    run = evaluate(tmp_path, "phoenix", ["k_precision"], spans)
    done = send(run, "phoenix")
    assert (done.written, sum(done.refused.values())) == (2, 1)
    assert len(fake.written) == 2


@every_platform
def test_samples_of_other_data_are_refused(tmp_path, start, platform):
    fake = start(platform)
    run = ragstone.evaluate(
        [{"id": "q1", "question": "q", "answer": "a boat", "contexts": ["a boat"]}], ["k_precision"], tmp_path
    )
    with pytest.raises(UsageError, match=f"'q1' is not the id of one.*ragstone pull {platform}"):
        send(run, platform)
    assert fake.requests == []


def test_metrics_are_chosen_by_name(tmp_path, start):
    run = evaluate(tmp_path, "langfuse", ["k_precision", "distinct_2"])
    assert [one.metric for one in push_metrics(run, ["k_precision"])] == ["k_precision"]
    with pytest.raises(UnknownNameError, match="k_precison"):
        push_metrics(run, ["k_precison"])


def test_a_wrong_key_stops_the_push(tmp_path, start, monkeypatch):
    start("langfuse")
    run = evaluate(tmp_path, "langfuse", ["k_precision"])
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "wrong")
    with pytest.raises(UsageError, match="LANGFUSE_SECRET_KEY"):
        send(run, "langfuse")
