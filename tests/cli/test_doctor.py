"""The state of the installation."""

import json

from tests.storage.test_leftovers import kill_while_reading


def test_the_settings_file_is_part_of_the_state(cli, home):
    assert json.loads(cli("doctor", "--json").out)["config"] is None
    (home / "ragstone.toml").write_text("[run]\nlimit = 3\n")
    assert json.loads(cli("doctor", "--json").out)["config"] == {
        "file": "ragstone.toml",
        "values": {"run": {"limit": 3}},
    }


def test_what_killed_processes_left_behind_is_listed_and_removed(cli, home):
    kill_while_reading("ragstone-store")
    shown = cli("doctor").out
    assert "left behind by killed processes" in shown
    assert "data that was being read" in shown
    assert "next: ragstone doctor --clean" in shown
    [dead] = (home / "ragstone-store" / "runs").iterdir()
    assert "removed" in cli("doctor", "--clean").out
    assert not dead.exists()
    assert json.loads(cli("doctor", "--json").out)["leftovers"] == []


def test_a_store_that_cannot_be_read_is_no_failure(cli, home):
    (home / "ragstone-store").mkdir()
    (home / "ragstone-store" / "runs").write_text("not a folder")
    assert cli("doctor").code == 0
