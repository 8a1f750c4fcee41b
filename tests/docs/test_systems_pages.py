"""The pages on other systems: names that exist, examples that run, few words."""

import re
import shlex
from pathlib import Path

import pytest
from tests.docs.test_agreement_page import check_shown, shown
from tests.docs.test_docs import ROOT, blocks
from tests.each_case import each_case

import ragstone.metrics  # noqa: F401  (fills the catalogue)
from ragstone.cli.app import app
from ragstone.errors import UsageError
from ragstone.registry import CATALOGUE, parse_metric

FOLDER = ROOT / "docs/systems"
NAMES = (
    "unitxt ragas ragchecker ares rgb erag trec dial nlg-evaluators llm-judges auepora crag alce trec-rag".split()  # noqa: SIM905
)
PAGES = [FOLDER / f"{name}.md" for name in NAMES]
MOST_WORDS = 350
SECTIONS = ["Names", "Example", "Published figures", "Differences on purpose"]
# What may be said about a number: it is the same, it is the judge's, it is another for a reason, or there is none.
ANSWERS = ("yes", "by judge", "by model", "no", "–")
# Most pages show commands only; these files make what the commands read.
EXAMPLES = Path(__file__).parent / "system_examples"


def table(page, section):
    """The rows of the first table of a section, as lists of cells."""
    text = page.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_every_page_of_the_folder_is_tested():
    assert sorted(FOLDER.glob("*.md")) == sorted(PAGES)


@each_case("page", PAGES)
def test_sections_and_length(page):
    text = page.read_text()
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == SECTIONS
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert sum(bool(re.search(r"\w", word)) for word in prose.split()) <= MOST_WORDS
    introduction = prose.partition("\n## ")[0].partition("\n\n")[2]
    assert len(re.findall(r"\.(?=\s|$)", introduction.replace("et al.", "et al"))) <= 3, "three sentences"


def is_known(name):
    """Whether it is a metric, a set, evidence, or a command with its options."""
    words = name.split()
    if words[0] == "ragstone":
        command, rest = app, words[1:]
        while rest and hasattr(command, "commands"):
            command, rest = command.commands[rest[0]], rest[1:]
        known = {flag for parameter in command.params for flag in parameter.opts}
        return all(word in known for word in rest if word.startswith("-"))
    if name in CATALOGUE.sets() or CATALOGUE.evidence(name):
        return True
    parse_metric(name)
    return True


@each_case("page", PAGES)
def test_names_exist(page):
    rows = table(page, "Names")
    assert len(rows) >= 4
    for theirs, ours, same in rows:
        names = re.findall(r"`([^`]+)`", ours)
        assert theirs, ours
        assert names or same.startswith("no"), theirs
        assert all(is_known(name) for name in names), ours
        assert same.startswith(ANSWERS), same


def options_of(command):
    """Every option of a command and of the commands in it."""
    own = {flag for parameter in command.params for flag in parameter.opts}
    return own.union(*(options_of(each) for each in getattr(command, "commands", {}).values()))


@each_case("page", PAGES)
def test_options_exist(page):
    """In what is said about Ragstone."""
    told = " ".join(row[2] for section in ("Names", "Differences on purpose") for row in table(page, section))
    assert set(re.findall(r"(?<!\w)--[a-z][a-z_-]+", told)) <= options_of(app)


@each_case("page", PAGES)
def test_their_names_mean_ours_if_they_are_known(page):
    """With the prefix of their system, as `ragas.faithfulness`, or with a prefix of their own."""
    for theirs, ours, _ in table(page, "Names"):
        wanted = set()
        for name in re.findall(r"`([^`]+)`", ours):
            wanted |= (
                {parse_metric(name).spec.name}
                if not name.startswith("ragstone ") and not (name in CATALOGUE.sets() or CATALOGUE.evidence(name))
                else set()
            )
        for name in re.findall(r"`([^`]+)`", theirs):
            for spelled in (f"{page.stem}.{name}", name):
                if "." in spelled:
                    try:
                        found = parse_metric(spelled).spec.name
                    except UsageError:
                        continue
                    assert found in wanted, f"{spelled} means {found}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_run(page, tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    made = EXAMPLES / f"{page.stem.replace('-', '_')}.py"
    code = [made.read_text()] if made.exists() else blocks(page, "python")
    assert code
    assert [block for language in ("", "bash", "python") for block in blocks(page, language)]
    names = {}
    for block in code:
        exec(compile(block, page.name, "exec"), names)
    for line in (line for block in blocks(page, "bash") for line in block.splitlines()):
        if line.startswith("ragstone "):
            done = cli(*shlex.split(line.partition(" #")[0])[1:])
            assert done.code == 0, f"{line}: {done.err}"
    for line, output in shown(f"systems/{page.name}").items():
        done = cli(*shlex.split(line)[1:])
        assert done.code == 0, f"{line}: {done.err}"
        check_shown(done.out, output)


@each_case("page", PAGES)
def test_differences_are_listed_with_both_sides(page):
    """Every row has what, theirs, ours and why; the page of all differences leads there."""
    every = (ROOT / "docs/differences.md").read_text()
    rows = table(page, "Differences on purpose")
    assert rows
    assert f"(systems/{page.name}#differences-on-purpose)" in every
    for row in rows:
        assert len(row) == 4
        assert all(row)


@pytest.mark.parametrize("name", ["G-Eval", "MT-Bench", "WikiEval", "ChatGPT", "Auepora"])
def test_well_known_names_are_found(name):
    assert any(name in page.read_text() for page in PAGES)
