"""The skill folder, and that what it says is true: commands and options exist, and the fields are those of the JSON."""

import re
import shlex
from importlib import resources

import pytest
import yaml

from ragstone.assistants.skill import AGENTS, FOLDERS, NAMES, plan_skill, write_skill
from ragstone.cli.app import app
from ragstone.errors import StorageError, UnknownNameError, UsageError

SKILL = resources.files("ragstone.assistants") / "skill_files"
TEXTS = {name: (SKILL / name).read_text() for name in ("SKILL.md", "references/commands.md", "references/json.md")}
COMMANDS = [shlex.split(line)[1:] for text in TEXTS.values() for line in re.findall(r"`(ragstone [a-z][^`]*)`", text)]


def test_the_front_matter_is_that_of_the_standard():
    head = yaml.safe_load(TEXTS["SKILL.md"].split("---")[1])
    assert head["name"] == "ragstone"
    assert 100 < len(head["description"]) <= 1024
    # The body is read as a whole when the skill is used.
    assert len(TEXTS["SKILL.md"].splitlines()) < 100
    links = re.findall(r"\]\(([^)]+)\)", TEXTS["SKILL.md"])
    assert {*links} == {*TEXTS} - {"SKILL.md"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_and_options_exist(words):
    command = app.commands[words[0]]
    if inner := getattr(command, "commands", None):
        command = inner[words[1]]
    flags = {flag for param in command.params for flag in param.opts}
    assert {word for word in words if word.startswith("-")} <= flags


def test_the_steps_of_the_skill_work_in_their_order(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = [words for words in COMMANDS if "--fields" in words and "MODEL" not in words]
    used = set()
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as harbour:
        for name, file in (("OLD", "worse"), ("NEW", "better")):
            assert (
                cli("run", harbour / f"{file}.jsonl", "-m", "token_f1,recall,fact_recall", "--name", name, "-q").code
                == 0
            )
        real = {"FILE": harbour / "better.jsonl", "NAME": "NEW", "RUN": "OLD", "ROW": "h02", "METRIC": "recall"}
        for words in steps:
            more = ["-m", "recall"] if words[0] == "run" else []
            printed = cli(*(real.get(word, word) for word in words), *more)
            assert printed.code in ((0, 3, 4) if words[0] == "gate" else (0,)), printed.err
            used.add(words[0])
    assert used == {"run", "diagnose", "compare", "gate", "show", "explain"}


@pytest.mark.parametrize("name", NAMES)
def test_each_assistant_gets_its_files(tmp_path, name):
    write_skill(plan_skill(tmp_path, [name]), force=False)
    folder = tmp_path / FOLDERS.get(name, FOLDERS["codex"]) / "ragstone"
    assert {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.md")} == TEXTS
    assert (tmp_path / "AGENTS.md").exists() == (name == AGENTS)
    assert {file.state for file in plan_skill(tmp_path, [name])} == {"same"}


def test_nothing_is_overwritten_without_force(tmp_path):
    mine = tmp_path / ".claude/skills/ragstone/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(UsageError, match="Nothing was written; --force"):
        write_skill(plan_skill(tmp_path, []), force=False)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    write_skill(plan_skill(tmp_path, []), force=True)
    assert mine.read_text() == TEXTS["SKILL.md"]


def test_other_text_of_agents_md_stays(tmp_path):
    path = tmp_path / "AGENTS.md"
    path.write_text("# Mine\n\nUse tabs.\n")
    write_skill(plan_skill(tmp_path, [AGENTS]), force=False)
    assert path.read_text().startswith("# Mine\n\nUse tabs.\n\n<!-- ragstone: start -->")
    path.write_text(f"{path.read_text().replace('costs money', 'is free')}\nThe end.\n")
    with pytest.raises(UsageError, match=r"AGENTS\.md"):
        write_skill(plan_skill(tmp_path, [AGENTS]), force=False)
    write_skill(plan_skill(tmp_path, [AGENTS]), force=True)
    text = path.read_text()
    assert text.startswith("# Mine")
    assert text.endswith("The end.\n")
    assert "costs money" in text
    assert text.count("ragstone: start") == 1


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean claude"):
        plan_skill(tmp_path, ["cluade"])
    with pytest.raises(UsageError, match="not a folder"):
        plan_skill(tmp_path / "none", [])
    (tmp_path / ".claude").write_text("a file")
    with pytest.raises(StorageError, match="cannot"):
        write_skill(plan_skill(tmp_path, ["claude"]), force=False)


@pytest.mark.parametrize("link", ["AGENTS.md", ".agents/skills/ragstone/SKILL.md", ".agents"])
def test_no_link_leads_out_of_the_project(tmp_path, link):
    project = tmp_path / "project"
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="leads out of the project"):
        plan_skill(project, [AGENTS])
    assert not (tmp_path / "outside").exists()
    # Only files that would be written count.
    assert plan_skill(project, ["claude"])


def test_links_inside_the_project_and_circles(tmp_path):
    (tmp_path / "CLAUDE.md").write_text("# Mine\n")
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")
    write_skill(plan_skill(tmp_path, [AGENTS]), force=False)
    assert "ragstone: start" in (tmp_path / "CLAUDE.md").read_text()
    (tmp_path / ".claude").symlink_to(".claude")
    with pytest.raises(StorageError, match=r"cannot .*\.claude"):
        write_skill(plan_skill(tmp_path, ["claude"]), force=False)


def test_line_ends_stay(tmp_path):
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"# Mine\r\n\r\nUse tabs.\r\n")
    write_skill(plan_skill(tmp_path, [AGENTS]), force=False)
    text = path.read_bytes()
    assert text.startswith(b"# Mine\r\n\r\nUse tabs.\r\n\r\n<!-- ragstone: start -->\r\n")
    assert text.count(b"\n") == text.count(b"\r\n")
    path.write_bytes(text.replace(b"costs money", b"is free") + b"The end.\r\n")
    write_skill(plan_skill(tmp_path, [AGENTS]), force=True)
    assert path.read_bytes() == text + b"The end.\r\n"
    # Files that git checks out with other line ends are not changed.
    skill = tmp_path / FOLDERS["codex"] / "ragstone" / "SKILL.md"
    skill.write_bytes(skill.read_bytes().replace(b"\n", b"\r\n"))
    assert {file.state for file in plan_skill(tmp_path, [AGENTS])} == {"same"}
