"""The columns of a run that a row filter names: against the run itself, read row by row."""

import json
from collections import namedtuple

import numpy as np
import pytest

from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.row_columns import RowColumns, RowJudgements
from ragstone.analysis.row_filter import FilterError, RowFilter
from ragstone.analysis.sample_order import measure_quality
from ragstone.storage.runs import read_table
from ragstone.storage.scores import read_scores
from tests.web.made_runs import unsure_run

Label = namedtuple("Label", "score author")


def columns_of(run):
    scores = read_scores(run, [metric.metric for metric in run.info.metrics])
    table = read_table(run.folder.samples, ["id", "question"])
    quality = measure_quality(run.info.metrics, scores, table.num_rows)
    return RowColumns(run, scores, table["id"], table["question"], quality)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return unsure_run(tmp_path_factory.mktemp("columns"))


def select(run, text, known=None):
    columns = columns_of(run)
    rows = len(columns.ids)
    found = RowFilter.parse(text).rows(columns.judged(known or RowJudgements(rows), slices=True), rows)
    return np.flatnonzero(found).tolist()


def test_unsure_verdicts_add_up_to_those_of_the_run(measured):
    unsure = columns_of(measured).unsure
    assert unsure.sum() == measured.info["totals"]["local_verdicts"].get("unsure", 0) > 0
    assert select(measured, "unsure > 0") == np.flatnonzero(unsure).tolist()


def test_numbers_of_the_metadata_and_slices_are_columns(measured):
    assert select(measured, "latency >= 4") == [8, 9, 10, 11, 12, 13]
    assert select(measured, "latency is missing") == [3]
    assert select(measured, "`slice.top k` = 1") == [1, 4, 7, 10, 13]
    scores = read_scores(measured, ["token_f1"])["token_f1"].values
    assert select(measured, "token_f1 < .5 and row <= 6") == [at for at in range(6) if scores[at] < 0.5]
    assert select(measured, f'id = "{measured.samples.table["id"][2].as_py()}"') == [2]
    answer = measured.samples.table["answer"][1].as_py()
    assert 1 in select(measured, f"answer contains {json.dumps(answer[:20].upper(), ensure_ascii=False)}")


def test_what_a_run_does_not_have_is_not_known(measured):
    for text in ("cost > 0", "labelled", "slice.topics = a"):
        with pytest.raises(FilterError, match="is not known"):
            select(measured, text)


def test_statuses_and_labels_of_people():
    causes = [
        RowLabel("misread", 0.9, judged_wrong=0.9),
        RowLabel("", 0.05, judged_wrong=0.05),
        RowLabel("look", 0.5),
        RowLabel("not examined"),
    ]
    labels = {
        0: (Label(1.0, "Ada"), Label(0.0, "Bo")),
        1: (Label(0.0, "Ada"),),
        2: (Label(1.0, "Ada"),),
        9: (Label(1.0, "x"),),
    }
    known = RowJudgements(6, causes, labels)
    assert known.statuses.tolist() == ["wrong", "fine", "look", "no judgement", None, None]
    assert known.statuses.tolist()[:4] == [cause.status for cause in causes]
    assert known.names.tolist() == ["misread", None, "look", "not examined", None, None]
    assert known.labelled.tolist() == [2, 1, 1, 0, 0, 0]
    assert known.disagreed.tolist() == [1, 1, 0, 0, 0, 0]
    assert RowJudgements(2).statuses.tolist() == [None, None]
