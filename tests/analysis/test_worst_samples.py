"""The samples to look at first."""

from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.sample_order import find_worst_samples
from tests.analysis.scored import declare, make_run


def test_the_lowest_scores_first_with_their_texts(tmp_path, catalogue):
    declare(catalogue)
    run = make_run(tmp_path, "one", ["quality", "right"], quality=[0.9, 0.1, None, 0.5], right=[1, 0, None, 1])
    found = find_worst_samples(run, diagnose(run), 10)
    assert [(item.row, item.id) for item in found] == [(2, "s1"), (4, "s3"), (1, "s0")]
    assert (found[0].question, found[0].answer, found[0].cause, found[0].part) == ("question 1", "a", None, None)
    assert found[0].scores == {"quality": 0.1, "right": 0.0}


def test_at_most_as_many_as_asked(tmp_path, catalogue):
    declare(catalogue)
    run = make_run(tmp_path, "one", quality=[0.9, 0.1, 0.5])
    assert [item.id for item in find_worst_samples(run, diagnose(run), 2)] == ["s1", "s2"]
