"""What the tests of the client share."""

from tests.http.loopback import loopback

__all__ = ["loopback"]
