"""The list of commands."""

import pytest
from typer.main import get_command

from ragstone.cli.app import COMMANDS, app


def test_every_command_is_registered_once():
    names = [command.__name__.replace("_", "-") for commands in COMMANDS.values() for command in commands]
    assert len(names) == len(set(names))
    assert {*names, "truth"} == set(get_command(app).commands)


@pytest.mark.parametrize("command", ["list", "collect", "merge"])
def test_the_commands_of_ground_truth_are_loaded_on_demand(cli, command):
    assert command in cli("truth", command, "--help").out


def test_an_unknown_command(cli):
    printed = cli("truth", "colect")
    assert (printed.code, "collect" in printed.err) == (2, True)
