"""ragstone trec: what it prints is what trec_eval prints."""

import gzip
import shlex

import numpy as np
import pytest

from tests.shared_data import shared_data

QRELS = """\
1 0 a 1
1 0 b 0
1 0 c 2
2 0 a 1
3 0 x 0
4 0 z 1
"""
RUN = """\
2 Q0 b 1 0.9 tag
2 Q0 a 2 0.8 tag
1 Q0 b 1 3 tag
1 Q0 a 2 2 tag
1 Q0 d 3 2 tag
3 Q0 x 1 1 tag
5 Q0 x 1 1 tag
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return str(tmp_path / "qrels"), str(tmp_path / "run")


@pytest.fixture
def trec(cli, files):
    """The printed lines, split."""

    def run(*arguments):
        done = cli("trec", *files, *arguments)
        assert done.code == 0, done.err
        return [tuple(line.split()) for line in done.out.splitlines()]

    return run


def test_the_layout_is_that_of_trec_eval(cli, files):
    done = cli("trec", *files, "recip_rank", "P@2")
    assert done.out == "recip_rank            \tall\t0.2778\nP@2                   \tall\t0.1667\n"


def test_ties_go_to_the_later_id(trec):
    """d comes before a, so the first relevant document of query 1 is the third."""
    assert trec("MRR", "-q")[0] == ("MRR", "1", "0.3333")


def test_queries_one_by_one_and_then_all(trec):
    assert trec("-q", "MRR", "nDCG@10") == [
        ("MRR", "1", "0.3333"),
        ("nDCG@10", "1", "0.1900"),
        ("MRR", "2", "0.5000"),
        ("nDCG@10", "2", "0.6309"),
        ("MRR", "3", "0.0000"),
        ("nDCG@10", "3", "0.0000"),
        ("MRR", "all", "0.2778"),
        ("nDCG@10", "all", "0.2737"),
    ]


def test_all_judged_queries(trec):
    assert trec("-c", "-q", "MRR", "num_q")[-3:] == [
        ("MRR", "4", "0.0000"),
        ("MRR", "all", "0.2083"),
        ("num_q", "all", "4"),
    ]
    assert trec("num_q") == [("num_q", "all", "3")]


def test_the_next_step_stores_a_run(cli, files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    [step] = [line for line in cli("trec", *files, "map").err.splitlines() if line.startswith("next: ragstone ")]
    command = shlex.split(step.partition("   (")[0])[2:]
    assert cli(*command, "-q").code == 0


def test_what_is_left_out_is_said(cli, files):
    words = cli("trec", *files, "map").err
    assert "judged queries that the run does not have: 1, for example '4'; left out; -c counts them as 0" in words
    assert "queries of the run without judgements: 1, for example '5'; left out" in words
    assert "judged queries" not in cli("trec", *files, "-c", "map").err


def test_names_of_trec_eval_and_of_ir_measures(trec):
    for theirs in ("P_2", "P.2", "P@2", "precision@2", "p@2"):
        assert trec(theirs)[0][1:] == ("all", "0.1667")
    assert [label for label, *_ in trec("P.1,2", "ndcg_cut_5", "-m", "success", "-m", "Rprec")] == [
        *("success_1", "success_5", "success_10", "Rprec"),
        *("P_1", "P_2", "ndcg_cut_5"),
    ]


def test_measures_when_none_is_named(trec):
    labels = [label for label, *_ in trec()]
    assert labels[:5] == ["num_q", "map", "Rprec", "bpref", "recip_rank"]
    assert {"P_5", "P_1000", "ndcg", "ndcg_cut_10"} <= set(labels)


def test_the_least_relevant_grade(trec):
    assert trec("-q", "-l", "2", "recall", "set_recall")[0] == ("recall_5", "1", "0.0000")
    assert trec("-l", "2", "recip_rank", "P(rel=1)@2") == [
        ("recip_rank", "all", "0.0000"),
        ("P(rel=1)@2", "all", "0.1667"),
    ]


def test_only_judged_documents(trec):
    """Query 1 retrieves b (0), d (unjudged), a (1); without d, a is second."""
    assert ("mrr", "1", "0.3333") in trec("-q", "mrr")
    condensed = trec("-q", "-J", "mrr", "P@2", "judged@2")
    assert {("mrr", "1", "0.5000"), ("P@2", "1", "0.5000"), ("judged@2", "1", "0.5000")} <= set(condensed)


def test_packed_files(cli, tmp_path):
    for name, text in (("qrels.gz", QRELS), ("run.gz", RUN)):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    done = cli("trec", str(tmp_path / "qrels.gz"), str(tmp_path / "run.gz"), "MRR")
    assert done.out == "MRR                   \tall\t0.2778\n"


def test_nothing_is_stored(cli, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("trec", *files, "map").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "run"]


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("presicion@5", "unknown metric 'presicion'. Did you mean precision"),
        ("token_f1", "'token_f1' is not a measure"),
        ("P@five", "the cut-off after @ must be a whole number, got 'five'"),
        ("P@0", "the cut-off k must be 1 or more"),
        ("P_0", "the cut-off k must be 1 or more"),
        ("nDCG(foo=1)@3", "unknown parameter of ndcg 'foo'"),
        ("bpref@5", "unknown parameter of bpref 'k'"),
    ],
)
def test_measures_that_there_are_not(cli, files, measure, words):
    done = cli("trec", *files, measure)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""


def test_no_query_in_both_files(cli, files, tmp_path):
    (tmp_path / "run").write_text("9 Q0 a 1 1 tag\n")
    done = cli("trec", *files, "map")
    assert done.code == 2
    assert "no query in common" in done.err


def test_bad_files(cli, files, tmp_path):
    done = cli("trec", files[0], str(tmp_path / "nothing"), "map")
    assert (done.code, "there is no file" in done.err) == (2, True)
    (tmp_path / "run").write_text(RUN + "1 Q0 e 4 high tag\n1 Q0 f\n")
    done = cli("trec", *files, "map")
    assert done.code == 2
    assert "line 8: score: must be a finite number, got 'high'" in done.err
    assert "line 9: has 3 columns" in done.err
    done = cli("trec", files[0], files[0], "map")
    assert (done.code, "are both qrels" in done.err) == (2, True)


def test_the_files_of_nist(cli):
    """To the letter, for every measure that Ragstone has: `trec_eval -m all_trec -q` made the file."""
    folder = shared_data("trec_eval")
    for flags, name in (((), "out.test.a"), (("-q",), "out.test.aq")):
        expected = {tuple(line.split()[:2]): line for line in (folder / name).read_text().splitlines()}
        done = cli("trec", str(folder / "qrels.test"), str(folder / "results.test"), *flags, "-m", "all_trec")
        lines = done.out.splitlines()
        assert len(lines) > 47
        assert lines == [expected[tuple(line.split()[:2])] for line in lines]


def test_equals_pytrec_eval(cli, tmp_path):
    """Also where the number of the query decides the order, and where nothing is relevant: 0, as there."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    random = np.random.default_rng(11)
    names = [f"d{number}" for number in range(40)]
    qrels = {str(query): dict(zip(names[:20], random.integers(-1, 3, 20).tolist(), strict=True)) for query in range(12)}
    qrels["5"] = dict.fromkeys(names, 0)
    run = {query: {name: float(random.integers(5)) for name in names[10:]} for query in qrels}
    lines = [f"{query} 0 {name} {grade}\n" for query, judged in qrels.items() for name, grade in judged.items()]
    (tmp_path / "qrels").write_text("".join(lines))
    lines = [f"{query} Q0 {name} 0 {score} x\n" for query, found in run.items() for name, score in found.items()]
    (tmp_path / "run").write_text("".join(lines))
    measures = [
        "map",
        "bpref",
        "Rprec",
        "recip_rank",
        "ndcg",
        "P_5",
        "recall_5",
        "ndcg_cut_5",
        "map_cut_5",
        "success_5",
    ]
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name.replace("_5", ".5") for name in measures})
    expected = evaluator.evaluate(run)
    done = cli("trec", str(tmp_path / "qrels"), str(tmp_path / "run"), "-q", *measures)
    found = [tuple(line.split()) for line in done.out.splitlines()]
    assert found[: -len(measures)] == [
        (name, query, f"{expected[query][name]:.4f}") for query in sorted(qrels) for name in measures
    ]
    assert found[-len(measures) :] == [
        (name, "all", f"{np.mean([values[name] for values in expected.values()]):.4f}") for name in measures
    ]
