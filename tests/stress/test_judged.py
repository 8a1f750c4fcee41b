"""Stress tests with a judge, and with an embedder behind a real server."""

import json

from ragstone.llm.fencing import read_fenced
from ragstone.stress.beds import Setting
from ragstone.stress.results import read_stress
from ragstone.stress.running import open_embed, prepare, run_stress
from tests.oracle.server import OracleServer
from tests.stress.generators import DECLINES, DETECTS, detects, samples


def judge(prompts):
    """Says what is true of the generators' words; it reads what stands between the tags, as a model would."""
    # Before the last turn there are examples.
    return [json.dumps(_reply(read_fenced(prompt.rpartition("User: ")[2]))) for prompt in prompts]


def _reply(data):
    if "references" in data:
        return {"matches": [n for n, one in enumerate(data["references"], start=1) if one in data["answer"]]}
    return {"declines": data["answer"] == DECLINES, "reports_errors": data["answer"].startswith(DETECTS)}


def test_judged_rates_stand_beside_those_by_phrases(tmp_path):
    prepared = prepare(samples(), Setting(passages=4, rates=(0.5, 0.75)))
    run = run_stress(
        prepared, detects, tmp_path, system_options={"cache": False}, judging={"judge": judge, "cache": False}
    )
    means = {(curve.bed, curve.metric): [point.mean for point in curve.points] for curve in read_stress(run).curves}
    assert means["noise", "answer_match"] == means["noise", "rgb.accuracy"] == [1, 1]
    assert means["rejection", "rgb.rejection_rate.judged"] == means["rejection", "rgb.rejection_rate"] == [1]
    bed = "counterfactual"
    assert means[bed, "rgb.error_detection_rate.judged"] == means[bed, "rgb.error_detection_rate"] == [1, 1]
    # Of the eight, those with a long name are put right.
    assert means[bed, "rgb.error_correction_rate.judged"] == means[bed, "rgb.error_correction_rate"] == [0.375, 0.375]


def test_negatives_by_meaning_with_a_named_embedder():
    with OracleServer() as server:
        embed = open_embed("openai/oracle", 10, server.base_url)
        prepared = prepare(samples(), Setting(passages=4, rates=(0.5,), beds=("noise",)), embed)
        assert server.replies["embeddings"]
    assert all(row.metadata["passages"].count("-") == 2 for row in prepared.rows)


def test_without_an_embedder_words_alone_decide():
    assert open_embed(None, 10) is None
    assert open_embed(None, 1_000_000) is None
