import gzip

import pytest

from ragstone.errors import InputError, UsageError
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_trec
from tests.shared_data import shared_data


def write(path, text):
    path.write_text(text)
    return str(path)


def notes_of(data):
    reader = open_reader(data)
    list(reader.batches())
    return reader.report.notes


def ids_of(sample):
    return [chunk.id for chunk in sample.contexts]


def test_grades_and_ranking(tmp_path):
    first, second = read_dataset(fixture_trec(tmp_path))
    assert (first.id, first.question) == ("q1", None)
    assert first.relevance == {"d1": 2.0, "d2": 0.0, "d3": -1.0}
    assert [(chunk.id, chunk.score, chunk.text) for chunk in first.contexts] == [
        ("d1", 9.5, ""),
        ("d9", 3.0, ""),
        ("d3", 1.0, ""),
    ]
    assert second.relevance == {"d4": 1.0}


def test_order_of_files_does_not_matter(tmp_path):
    qrels, run = fixture_trec(tmp_path)
    assert read_dataset([qrels, run]).fingerprint == read_dataset([run, qrels]).fingerprint


def test_rank_column_is_not_the_rank(tmp_path):
    run = write(tmp_path / "run", "q1 Q0 a 1 0.1 t\nq1 Q0 b 2 0.9 t\n")
    assert ids_of(read_dataset(run)[0]) == ["b", "a"]


def test_ties_go_by_id_descending(tmp_path):
    run = write(tmp_path / "run", "q1 Q0 a 1 1.0 t\nq1 Q0 c 2 1.0 t\nq1 Q0 b 3 1.0 t\n")
    assert ids_of(read_dataset(run)[0]) == ["c", "b", "a"]


def test_scores_equal_in_single_precision_are_ties(tmp_path):
    """trec_eval keeps scores as C floats, so these two are one score to it."""
    run = write(tmp_path / "run", "q1 Q0 a 1 0.50000000002 t\nq1 Q0 b 2 0.50000000001 t\nq1 Q0 c 3 1e300 t\n")
    sample = read_dataset(run)[0]
    assert ids_of(sample) == ["c", "b", "a"]
    assert [chunk.score for chunk in sample.contexts] == [1e300, 0.50000000001, 0.50000000002]


def test_tabs_and_gzip(tmp_path):
    qrels = tmp_path / "qrels.gz"
    qrels.write_bytes(gzip.compress(b"q1\t0\td1\t1\nq1\t0\td2\t0\n"))
    run = tmp_path / "run.gz"
    run.write_bytes(gzip.compress(b"q1\tQ0\td1\t1\t 2.5\ttag\n"))
    sample = read_dataset([str(run), str(qrels)])[0]
    assert sample.relevance == {"d1": 1.0, "d2": 0.0}
    assert ids_of(sample) == ["d1"]


def test_qrels_alone(tmp_path):
    qrels, _ = fixture_trec(tmp_path)
    assert [sample.contexts for sample in read_dataset(qrels)] == [None, None]


def test_queries_of_one_file_only_are_kept_and_noted(tmp_path):
    qrels = write(tmp_path / "qrels", "q1 0 d1 1\nq2 0 d1 1\n")
    run = write(tmp_path / "run", "q1 Q0 d1 1 2 t\nq3 Q0 d1 1 2 t\n")
    samples = {sample.id: sample for sample in read_dataset([qrels, run])}
    assert samples["q2"].contexts is None
    assert samples["q3"].relevance is None
    assert notes_of([qrels, run]) == [
        "judged queries missing from the run: 1, for example 'q2'; they are kept, without contexts",
        "queries of the run without judgements: 1, for example 'q3'; they are kept, without relevance",
    ]


def test_document_retrieved_twice_is_noted(tmp_path):
    run = write(tmp_path / "run", "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n")
    assert "queries for which a document was retrieved twice: 1, for example 'q1'; its best rank counts" in notes_of(
        run
    )


def test_tag_is_known(tmp_path):
    assert read_dataset(fixture_trec(tmp_path)).info["run_tag"] == "our-run"


def test_malformed_lines_are_all_reported(tmp_path):
    qrels = write(
        tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2\n\nq1 0 d3 high\nq1 0 d1 2\nq1 0 d4 0\nq1 0 d5 0\nq1 0 d6 0\n"
    )
    with pytest.raises(InputError) as caught:
        read_dataset(qrels)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2: has 3 columns, a qrels line has 4: qid iter docid grade",
        "line 4: grade: must be a finite number, got 'high'",
        "line 5: judges 'd1' of query 'q1' again: 2, before 1",
    ]


def test_problems_of_two_files_say_which(tmp_path):
    qrels, _ = fixture_trec(tmp_path)
    run = write(tmp_path / "bad", "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 nan t\nq1 Q0 d3 3 1 t\n")
    with pytest.raises(InputError) as caught:
        read_dataset([qrels, run])
    assert [str(problem) for problem in caught.value.problems] == [
        f"{run}, line 2: score: must be a finite number, got 'nan'"
    ]


def test_two_runs_are_refused(tmp_path):
    _, run = fixture_trec(tmp_path)
    with pytest.raises(UsageError, match="are both run; pass qrels and a run"):
        read_dataset([run, run], format="trec")


def test_other_text_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"is neither qrels .* nor a run"):
        read_dataset(write(tmp_path / "prose", "once upon a time\nthere was\n"), format="trec")


def test_nist_files():
    folder = shared_data("trec_eval")
    dataset = read_dataset([str(folder / "results.test"), str(folder / "qrels.test")])
    expected = {tuple(line.split()[:2]): line.split()[2] for line in (folder / "out.test.aq").read_text().splitlines()}
    for sample in dataset:
        relevant = {name for name, grade in sample.relevance.items() if grade > 0}
        hits = [rank for rank, name in enumerate(ids_of(sample), start=1) if name in relevant]
        precision = sum(found / rank for found, rank in enumerate(hits, start=1)) / len(relevant)
        assert len(sample.contexts) == int(expected["num_ret", sample.id])
        assert len(relevant) == int(expected["num_rel", sample.id])
        assert len(hits) == int(expected["num_rel_ret", sample.id])
        assert f"{precision:.4f}" == expected["map", sample.id]
        assert f"{1 / hits[0]:.4f}" == expected["recip_rank", sample.id]
