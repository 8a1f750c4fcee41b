"""The list of commands."""

import inspect
import subprocess
import sys

import pytest

from ragstone.cli.app import COMMANDS, app

LINES = {name: line for lines in COMMANDS.values() for name, line in lines.items()}


def test_every_command_is_registered_once():
    assert len(LINES) == sum(map(len, COMMANDS.values()))
    assert set(LINES) == set(app.commands)


@pytest.mark.parametrize("name", LINES)
def test_the_line_in_the_list_is_the_first_paragraph_of_the_help(name):
    command = app.commands[name]
    assert command.name == name
    assert LINES[name] == inspect.cleandoc(command.help).partition("\n\n")[0].replace("\n", " ")


def test_the_list_of_commands_loads_none_of_them():
    code = (
        "import sys; from ragstone.cli import main; sys.argv[1:] = ['--help']\ntry: main()\nexcept SystemExit: pass\n"
    )
    code += "print(*(name for name in sys.modules if name.startswith('ragstone.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()[-1].split()) == {
        *("ragstone._version", "ragstone.errors", "ragstone.cli", "ragstone.cli.app", "ragstone.cli.help"),
    }


@pytest.mark.parametrize("command", ["list", "collect", "merge"])
def test_the_commands_of_ground_truth_are_loaded_on_demand(cli, command):
    assert command in cli("truth", command, "--help").out


def test_an_unknown_command(cli):
    printed = cli("truth", "colect")
    assert (printed.code, "collect" in printed.err) == (2, True)
