"""scripts/workflows.py: the files of this repository pass, a broken one does not."""

import importlib.util
import shutil
import subprocess
import sys

import pytest

from tests.scripts.conftest import SCRIPTS

ROOT = SCRIPTS.parent
TEMPLATE = "src/ragstone/examples/start/ragstone.yml"
FILES = (".github", "ci", "action.yml", "Containerfile", "CITATION.cff", TEMPLATE, "docs/ci.md")


def check(folder):
    done = subprocess.run([sys.executable, SCRIPTS / "workflows.py", folder], capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.fixture
def tree(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("workflows", SCRIPTS / "workflows.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_this_repository():
    code, printed = check(ROOT)
    assert code == 0, printed


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (".github/workflows/test.yml", "@3d3c42e5aac5ba805825da76410c181273ba90b1", "@v7", "full commit hash"),
        (".github/workflows/release.yml", '"$GITHUB_REF_NAME"', "${{ github.ref_name }}", "in env, not as"),
        (".github/workflows/check.yml", "make check PYTHON=python", "if then", "syntax error"),
        (TEMPLATE, '"$RAGSTONE_DATA" = answers', "${{ env.RAGSTONE_DATA }} = answers", "in env, not as"),
        ("action.yml", "conditions() {", "conditions( {", "syntax error"),
    ],
)
def test_a_bad_step(tree, script, file, old, new, words):
    assert list(script.check_steps(tree)) == []
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1))
    [fault] = script.check_steps(tree)
    assert file in fault
    assert words in fault


@pytest.mark.parametrize("file", [TEMPLATE, "docs/ci.md", ".github/workflows/test.yml"])
def test_actions_have_one_version(tree, script, file):
    assert list(script.check_versions(tree)) == []
    text = (tree / file).read_text()
    pinned = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
    assert pinned in text
    (tree / file).write_text(text.replace(pinned, "actions/checkout@v4"))
    [fault] = script.check_versions(tree)
    assert "actions/checkout: different versions" in fault
    assert f"v4 in {file}" in fault


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (".github/workflows/check.yml", "runs-on: ubuntu-latest", "run-on: ubuntu-latest", "run-on"),
        (".github/workflows/check.yml", "jobs:\n", "jobs\n", "check.yml"),
        (".github/workflows/test.yml", "pull_request:", "pull_request_target:", "dangerous-triggers"),
        (TEMPLATE, "runs-on: ubuntu-latest", "run-on: ubuntu-latest", "run-on"),
        (TEMPLATE, "  pull_request:", "  pull_request_target:", "dangerous-triggers"),
        ("action.yml", "using: composite", "using: composit", "action.yml"),
        (".github/dependabot.yml", "interval: weekly", "interval: often", "often"),
        (".github/ISSUE_TEMPLATE/bug.yml", "type: textarea", "type: text", "bug.yml"),
        ("ci/gitlab.yml", "allow_failure:", "allow_failures:", "gitlab.yml"),
        ("Containerfile", "USER 10001", "USER", "hadolint"),
        ("CITATION.cff", "title:", "tittle:", "CITATION.cff"),
    ],
)
def test_a_broken_file(tree, file, old, new, words):
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1))
    code, printed = check(tree)
    assert code == 1
    assert words in printed


@pytest.mark.slow
def test_a_missing_file(tree):
    (tree / "CITATION.cff").unlink()
    assert "CITATION.cff: there is no such file" in check(tree)[1]
