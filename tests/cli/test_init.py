"""A settings file, a tiny example and a CI file."""

import json
import re
import shlex
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from ragstone._version import __version__

WRITTEN = ["ragstone.toml", "answers.example.jsonl", ".github/workflows/ragstone.yml"]
WHEEL = f"vendor/ragstone-{__version__}-py3-none-any.whl"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGSTONE_ROOT", raising=False)
    return tmp_path


def test_the_example_runs_at_once_with_the_printed_commands(cli, folder):
    printed = cli("init")
    assert printed.code == 0
    assert all((folder / name).is_file() for name in WRITTEN)
    commands = re.findall(r"^  ragstone (.+?)   ", printed.out, re.MULTILINE)
    run, gate = (shlex.split(command) for command in commands[:2])
    assert (run[0], gate[0]) == ("run", "gate")
    assert cli(*run).code == 0
    assert cli(*gate).code == 0


def test_gitignore_gets_the_folder_of_runs_once(cli, folder):
    assert "has the new line ragstone-store/" in cli("init").out
    assert Path(".gitignore").read_bytes() == b"ragstone-store/\n"
    assert "kept, it has ragstone-store/" in cli("init").out
    assert Path(".gitignore").read_bytes() == b"ragstone-store/\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"*.pyc", b"*.pyc\nragstone-store/\n"),
        (b"\xff\n", b"\xff\nragstone-store/\n"),
        (b"a\n/ragstone-store\nb", b"a\n/ragstone-store\nb"),
        (b"# ragstone-store/\n", b"# ragstone-store/\nragstone-store/\n"),
    ],
)
def test_other_lines_of_gitignore_stay(cli, folder, before, after):
    Path(".gitignore").write_bytes(before)
    cli("init", "--dry-run")
    assert Path(".gitignore").read_bytes() == before
    cli("init")
    assert Path(".gitignore").read_bytes() == after


@pytest.mark.parametrize(
    ("root", "line"), [("evals/runs", "evals/runs/"), ("s3://bucket/runs", None), ("../runs", None)]
)
def test_gitignore_names_the_folder_of_the_settings(cli, folder, root, line):
    Path("ragstone.toml").write_text(f'out = "{root}"\n')
    cli("init")
    assert (Path(".gitignore").read_text().strip() if line else Path(".gitignore").exists()) == (line or False)


def test_a_linked_gitignore_is_kept(cli, folder):
    Path(".gitignore").symlink_to("elsewhere")
    assert "add ragstone-store/ yourself" in cli("init").out
    assert not Path("elsewhere").exists()


ROW = {"asked": "When does it go?", "answer": "It goes at 21:40.", "contexts": ["The boat goes at 21:40."]}


@pytest.mark.parametrize(
    ("row", "minimum"),
    [
        (ROW, {"k_precision": 0.3}),
        ({**ROW, "references": ["21:40"]}, {"token_recall": 0.3}),
        ({"asked": "When?"}, None),
    ],
)
def test_the_conditions_for_a_file_can_be_computed_from_it(cli, folder, row, minimum):
    Path("own.jsonl").write_text(json.dumps(row))
    printed = cli("init", "own.jsonl", "--map", "question=asked")
    assert printed.code == 0, printed.err
    settings = tomllib.loads(Path("ragstone.toml").read_text())
    assert (settings["gate"].get("min"), settings["map"]) == (minimum, {"question": "asked"})
    assert yaml.safe_load(Path(WRITTEN[2]).read_text())["env"]["RAGSTONE_DATA"] == "own.jsonl"
    assert "git add ragstone.toml .gitignore .github own.jsonl" in printed.out
    assert not Path("answers.example.jsonl").exists()
    if minimum:
        assert cli("run", "own.jsonl", "--name", "first").code == 0
        gate = cli("gate", "first").out
        assert "passes" in gate
        assert "not computed" not in gate


COMMIT = "c0ffee" + "0" * 34


@pytest.mark.parametrize(
    ("origin", "package"),
    [
        (None, f"ragstone=={__version__}"),
        (
            {"url": "https://example.org/o/ragstone.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"git+https://example.org/o/ragstone.git@{COMMIT}",
        ),
        (
            {"url": "https://example.org/ragstone-1-py3-none-any.whl", "archive_info": {}},
            "https://example.org/ragstone-1-py3-none-any.whl",
        ),
        ({"url": "https://me:secret@example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, WHEEL),
        ({"url": "https://example.org/r.whl?token=secret", "archive_info": {}}, WHEEL),
        ({"url": "ssh://git@example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, WHEEL),
        ({"url": "file:///a%20b/ragstone", "dir_info": {}}, WHEEL),
    ],
)
def test_the_workflow_installs_what_is_installed_here(cli, folder, monkeypatch, origin, package):
    text = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(read_text=lambda file: text))
    printed = cli("init").out
    written = yaml.safe_load(Path(WRITTEN[2]).read_text())
    assert written["env"]["RAGSTONE_PACKAGE"] == package
    # Other machines cannot reach a local package: the output says how to make the wheel.
    assert ("pip wheel --no-deps -w vendor" in printed) is (package == WHEEL)
    assert ("-w vendor '/a b/ragstone'" in printed) is (origin is not None and origin["url"].startswith("file:"))
    assert "secret" not in printed + Path(WRITTEN[2]).read_text()


def test_the_workflow_asks_whether_a_pull_request_is_worse_than_main(cli, folder):
    """tests/ci/test_written_workflow.py runs its scripts."""
    cli("init")
    text = Path(WRITTEN[2]).read_text()
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"push": {"branches": ["main"]}, "pull_request": None}
    assert workflow["env"]["RAGSTONE_BASELINE"] == "main"
    gate = tomllib.loads(Path("ragstone.toml").read_text())["gate"]
    assert (gate["baseline"], gate["max-new-failures"], gate["inconclusive"]) == ("main", 0, "pass")


def test_nothing_is_overwritten(cli, folder):
    (folder / "ragstone.toml").write_text("# mine\n")
    (folder / "answers.example.jsonl").symlink_to("elsewhere")
    printed = cli("init")
    assert printed.code == 0
    assert printed.out.count("kept, it exists") == 2
    assert (folder / "ragstone.toml").read_text() == "# mine\n"
    assert not (folder / "elsewhere").exists()
    assert cli("init").out.count("kept, it exists") == 3


def test_dry_run_writes_nothing(cli, folder):
    printed = cli("init", "--dry-run")
    assert printed.code == 0
    assert printed.out.count("would be written") == 3
    assert list(folder.iterdir()) == []


def test_every_key_in_a_comment_is_known(cli, folder):
    """The file with all its examples switched on is valid."""
    cli("init")
    path = Path("ragstone.toml")
    examples = re.sub(r"^# (?=\[\w+\]$|[\w-]+ = )", "", path.read_text(), flags=re.MULTILINE)
    assert {"out", "judge", "budget", "run", "map", "gate"} <= tomllib.loads(examples).keys()
    path.write_text(examples)
    assert cli("metrics", "recall").code == 0


@pytest.mark.parametrize("branch", ["main", "master"])
def test_the_branch_of_the_repository(cli, folder, branch):
    subprocess.run(["git", "init", "-q", "-b", branch], check=True)
    done = cli("init")
    assert f"pull requests are compared with {branch}" in " ".join(done.out.split())
    workflow = (folder / ".github" / "workflows" / "ragstone.yml").read_text()
    assert f"branches: [{branch}]" in workflow
    assert f"RAGSTONE_BASELINE: {branch}" in workflow
    settings = (folder / "ragstone.toml").read_text()
    assert f'baseline = "{branch}"' in settings
    assert re.findall(r"\b(?:main|master)\b", workflow + settings) == [branch] * 8


def test_a_feature_branch_is_not_the_baseline(cli, folder):
    subprocess.run(["git", "init", "-q", "-b", "add-reranker"], check=True)
    cli("init")
    assert 'baseline = "main"' in (folder / "ragstone.toml").read_text()
