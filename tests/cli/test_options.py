"""Every flag means the same in every command."""

from collections import Counter, defaultdict

import pytest
from click.testing import CliRunner

from ragstone.cli.app import app
from ragstone.cli.click_options import make_command
from ragstone.cli.options import CALL_OPTIONS, SHARED, argument, model_options, option, parse_map
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions

# These commands take the arguments of other programs.
FOREIGN = ("trec", "ragchecker")
# These commands write one file: there -o is the file, and --root the store.
FILE_WRITERS = ("report", "convert", "fuse", "pool", "pull", "truth collect")


def all_commands(group, prefix=""):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


COMMANDS = dict(all_commands(app))


def options(command):
    return [param for param in command.params if param.param_type_name == "option"]


def long_name(param):
    """The first long flag is the name of an option; the others are old spellings."""
    return next((flag for flag in param.opts if flag.startswith("--")), None)


def test_a_flag_of_several_commands_has_one_meaning():
    meanings = defaultdict(set)
    for name, command in COMMANDS.items():
        for param in options(command) if name not in FOREIGN else ():
            meanings[long_name(param)].add((param.help, param.metavar))
    shared_roots = meanings.pop("--root")  # the store of the commands that write one file
    assert {metavar for _, metavar in shared_roots} == {"ROOT"}
    del meanings["--from"]  # a wheel to install from, or logs to watch
    del meanings["--output"]  # says what each command writes by default
    assert {flag: found for flag, found in meanings.items() if len(found) > 1} == {}


def test_an_option_of_several_commands_is_in_the_table():
    table = {flag for item in SHARED.values() for flag in item.flags.split()}
    own = [param for name, command in COMMANDS.items() if name not in FOREIGN for param in options(command)]
    several = {flag for flag, times in Counter(map(long_name, own)).items() if times > 1}
    of_review = {"--all", "--kind", "--fact", "--provenance", "--min-confidence", "--max-confidence", "--status"}
    # Every command has --config; --from and --output say what each command reads and writes.
    assert several - table == {"--config", "--from", "--output", *of_review}


def test_help_of_shared_options_comes_from_the_table():
    table = {next(flag for flag in item.flags.split() if flag.startswith("--")): item for item in SHARED.values()}
    for name, command in COMMANDS.items():
        for param in options(command) if name not in FOREIGN else ():
            if long_name(param) in table:
                assert param.help == table[long_name(param)].help, name


def test_commands_with_models_have_the_same_call_limits():
    with_calls = {
        name for name, command in COMMANDS.items() if "--rpm" in {f for p in options(command) for f in p.opts}
    }
    assert with_calls == {
        "run",
        "judge",
        "judge-check",
        "audit",
        "stress",
        "erag",
        "pool",
        "simulate",
        "sweep",
        "truth collect",
        "truth extract",
        "truth synthesise",
        "watch",
    }
    for name in with_calls:
        flags = {param.name: (param.opts, param.help) for param in options(COMMANDS[name])}
        for flag in CALL_OPTIONS:
            assert flags[flag] == (SHARED[flag].flags.split(), SHARED[flag].help), (name, flag)


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        ("convert", "--out"),
        ("convert", "--to"),
        ("truth collect", "--out"),
        ("truth export", "--to"),
        ("gate", "--markdown"),
        ("view", "--name"),
        ("erag", "--metrics"),
        ("truth suspects", "--runs"),
        ("run", "--reward-model"),
        ("run", "--claims-per-call"),
        ("run", "--webhook-format"),
    ],
)
def test_old_and_rare_spellings_still_work(command, flag):
    assert flag in {one for param in options(COMMANDS[command]) for one in param.opts}


def test_a_command_gets_its_model_options_as_one_value():
    def function(
        data: str = argument("DATA", "A file."),
        models: ModelOptions = model_options("judge", "grading"),
        last: bool = option(False, "--last", "A switch."),
    ) -> None:
        received.append((data, models, last))

    received = []
    command = make_command("function", function, "Tools")
    assert [param.name for param in command.params] == ["data", "judge", "grading", *CALL_OPTIONS, "last", "config"]
    given = ["--judge", "openai/y", "--grading", "cot, rubric", "--timeout", "5", "--rpm", "2", "--no-cache", "--last"]
    done = CliRunner().invoke(command, ["x", *given], standalone_mode=False)
    assert done.exit_code == 0, done.exception
    models = ModelOptions(
        judge="openai/y", grading=("cot", "rubric"), timeout_s=5.0, requests_per_minute=2.0, cache=False
    )
    assert received == [("x", models, True)]


@pytest.mark.parametrize("pair", ["question", "=prompt", "question=", ""])
def test_a_map_without_a_name_or_a_column_is_refused(pair):
    with pytest.raises(UsageError, match="OURS=THEIRS"):
        parse_map([pair])


def test_a_map():
    assert parse_map(["question=prompt", "answer=a=b"]) == {"question": "prompt", "answer": "a=b"}
