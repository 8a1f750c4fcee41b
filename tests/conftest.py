"""Settings for all tests, and what several folders of them share."""

import os
import sys

import pytest
from hypothesis import settings

from ragstone.registry import CATALOGUE

# A busy machine must not fail a test that is right, nor make everybody wait.
settings.register_profile("ragstone", deadline=None, max_examples=50)
settings.load_profile("ragstone")

_OURS = ("AWS_", "RAGSTONE_ROOT", "RAGSTONE_DEBUG", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "OPENAI_", "DIAL_")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    """What the developer's own shell is set to must not decide a test."""
    for name in os.environ:
        if name.startswith(_OURS):
            monkeypatch.delenv(name)


@pytest.fixture
def catalogue():
    """The catalogue of metrics; what a test registers is forgotten after it."""
    import ragstone.engine.evaluation  # noqa: F401  (fills the catalogue before we look at it)

    metrics, evidence, modules = dict(CATALOGUE._metrics), dict(CATALOGUE._evidence), set(sys.modules)
    yield CATALOGUE
    CATALOGUE._metrics, CATALOGUE._evidence = metrics, evidence
    for name in set(sys.modules) - modules:
        if name.startswith("ragstone_user_"):
            del sys.modules[name]
