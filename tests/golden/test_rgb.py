"""RGB's own counterfactual files, English and Chinese: the procedure, held against one written from the paper's words.

The files are CC BY-NC-SA and only tried on; nothing of them is kept.
"""

import json
import math

import pytest
from benchmarks.cases.published import rgb_passages

from ragstone.formats import read_dataset
from ragstone.stress.results import find_curves, read_rows
from ragstone.stress.run import Setting, prepare, run_stress
from tests.shared_data import shared_data

FOLDER = shared_data("rgb")
RATES = (0.0, 0.2, 0.4, 0.6, 0.8)


def rows_of(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def is_shown(answer, text):
    """A text must be there, of a list each, of a list in a list one."""
    for needed in answer if isinstance(answer, list) else [answer]:
        spellings = needed if isinstance(needed, list) else [needed]
        if not any(spelling.casefold() in text for spelling in spellings):
            return False
    return True


@pytest.fixture(scope="module", params=["en_fact.json", "zh_fact.json"])
def given(request):
    rows = rows_of(request.param)
    setting = Setting(rates=RATES, beds=("noise", "counterfactual"), keep_contaminated=True)
    return rows, prepare(list(read_dataset(str(FOLDER / request.param))), setting)


def test_every_row_has_the_passages_that_rgb_takes(given):
    rows, prepared = given
    by_id = {str(row["id"]): row for row in rows}
    assert len(prepared.rows) == len(rows) * len(RATES) * 2
    for sample in prepared.rows:
        row = by_id[sample.metadata["question_id"]]
        rate, found = sample.metadata["requested_rate"], {chunk.text for chunk in sample.contexts}
        if sample.metadata["bed"] == "noise":
            assert found == rgb_passages(row, 5, rate)
        else:  # any false passages, which are never replaced by noise
            noise = math.ceil(5 * rate - 1e-9)
            assert found - set(row["positive_wrong"]) == set(row["negative"][:noise])
            assert len(sample.contexts) == min(len(row["positive"]), 5 - noise) + len(row["negative"][:noise])


@pytest.mark.slow
def test_a_generator_that_says_all_it_was_shown_is_right_where_the_answer_was_shown(given, tmp_path):
    rows, prepared = given
    run = run_stress(
        prepared, lambda question, contexts: "\n".join(contexts), tmp_path, system_options={"cache": False}
    )
    curve = next(curve for curve in find_curves(read_rows(run)) if curve.metric == "rgb.accuracy")
    for point in curve.points:
        shown = [is_shown(row["answer"], "\n".join(rgb_passages(row, 5, point.rate)).casefold()) for row in rows]
        assert point.mean == pytest.approx(sum(shown) / len(rows))
    assert curve.points[0].mean > 0.9
