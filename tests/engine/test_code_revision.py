"""The branch and the commit of a run: from the option, the CI server or git."""

import json
import subprocess

import pytest

import ragstone
from ragstone.engine.code_revision import code_revision
from ragstone.errors import UsageError

ROWS = [{"question": "q", "answer": "one", "references": ["one"]}]


def git(*arguments):
    settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *settings, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "trunk")
    git("remote", "add", "origin", "https://user:secret@example.org/private.git")
    (tmp_path / "system.py").write_text("k = 4\n")
    git("add", ".")
    git("commit", "-q", "-m", "private words")
    return tmp_path


def test_git(repository):
    commit = git("rev-parse", "HEAD")
    assert code_revision() == {"commit": commit, "dirty": False, "branch": "trunk"}
    (repository / "system.py").write_text("k = 8\n")
    assert code_revision()["dirty"] is True
    git("checkout", "-q", "--detach")
    assert code_revision() == {"commit": commit, "dirty": True}


def test_a_branch_without_a_commit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "new")
    assert code_revision() == {"branch": "new"}


@pytest.mark.parametrize("path", ["/nowhere", None])
def test_without_git_or_outside_a_repository(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    if path:
        monkeypatch.setenv("PATH", path)
    assert code_revision() is None
    assert code_revision("main") == {"branch": "main"}
    assert ragstone.evaluate(ROWS, "token_f1").info.branch == ""


@pytest.mark.parametrize(
    ("values", "branch"),
    [
        ({"GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch"}, "main"),
        ({"GITHUB_REF_NAME": "12/merge", "GITHUB_HEAD_REF": "fix", "GITHUB_BASE_REF": "main"}, "fix"),
        # A fork may call its branch main; it must not become the baseline of main.
        ({"GITHUB_REF_NAME": "12/merge", "GITHUB_HEAD_REF": "main", "GITHUB_BASE_REF": "main"}, "12/merge"),
        ({"GITHUB_REF_NAME": "v1", "GITHUB_REF_TYPE": "tag"}, None),
        ({"CI_COMMIT_REF_NAME": "main"}, "main"),
        ({"CI_COMMIT_REF_NAME": "v1", "CI_COMMIT_TAG": "v1"}, None),
        (
            {
                "CI_COMMIT_REF_NAME": "main",
                "CI_MERGE_REQUEST_PROJECT_PATH": "ours/x",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "theirs/x",
                "CI_MERGE_REQUEST_IID": "7",
            },
            "merge-request/7",
        ),
        ({"GITHUB_REF_NAME": "a\x1b[31mb"}, None),
        ({"GITHUB_REF_NAME": "x" * 256}, None),
        ({"GITHUB_REF_NAME": ""}, None),
    ],
)
def test_variables_of_ci_servers(tmp_path, monkeypatch, values, branch):
    monkeypatch.chdir(tmp_path)
    found = code_revision(environment={**values, "CI_COMMIT_SHA": "c0ffee"})
    assert found.get("branch") == branch
    assert found["commit"] == "c0ffee"


def test_the_option_wins_then_the_server(repository):
    assert code_revision("mine", {"GITHUB_REF_NAME": "theirs"})["branch"] == "mine"
    found = code_revision("", {"GITHUB_REF_NAME": "theirs", "GITHUB_SHA": "merged"})
    assert found["branch"] == "theirs"
    assert found["commit"] == git("rev-parse", "HEAD")  # what is checked out was evaluated


@pytest.mark.parametrize("name", ["two words", "a\nb", "x" * 256])
def test_a_bad_branch(name):
    with pytest.raises(UsageError, match="--branch"):
        code_revision(name)


def test_stored_runs(repository, cli, monkeypatch):
    (repository / "a.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    cli("run", "a.jsonl", "-m", "token_f1", "-q")
    cli("run", "a.jsonl", "-m", "token_f1", "-q", "--branch", "feature/x")
    first, second = (ragstone.open_run(path) for path in sorted((repository / "ragstone-store/runs").iterdir()))
    assert (first.info.branch, second.info.branch) == ("trunk", "feature/x")
    assert first.info.commit == git("rev-parse", "HEAD")
    # Nothing else of the repository is stored.
    stored = (repository / "ragstone-store/runs" / first.id / "run.json").read_text()
    assert not any(word in stored for word in ("secret", "private", "example.org"))
