"""Runs and pages that the tests of reports share; no test changes them."""

import pytest

from ragstone.analysis.comparison import compare_runs
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.html.run_page import run_html
from tests.report import runs


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def better(store):
    return runs.harbour("better", store)


@pytest.fixture(scope="session")
def worse(store):
    return runs.harbour("worse", store)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    return runs.hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def pages(better, worse, hostile):
    return {
        "run": run_html(worse),
        "hostile": run_html(hostile),
        "comparison": comparison_html(compare_runs(worse, better, slices=["topic"])),
        "hostile comparison": comparison_html(compare_runs(hostile, hostile)),
    }
