"""A finished run to tell about, and a server of our own to tell."""

import pytest

from tests.http.loopback import loopback
from tests.report.runs import harbour

__all__ = ["loopback"]


@pytest.fixture
def run(tmp_path):
    return harbour("worse", tmp_path, ["fact_recall", "recall@5", "token_f1"])
