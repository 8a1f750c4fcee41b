"""A store in a temporary folder, and a small model with a wheel."""

import pytest

from ragstone.models.catalogue import MODELS
from ragstone.models.store import Store
from tests.models.index import FILES, describe, make_wheel


@pytest.fixture
def home(tmp_path):
    return Store(tmp_path / "models")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A model of the catalogue whose wheel is of our own making."""
    wheel = make_wheel(tmp_path, {**FILES, "evil.pkl": b"!"})
    monkeypatch.setitem(MODELS, "tiny", describe(wheel, FILES))
    return wheel
