"""Options of the commands that read logs."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--since", "May"), "--since May"),
        (("--since", "2024-06-01", "--until", "2024-05-01"), "swap them"),
        (("--deployment", "gide"), "gide. Check --deployment"),
        (("--since", "2025-01-01"), "no exchange that matches"),
        (("--weights", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_mistakes_are_told(cli, logs, tmp_path, arguments, message):
    printed = cli("truth", "harvest", logs, "--to", "x", "-o", tmp_path, *arguments)
    assert printed.code in (1, 2)
    assert message in printed.err
    assert not (tmp_path / "truth").exists()
