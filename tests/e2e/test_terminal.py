"""The command line on a real pseudo-terminal: a bar while it works, a table that fits when it is done."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from tests.e2e.conftest import COMMAND

COLOUR = re.compile(r"\x1b\[[\d;]*?(?:3[0-7]|38;|9[0-7])[\d;]*m")


@pytest.fixture
def terminal(environment, home):
    """Run a command on a terminal of some width; gives all that appeared on it."""

    def run(*arguments, columns=80, **env):
        mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {**environment, "TERM": "xterm-256color", **env}
        with subprocess.Popen(
            [*COMMAND, *arguments], cwd=home, env=env, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            seen = b""
            try:
                while block := os.read(mine, 1 << 16):
                    seen += block
            except OSError:  # Linux says EIO when the other side hangs up
                pass
        os.close(mine)
        assert process.returncode == 0, seen.decode()
        return seen.decode()

    return run


def plain(text):
    """What is left on the screen, about: no escape codes, and of a line drawn over and over the last state."""
    text = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", text).replace("\r\n", "\n")
    return "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))


@pytest.mark.slow
def test_a_bar_and_a_table_that_fits(terminal):
    seen = terminal("run", "answers.jsonl", columns=80)
    assert "evaluating" in seen
    assert "━" in seen
    assert "\x1b[?25l" in seen  # the cursor is hidden while the bar moves
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")  # and comes back
    assert COLOUR.search(seen)
    assert "evaluating: " not in seen
    table = plain(seen)[plain(seen).index("metric") :]
    assert max(map(len, table.split("\nstored in")[0].splitlines())) <= 80
    assert re.search(r"token_f1 ↑ +\d\.\d{3}", table)
    assert "stored in ragstone-store/runs/" in table


@pytest.mark.slow
def test_no_color_is_honoured_on_a_terminal(terminal):
    seen = terminal("run", "answers.jsonl", NO_COLOR="1")
    assert "token_f1" in seen
    assert not COLOUR.search(seen)


@pytest.mark.slow
def test_quiet_shows_no_bar(terminal):
    seen = terminal("run", "answers.jsonl", "--quiet")
    assert "\x1b[?25l" not in seen
    assert "token_f1" in seen
