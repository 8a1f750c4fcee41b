"""The fakes as fixtures, with their keys in the environment."""

from contextlib import ExitStack

import pytest

from tests.platforms.fakes import FAKES, variables


@pytest.fixture
def start(monkeypatch):
    """Start a fake of a platform and set its keys: `start("langfuse", version=3)`."""
    with ExitStack() as stack:

        def run(platform, **options):
            fake = FAKES[platform](**options)
            stack.enter_context(fake.running())
            for name, value in variables(platform, fake).items():
                monkeypatch.setenv(name, value)
            return fake

        yield run
