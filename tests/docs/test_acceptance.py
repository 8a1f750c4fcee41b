"""The example of acceptance criteria: the file and the output of the page on gates."""

from pathlib import Path

from click.testing import CliRunner
from tests.docs.test_docs import blocks

from ragstone.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "gates.md"


def test_the_criteria_give_the_printed_outcomes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "off")
    [toml] = [block for block in blocks(PAGE, "toml") if block.startswith("[accept]")]
    [printed] = [block for block in blocks(PAGE, "") if block.startswith("$ ragstone demo\n$ ragstone gate")]
    (tmp_path / "ragstone.toml").write_text(toml)
    CliRunner().invoke(app, ["demo", "-q"])
    done = CliRunner().invoke(app, ["gate", "latest", "-q"])
    wanted = [line.rstrip() for line in printed.splitlines() if not line.startswith(("$", "…"))]
    assert [line.rstrip() for line in done.output.splitlines()][: len(wanted)] == wanted
