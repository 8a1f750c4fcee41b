"""The port of the viewer on Windows, where SO_REUSEADDR would share it with another server."""

import socket

from ragstone.web.security import bind


def test_the_port_is_exclusive_where_the_system_knows_it(monkeypatch):
    # Another option of this system stands for the one of Windows.
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    with bind("127.0.0.1", 0) as bound:
        assert bound.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 0
        assert bound.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
