"""Retrieval metrics against trec_eval.

`out.test.aq` is NIST's own expected output, shipped with trec_eval and made there by
`trec_eval -m all_trec -q test/qrels.test test/results.test`; numbers are printed with four digits. Its files have
scores that are equal for several documents of a query: trec_eval puts the later document id first, and so do we.

The random cases are computed here by pytrec_eval (trec_eval's C code, unrounded) and through ir_measures (which
would hand RR@k to the MS MARCO script, and that breaks ties in another way). Two differences are on purpose: a query without any relevant document is 0 there and skipped here for recall and ndcg, and
exponential gain is not in trec_eval, so it is given grades that are already 2^grade - 1.
"""

import re

import numpy as np
import pytest

import ragstone
from tests.shared_data import shared_data

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OURS = {
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "set_P": "precision",
    "set_recall": "recall",
    **{f"P_{k}": f"precision@{k}" for k in CUTS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTS},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTS},
}


def values(run):
    """Metric and query to value, and the mean as query `all`."""
    cells = {(row["metric"], row["sample_id"]): row["value"] for row in run.scores.to_pylist()}
    return {**cells, **{(row.metric, "all"): row.mean for row in run.summary()}}


@pytest.fixture(scope="module")
def nist():
    folder = shared_data("trec_eval")
    files = [str(folder / "qrels.test"), str(folder / "results.test")]
    lines = (folder / "out.test.aq").read_text().splitlines()
    expected = {(name, query): value for name, query, value in map(str.split, lines) if name in OURS}
    return values(ragstone.evaluate(files, list(OURS.values()), format="trec")), expected


def test_nist_test_files(nist):
    found, expected = nist
    assert len(expected) == 4 * len(OURS)
    ours = {key: f"{found[OURS[key[0]], key[1]]:.4f}" for key in expected}
    assert ours == expected


def test_nist_means_that_the_data_folder_names(nist):
    found, _ = nist
    named = {"mrr": 0.4064, "precision@5": 0.2667, "ndcg": 0.4021, "ndcg@10": 0.3016}
    assert {name: round(found[name, "all"], 4) for name in named} == named


@pytest.fixture(scope="module")
def random_case(tmp_path_factory):
    """150 queries with grades from -1 to 3, many equal scores, some with nothing relevant, some with little retrieved."""
    random = np.random.default_rng(20240607)
    qrels, run = {}, {}
    for query in (f"q{number}" for number in range(150)):
        documents = [f"d{number:03d}" for number in random.permutation(200)]
        judged, retrieved = random.integers(1, 40), random.integers(1, 120)
        grades = random.choice([-1, 0, 1, 2, 3], size=judged, p=[0.05, 0.45, 0.3, 0.15, 0.05])
        qrels[query] = dict(zip(documents[:judged], grades.tolist(), strict=True))
        random.shuffle(documents)
        run[query] = {name: float(random.integers(0, 40)) / 8 for name in documents[:retrieved]}
    folder = tmp_path_factory.mktemp("trec")
    lines = [f"{query} 0 {name} {grade}" for query, judged in qrels.items() for name, grade in judged.items()]
    (folder / "qrels").write_text("\n".join(lines))
    lines = [f"{query} Q0 {name} 0 {score} tag" for query, found in run.items() for name, score in found.items()]
    (folder / "run").write_text("\n".join(lines))
    return qrels, run, [str(folder / "qrels"), str(folder / "run")]


def compare(found, expected, qrels):
    """Expected is query to trec measure to value."""
    compared = 0
    for query, measures in expected.items():
        relevant = any(grade > 0 for grade in qrels[query].values())
        for name, value in measures.items():
            ours = found[OURS.get(name, name), query]
            if ours is None:
                assert not relevant
                assert value == 0
            else:
                assert ours == pytest.approx(value, abs=1e-9), (query, name)
                compared += 1
    return compared


def test_random_queries_equal_pytrec_eval(random_case):
    qrels, run, files = random_case
    found = values(ragstone.evaluate(files, list(OURS.values()), format="trec"))
    measures = {re.sub(r"_(?=\d+$)", ".", name) if name[-1].isdigit() else name for name in OURS}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    assert any(not any(grade > 0 for grade in judged.values()) for judged in qrels.values())
    assert compare(found, expected, qrels) > 4000


def test_exponential_gain_is_linear_gain_of_other_grades(random_case):
    qrels, run, files = random_case
    names = {f"ndcg_cut_{k}": f"ndcg(gain=exponential)@{k}" for k in (5, 10, 100)}
    found = values(ragstone.evaluate(files, list(names.values()), format="trec"))
    powers = {
        query: {name: 2 ** max(grade, 0) - 1 for name, grade in judged.items()} for query, judged in qrels.items()
    }
    evaluated = pytrec_eval.RelevanceEvaluator(powers, {"ndcg_cut.5,10,100"}).evaluate(run)
    expected = {
        query: {names[name]: value for name, value in measures.items()} for query, measures in evaluated.items()
    }
    assert compare(found, expected, qrels) > 400


def test_means_equal_ir_measures(random_case):
    qrels, run, files = random_case
    judged = {query: grades for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    names = {"P@5": "precision@5", "R@20": "recall@20", "RR": "mrr", "nDCG@10": "ndcg@10"}
    found = values(ragstone.evaluate(files, list(names.values()), format="trec"))
    measures = [ir_measures.parse_measure(name) for name in names]
    expected = ir_measures.calc_aggregate(measures, judged, run)
    for measure, value in expected.items():
        ours = [found[names[str(measure)], query] for query in judged]
        assert np.mean(ours) == pytest.approx(value, abs=1e-9), measure
