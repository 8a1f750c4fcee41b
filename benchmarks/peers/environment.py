"""The environment of the heavy peers, beside ours so that neither disturbs the other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.processes import ROOT

_FOLDER = ROOT / ".bench-venv"
_PACKAGES = ("numpy==2.4.6", "rouge-score==0.1.2")
# Only its facts are compared, and they need numpy alone; the rest of what it asks for is half a gigabyte.
_WITHOUT_THEIR_NEEDS = ("aidial-rag-eval==0.7.0",)


def run_peer(name: str, data: Path) -> dict[str, Any]:
    """One turn of a peer: its seconds and values."""
    command = [str(peer_python()), "-m", "benchmarks.peers.runner", name, str(data)]
    found: dict[str, Any] = json.loads(_run(command))
    return found


def peer_python() -> Path:
    """The environment's Python; what it needs is installed when it is first asked for, or when the list has changed."""
    python, stamp = _FOLDER / "bin" / "python", _FOLDER / "installed.json"
    wanted = json.dumps([_PACKAGES, _WITHOUT_THEIR_NEEDS])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"setting up {_FOLDER.name} (once)", file=sys.stderr, flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(_FOLDER)])
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        _run([*install, *_PACKAGES])
        _run([*install, "--no-deps", *_WITHOUT_THEIR_NEEDS])
        stamp.write_text(wanted, encoding="utf-8")
    return python


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout
