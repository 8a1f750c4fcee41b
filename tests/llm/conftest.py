"""What the tests of language models share."""

from tests.http.loopback import loopback

__all__ = ["loopback"]
