"""ragstone mcp: the store for coding assistants."""

from __future__ import annotations

from ragstone.cli.options import shared


def mcp(out: str = shared("out")) -> None:
    """Serve runs and documentation to coding assistants over MCP, read only.

    Speaks the Model Context Protocol on standard input and output; an assistant starts it. Only runs of the store are read, and no model is called. Needs `pip install 'ragstone[mcp]'`.
    """
    from ragstone.assistants.mcp_server import make_server

    make_server(out).run("stdio")
