"""The environment of the heavy peers, beside ours so that neither disturbs the other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.processes import ROOT

_FOLDER = ROOT / ".bench-venv"


class Environment(NamedTuple):
    """Where some peers live, and what they need there."""

    folder: Path
    packages: tuple[str, ...]
    # Taken without what they ask for.
    alone: tuple[str, ...] = ()


METRICS = Environment(
    _FOLDER,
    ("numpy==2.4.6", "rouge-score==0.1.2"),
    # Only its facts are compared, and they need numpy alone; the rest of what it asks for is half a gigabyte.
    ("aidial-rag-eval==0.7.0",),
)
JUDGES = Environment(
    _FOLDER / "judges",
    # Newer ones of langchain lack what ragas imports.
    ("ragas==0.4.3", "langchain<1", "langchain-community<0.4", "langchain-openai<1", "deepeval==4.3.1"),
)


def run_peer(name: str, data: Path) -> dict[str, Any]:
    """One turn of a peer: its seconds and values."""
    command = [str(peer_python()), "-m", "benchmarks.peers.runner", name, str(data)]
    found: dict[str, Any] = json.loads(_run(command))
    return found


def peer_python(environment: Environment = METRICS) -> Path:
    """The environment's Python; what it needs is installed when it is first asked for, or when the list has changed."""
    folder = environment.folder
    python, stamp = folder / "bin" / "python", folder / "installed.json"
    wanted = json.dumps([environment.packages, environment.alone])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"setting up {folder.relative_to(ROOT)} (once)", file=sys.stderr, flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        _run([*install, *environment.packages])
        if environment.alone:
            _run([*install, "--no-deps", *environment.alone])
        stamp.write_text(wanted, encoding="utf-8")
    return python


def run_judge(tool: str, url: str, rows: int, at_once: int) -> dict[str, float]:
    """What a peer took to have so many rows judged."""
    command = [str(peer_python(JUDGES)), "-m", "benchmarks.peers.judges", tool, url, str(rows), str(at_once)]
    found: dict[str, float] = json.loads(_run(command).splitlines()[-1])
    return found


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout
