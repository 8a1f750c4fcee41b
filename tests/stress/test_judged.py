"""Stress tests with a judge and an embedder behind a real server."""

from ragstone.stress.beds import Setting
from ragstone.stress.results import read_stress
from ragstone.stress.running import open_embed, prepare, run_stress
from tests.oracle.language import REFUSALS
from tests.oracle.server import OracleServer
from tests.stress.generators import DECLINES, detects, samples


def declines_in_the_oracles_words(question, contexts):
    return detects(question, contexts).replace(DECLINES, REFUSALS["en"])


def test_judged_rates_stand_beside_those_by_phrases(tmp_path):
    prepared = prepare(samples(), Setting(passages=4, rates=(0.5,)))
    with OracleServer() as server:
        run = run_stress(
            prepared,
            declines_in_the_oracles_words,
            tmp_path,
            system_options={"cache": False},
            judging={"judge": "openai/oracle", "base_url": server.base_url, "cache": False},
        )
        assert not server.problems
        assert set(server.replies) == {"stance"}
    test = read_stress(run)
    means = {(curve.bed, curve.metric): [point.mean for point in curve.points] for curve in test.curves}
    assert means["rejection", "rgb.rejection_rate.judged"] == [1]
    assert means["counterfactual", "rgb.error_detection_rate.judged"] == [1]
    assert means["counterfactual", "rgb.error_detection_rate"] == [1]


def test_negatives_by_meaning_with_a_named_embedder():
    with OracleServer() as server:
        embed = open_embed("openai/oracle", 10, server.base_url)
        prepared = prepare(samples(), Setting(passages=4, rates=(0.5,), beds=("noise",)), embed)
        assert server.replies["embeddings"]
    assert all(row.metadata["passages"].count("-") == 2 for row in prepared.rows)


def test_without_an_embedder_words_alone_decide():
    assert open_embed(None, 10) is None
    assert open_embed(None, 1_000_000) is None
