"""A virtual environment with packages that are too heavy for the development one: made once, in the user's cache."""

import fcntl
import hashlib
import os
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Clients of the platforms, the frameworks of docs/recipes.md, and the kernel of the notebooks in examples/.
PACKAGES = (
    *("langfuse>=3", "arize-phoenix-client>=1.20", "langsmith>=0.4"),
    *("langchain-core>=1", "llama-index-core>=0.13", "haystack-ai>=2.16", "dspy>=3", "openai>=2"),
    *("nbclient>=0.10", "ipykernel>=6.30"),
    "pandas",
)
_HOME = Path(os.environ.get("RAGSTONE_TEST_ENVIRONMENTS") or Path.home() / ".cache" / "ragstone-tests")
_MINUTES = 20


@cache
def separate_python() -> str:
    """The interpreter of the environment; tests are skipped with the reason if it cannot be made."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    wanted = [*PACKAGES, *ours]
    key = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:12]
    folder = _HOME / f"recipes-{key}"
    _HOME.mkdir(parents=True, exist_ok=True)
    with (_HOME / f"recipes-{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _make(folder, wanted)
    return str(folder / "bin" / "python")


def _make(folder: Path, wanted: list[str]) -> None:
    install = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *wanted,
    ]
    # pip's own cache, not that of a test.
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    for command in ([sys.executable, "-m", "venv", "--clear", str(folder)], install):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_MINUTES * 60, env=environment)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"the environment of the recipes cannot be made: {error}")
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
            pytest.skip(f"the packages of the recipes cannot be installed: {last}")
    (folder / "complete").touch()


def run_separately(code: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run Python code in the environment, with this source of Ragstone."""
    kept = {
        name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE")
    }
    environment = {**kept, "PYTHONPATH": str(ROOT / "src"), "DSPY_CACHEDIR": str(cwd / "dspy"), **variables}
    python = separate_python()
    return subprocess.run([python, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
