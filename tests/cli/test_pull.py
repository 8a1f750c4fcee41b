"""ragstone pull, as typed."""

from datetime import UTC, datetime, timedelta

import pytest

from ragstone.cli.pull import parse_when
from ragstone.errors import UsageError
from tests.platforms.conftest import start

__all__ = ["start"]
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def test_traces_are_read_and_the_next_step_is_named(cli, home, start):
    start("langfuse")
    printed = cli("pull", "langfuse", "--since", "2026-11-01", "--until", "2026-11-02", "-o", "log.jsonl")
    assert printed.code == 0
    assert "9 rows from langfuse, 2026-11-01T00:00:00+00:00 to 2026-11-02T00:00:00+00:00" in printed.out
    assert "run log.jsonl" in printed.out
    again = cli("pull", "langfuse", "--until", "2026-11-03", "-o", "log.jsonl")
    assert again.code == 0
    assert "0 rows from langfuse, 2026-11-02" in again.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--since", "yesterday"], "write a date"),
        (["--since", "2026-11-02", "--until", "2026-11-01"], "nothing to read"),
        ([], "--since"),
    ],
)
def test_mistakes(cli, home, start, arguments, message):
    start("langfuse")
    printed = cli("pull", "langfuse", "-o", "log.jsonl", *arguments)
    assert printed.code == 2
    assert message in printed.err


def test_times():
    assert parse_when("7d", NOW, "--since") == NOW - timedelta(days=7)
    assert parse_when("90m", NOW, "--since") == NOW - timedelta(minutes=90)
    assert parse_when("2026-11-01", NOW, "--since") == datetime(2026, 11, 1, tzinfo=UTC)
    assert parse_when("2026-11-01T10:00:00+02:00", NOW, "--since") == datetime(2026, 11, 1, 8, tzinfo=UTC)
    assert parse_when("now", NOW, "--until") == NOW
    with pytest.raises(UsageError, match="--until"):
        parse_when("7 days", NOW, "--until")
