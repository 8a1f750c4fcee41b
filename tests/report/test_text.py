"""Text from data cannot command the terminal."""

import json

import pytest
from rich.console import Console

from ragstone.report.text import plain, to_json
from ragstone.views.phrases import one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("over\rwritten", "over\\x0dwritten"),
        ("lines\r\nand\ttabs\n", "lines\nand\ttabs\n"),
        ("abc\u202efdp.exe", "abc\\u202efdp.exe"),
        ("Größe 日本 👩‍👩‍👧", "Größe 日本 👩‍👩‍👧"),
    ],
)
def test_control_characters_are_spelled_out(text, shown):
    assert visible(text) == shown


def test_markup_is_shown_as_it_is():
    console = Console(width=60, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(plain("[bold red]x[/] [link=http://a]y[/link] :smile:"))
    assert captured.get() == "[bold red]x[/] [link=http://a]y[/link] :smile:\n"


def test_one_line():
    assert one_line("a\n\n b \x1b c", 40) == "a b \\x1b c"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abc defg", 5) == "abc…"


def test_json_has_no_control_characters_and_reads_back():
    value = {"text": "\x1b[2J \x9b2J ä\x7f"}
    printed = to_json(value)
    assert not set(printed) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160)]))
    assert json.loads(printed) == value
