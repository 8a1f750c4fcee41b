"""The commands of the guides print what the pages show, with the two systems of the shipped example."""

import shlex
import shutil
from importlib import resources

import pytest
from tests.docs.test_agreement_page import check_shown, shown
from tests.docs.test_docs import LOG, ROOT, blocks

HARBOUR = resources.files("ragstone.examples") / "harbour"
GUIDES = sorted(path.name for path in (ROOT / "docs/guides").glob("*.md"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    shutil.copy(str(HARBOUR / "worse.jsonl"), tmp_path / "old.jsonl")
    shutil.copy(str(HARBOUR / "worse.jsonl"), tmp_path / "answers.jsonl")
    shutil.copy(str(HARBOUR / "better.jsonl"), tmp_path / "new.jsonl")
    (tmp_path / "log.jsonl").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    # A quote counts the exam, which the tests turn off.
    monkeypatch.delenv("RAGSTONE_EXAM")
    return tmp_path


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("guide", GUIDES)
def test_commands_print_what_the_guide_shows(guide, cli):
    for line, output in shown(f"guides/{guide}").items():
        printed = cli(*shlex.split(line)[1:])
        assert printed.code == 0, printed.err
        check_shown(printed.out, output)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("guide", GUIDES)
def test_python_of_the_guides_runs(guide):
    for code in blocks(ROOT / "docs/guides" / guide, "python"):
        exec(compile(code, guide, "exec"), {})
