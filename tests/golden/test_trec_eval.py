"""Retrieval metrics against trec_eval.

`out.test.aq` is NIST's own expected output, shipped with trec_eval and made there by
`trec_eval -m all_trec -q test/qrels.test test/results.test`; numbers are printed with four digits. Its files have
scores that are equal for several documents of a query: trec_eval puts the later document id first, and so do we.

The random cases are computed here by pytrec_eval (trec_eval's C code, unrounded), through ir_measures (which would hand
RR@k to the MS MARCO script, and that breaks ties in another way) and by gdeval (five digits). One difference is on
purpose: a query without any relevant document is 0 there and skipped here, but for `ragstone trec`.
"""

import re
import shutil

import numpy as np
import pytest

import ragstone
from ragstone.engine.in_memory import score_rankings
from tests.shared_data import shared_data

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OURS = {
    "recip_rank": "mrr",
    "map": "map",
    "ndcg": "ndcg",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f1",
    **{f"P_{k}": f"precision@{k}" for k in CUTS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTS},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTS},
    **{f"map_cut_{k}": f"map@{k}" for k in CUTS},
    **{f"success_{k}": f"hit@{k}" for k in (1, 5, 10)},
}
# Of trec_eval 10, which pytrec_eval does not have; all grades are 0 or 1 there.
ONLY_NIST = {"rbp": "rbp(p=0.9)"}


def values(run):
    """Metric and query to value, and the mean as query `all`."""
    cells = {(row["metric"], row["sample_id"]): row["value"] for row in run.scores.to_pylist()}
    return {**cells, **{(row.metric, "all"): row.mean for row in run.summary()}}


@pytest.fixture(scope="module")
def nist():
    folder = shared_data("trec_eval")
    names = {**OURS, **ONLY_NIST}
    files = [str(folder / "qrels.test"), str(folder / "results.test")]
    lines = (folder / "out.test.aq").read_text().splitlines()
    expected = {(name, query): value for name, query, value in map(str.split, lines) if name in names}
    found = values(ragstone.evaluate(files, list(names.values()), format="trec"))
    return {(name, query): found[names[name], query] for name, query in expected}, expected


def test_nist_test_files(nist):
    found, expected = nist
    assert len(expected) == 4 * len({**OURS, **ONLY_NIST})
    assert {key: f"{value:.4f}" for key, value in found.items()} == expected


def test_nist_means_that_the_data_folder_names(nist):
    found, _ = nist
    named = {"map": 0.1785, "recip_rank": 0.4064, "P_5": 0.2667, "ndcg": 0.4021, "ndcg_cut_10": 0.3016}
    assert {name: round(found[name, "all"], 4) for name in named} == named


@pytest.fixture(scope="module")
def random_case():
    """150 queries with grades from -1 to 3, many equal scores, some with nothing relevant, some with little retrieved."""
    random = np.random.default_rng(20240607)
    qrels, run = {}, {}
    for query in (f"q{number}" for number in range(150)):
        documents = [f"d{number:03d}" for number in random.permutation(200)]
        judged, retrieved = random.integers(1, 60), random.integers(1, 120)
        grades = random.choice([-1, 0, 1, 2, 3], size=judged, p=[0.1, 0.4, 0.3, 0.15, 0.05])
        qrels[query] = dict(zip(documents[:judged], grades.tolist(), strict=True))
        random.shuffle(documents)
        run[query] = {name: float(random.integers(0, 40)) / 8 for name in documents[:retrieved]}
    return qrels, run


@pytest.fixture(scope="module")
def random_files(random_case, tmp_path_factory):
    qrels, run = random_case
    folder = tmp_path_factory.mktemp("trec")
    lines = [f"{query} 0 {name} {grade}" for query, judged in qrels.items() for name, grade in judged.items()]
    (folder / "qrels").write_text("\n".join(lines))
    lines = [f"{query} Q0 {name} 0 {score} tag" for query, found in run.items() for name, score in found.items()]
    (folder / "run").write_text("\n".join(lines))
    return [str(folder / "qrels"), str(folder / "run")]


def compare(found, expected, qrels, names, least=1):
    """`found` is metric and query to value, `expected` query to trec measure to value; returns how many were equal."""
    compared = 0
    for query, measures in expected.items():
        relevant = any(grade >= least for grade in qrels[query].values())
        for name, value in measures.items():
            ours = found[names[name], query]
            if ours is None:
                assert not relevant
                assert value == 0
            else:
                assert ours == pytest.approx(value, abs=1e-9), (query, name)
                compared += 1
    return compared


def measures(names):
    return {re.sub(r"_(?=\d+$)", ".", name) for name in names}


def test_random_queries_equal_pytrec_eval(random_case, random_files):
    qrels, run = random_case
    found = values(ragstone.evaluate(random_files, list(OURS.values()), format="trec"))
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures(OURS)).evaluate(run)
    assert any(not any(grade > 0 for grade in judged.values()) for judged in qrels.values())
    assert compare(found, expected, qrels, OURS) > 6000


def lists(qrels, run, metrics):
    """The same through lists of ids."""
    order = [sorted(found, key=lambda name: (found[name], name), reverse=True) for found in run.values()]
    scores = score_rankings(order, [qrels[query] for query in run], metrics)
    return {(name, query): value for name, column in scores.items() for query, value in zip(run, column, strict=True)}


def test_lists_of_ids_equal_pytrec_eval(random_case):
    qrels, run = random_case
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures(OURS)).evaluate(run)
    assert compare(lists(qrels, run, list(OURS.values())), expected, qrels, OURS) > 6000


def test_relevant_from_a_higher_grade(random_case):
    qrels, run = random_case
    names = {theirs: ours for theirs, ours in OURS.items() if not theirs.startswith("ndcg")}
    names = {
        theirs: f"{ours.partition('@')[0]}(rel=2.0){''.join(ours.partition('@')[1:])}" for theirs, ours in names.items()
    }
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures(names), relevance_level=2).evaluate(run)
    assert compare(lists(qrels, run, list(names.values())), expected, qrels, names, least=2) > 3000


def test_exponential_gain_is_linear_gain_of_other_grades(random_case):
    """trec_eval has no exponential gain, so it is given grades that are already 2^grade - 1."""
    qrels, run = random_case
    names = {f"ndcg_cut_{k}": f"ndcg(gain=exponential)@{k}" for k in (5, 10, 100)}
    powers = {
        query: {name: 2 ** max(grade, 0) - 1 for name, grade in judged.items()} for query, judged in qrels.items()
    }
    expected = pytrec_eval.RelevanceEvaluator(powers, measures(names)).evaluate(run)
    assert compare(lists(qrels, run, list(names.values())), expected, qrels, names) > 400


@pytest.mark.skipif(not shutil.which("perl"), reason="gdeval is a Perl script, and there is no Perl")
def test_err_and_exponential_gain_equal_gdeval(random_case):
    """No equal scores here: gdeval breaks ties in another way. It wants numbers for names, and prints five digits."""
    qrels = {query[1:]: judged for query, judged in random_case[0].items()}
    run = {query[1:]: {name: -float(at) for at, name in enumerate(found)} for query, found in random_case[1].items()}
    names = {
        **{f"ERR@{k}": f"err@{k}" for k in (3, 10, 20)},
        **{f"nDCG(dcg='exp-log2')@{k}": f"ndcg(gain=exponential)@{k}" for k in (3, 10, 20)},
    }
    found = lists(qrels, run, list(names.values()))
    compared = 0
    for measured in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], qrels, run):
        ours = found[names[str(measured.measure)], measured.query_id]
        assert (ours or 0.0) == pytest.approx(measured.value, abs=1e-5)
        compared += 1
    assert compared > 800


def test_means_equal_ir_measures(random_case):
    qrels, run = random_case
    judged = {query: grades for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    names = ["P@5", "R@20", "RR", "nDCG@10", "AP", "AP@20", "Rprec", "Bpref", "Success@5", "SetP", "P(rel=2)@5"]
    found = lists(judged, {query: run[query] for query in judged}, names)
    expected = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], judged, run)
    means = {}
    for (metric, _), value in found.items():
        means.setdefault(metric, []).append(value or 0.0)  # None where no grade is 2 or more: 0 there
    assert len(means) == len(names)
    for (metric, column), name in zip(means.items(), names, strict=True):
        assert np.mean(column) == pytest.approx(expected[ir_measures.parse_measure(name)], abs=1e-9), metric
