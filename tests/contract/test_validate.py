"""What `validate` promises, a run computes: on the example of every format."""

import pytest

from ragstone.engine.catalogue import check
from ragstone.engine.evaluate import evaluate
from ragstone.formats import formats
from tests.formats.fixtures import fixture_of


@pytest.mark.parametrize("name", formats())
def test_a_metric_that_can_be_computed_has_a_value(name, tmp_path):
    paths = fixture_of(name)(tmp_path)
    data = paths if len(paths) > 1 else paths[0]
    found = check(data, name)
    certain = [metric for metric in found.possible if metric not in found.judged]
    rows = {row.metric: row for row in evaluate(data, certain, format=name).summary()} if certain else {}
    assert {metric for metric in certain if not rows[metric].n_ok} == set()
    assert set(found.judged) <= set(found.possible)
