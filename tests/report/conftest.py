"""Runs that the tests of reports share; nothing changes them."""

import pytest

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
