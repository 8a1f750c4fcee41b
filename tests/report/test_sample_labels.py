"""Names of samples without an id of their own."""

import ragstone
from ragstone.analysis.diagnosis import diagnose
from ragstone.report.diagnosis import full_report, sample_labels
from tests.report.drawing import draw
from tests.report.runs import harbour_rows


def test_ids_made_from_questions_become_rows_and_questions():
    rows = [
        {"question": "When does it leave?", "answer": "At nine."},
        {"id": "mine", "question": "Where?", "answer": "x"},
    ]
    run = ragstone.evaluate(rows, ["ari"])
    assert list(sample_labels(run).values()) == ['row 1 "When does it leave?"']


def test_the_diagnosis_names_samples_by_row():
    rows = [{name: value for name, value in row.items() if name != "id"} for row in harbour_rows("worse")]
    run = ragstone.evaluate(rows, ["fact_recall", "token_f1"])
    text = draw(full_report(diagnose(run), "x", sample_labels(run)), 200)
    assert 'row 4 "' in text
    assert "q-" not in text
