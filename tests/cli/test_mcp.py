"""The command; tests/assistants has a real client."""

import ragstone.assistants.mcp_server


def test_the_store_that_the_user_names_is_served(cli, tmp_path, monkeypatch):
    served = []

    class Server:
        def run(self, transport):
            served.append(transport)

    def make_server(root):
        served.append(root)
        return Server()

    monkeypatch.setattr(ragstone.assistants.mcp_server, "make_server", make_server)
    printed = cli("mcp", "-o", tmp_path)
    # Standard output belongs to the protocol.
    assert (printed.code, printed.out, served) == (0, "", [str(tmp_path), "stdio"])
