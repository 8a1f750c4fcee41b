"""scripts/release.py: a tag is released only if version, changelog and citation agree."""

import shutil
import subprocess
import sys

import pytest

import ragstone
from tests.scripts.conftest import SCRIPTS

ROOT = SCRIPTS.parent
VERSION = ragstone.__version__


@pytest.fixture
def tree(tmp_path):
    for name in ("src/ragstone/_version.py", "CHANGELOG.md", "CITATION.cff", "scripts/release.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def check(tree, tag):
    done = subprocess.run([sys.executable, tree / "scripts/release.py", tag], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_this_version_can_be_released(tree):
    assert check(tree, f"v{VERSION}") == (0, f"v{VERSION} can be released\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("src/ragstone/_version.py", VERSION, "9.9.9", "the tag is"),
        ("CHANGELOG.md", f"## {VERSION} - ", f"## {VERSION} ", "has no heading"),
        ("CITATION.cff", f"version: {VERSION}", "version: 0.0.1", "is not about"),
        ("CITATION.cff", 'date-released: "2', 'date-released: "1', "different dates"),
    ],
)
def test_faults(tree, file, old, new, words):
    path = tree / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    code, printed = check(tree, f"v{VERSION}")
    assert code == 1
    assert words in printed
