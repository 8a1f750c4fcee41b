"""The run of docs/batch.md prints the notes that the page shows."""

import re
from pathlib import Path

import pytest
from tests.e2e.judged import write
from tests.oracle.batches import BatchOracle
from tests.oracle.world import make_samples

PAGE = Path(__file__).parents[2] / "docs/batch.md"


@pytest.mark.slow
def test_the_commands_of_the_page(cli, tmp_path, monkeypatch):
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.setenv("RAGSTONE_EXAM", "off")
    write(make_samples(40, seed=3), tmp_path / "answers.jsonl")
    command, *notes = blocks[0].strip().splitlines()
    with BatchOracle() as server:
        address = ["--base-url", server.base_url]
        server.steps = ["in_progress"] * 100_000
        stopped = cli(*command.split()[2:], *address, "--deadline", "6")
        assert "same command again" in stopped.err
        titles = blocks[1].splitlines()[1].split()
        assert cli("batches").out.split()[:7] == [*titles, "batch_0", "openai/gpt-4o-mini"]
        server.steps = ()
        done = cli(*command.split()[2:], *address)
    assert done.code == 0, done.err
    printed = (stopped.err + done.err).splitlines()
    assert [line for line in notes if line not in printed] == []
