"""A catalogue of one's own, so that a test leaves no metric behind."""

import pytest

from ragstone.registry import Catalogue, declare


@pytest.fixture
def catalogue(monkeypatch):
    fresh = Catalogue()
    monkeypatch.setattr(declare, "CATALOGUE", fresh)
    return fresh
