"""Help in panels."""

import re

from ragstone.cli.help import FEW_OPTIONS, GROUPS
from ragstone.cli.options import PANELS


def titles(text):
    return re.findall(r"^(\S[^:\n]*):$", text, re.MULTILINE)


def test_the_commands_are_grouped(cli):
    shown = titles(cli("--help").out)
    assert shown == ["Options", *GROUPS[:6]]


def test_the_commands_of_ground_truth_are_grouped(cli):
    assert titles(cli("truth", "--help").out) == ["Options", *GROUPS[6:]]


def test_the_options_of_run_are_in_panels_with_the_ten_common_ones_first(cli):
    text = cli("run", "--help").out
    assert titles(text) == ["Arguments", "Options", *PANELS]
    common = text.partition("\nOptions:\n")[2].partition("\n\n")[0]
    assert len(re.findall(r"^  -", common, re.MULTILINE)) == FEW_OPTIONS


def test_rare_options_are_hidden(cli):
    assert "--reward-model" not in cli("run", "--help").out


def test_few_options_need_no_panels(cli):
    assert titles(cli("validate", "--help").out) == ["Arguments", "Options"]
