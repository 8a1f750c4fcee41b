"""`python -m benchmarks published`: every figure that can be computed is equal, or differs for a reason that is told."""

import pytest
from benchmarks.cases.published import NOT_HERE, PARTS, Figure, figures_of, run, table

from tests.shared_data import shared_data

SLOW = ("xsum", "unieval")


def figure(published, ours, differs=""):
    return Figure("f", 0.0, "agreement", system="s", published=published, ours=ours, differs=differs)


@pytest.mark.parametrize(
    ("published", "ours", "is_equal"),
    [
        ("0.1785", "0.17854", True),
        ("0.1785", "0.1786", False),
        ("76.4", "76.36", True),
        ("1000", "999", False),
        ("[1, 2]", "[1, 2]", True),
        ("[1, 2]", "[1, 3]", False),
        ("0.27", "nan", False),
    ],
)
def test_equal_means_all_published_digits(published, ours, is_equal):
    assert figure(published, ours).is_equal == is_equal
    assert figure(published, ours).missed != is_equal
    assert not figure(published, ours, differs="on purpose").missed


def test_without_data_every_row_is_listed_and_none_is_missed(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_DATA", str(tmp_path))
    found = run(peers=False)
    assert len(found) == sum(len(part.published) for part in PARTS)
    assert not [each for each in found if each.missed]
    assert {each.system for each in found if each.ours != NOT_HERE} == {"DIAL, slides"}
    assert "| trec_eval" in table(found)
    assert table(found).count(NOT_HERE) == len(found) - 2


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, id=part.folder or part.system, marks=[pytest.mark.slow] * (part.folder in SLOW))
        for part in PARTS
    ],
)
def test_figures_are_reproduced(part):
    shared_data(part.folder)
    found = figures_of(part)
    assert not [each.cells() for each in found if each.missed or each.ours == NOT_HERE]
    # A difference on purpose that has gone is to be deleted.
    assert {each.name for each in found if not each.is_equal} == set(part.differs)
