"""The state of the installation."""

import json


def test_the_settings_file_is_part_of_the_state(cli, home):
    assert json.loads(cli("doctor", "--json").out)["config"] is None
    (home / "ragstone.toml").write_text("[run]\nlimit = 3\n")
    assert json.loads(cli("doctor", "--json").out)["config"] == {
        "file": "ragstone.toml",
        "values": {"run": {"limit": 3}},
    }
