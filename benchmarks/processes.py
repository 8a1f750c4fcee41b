"""Commands in fresh processes: how long, how much memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True)
class Finished:
    """What a command took."""

    output: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int


def command_line() -> list[str]:
    """How `ragstone` is started here: the installed command if there is one."""
    script = Path(sys.executable).with_name("ragstone")
    return [str(script)] if script.exists() else [sys.executable, "-m", "ragstone"]


def measure(command: Sequence[str]) -> Finished:
    """Run a command to its end; a command that fails ends the benchmark with its words."""
    # Without compiled files every start would compile the sources again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    launcher = [sys.executable, "-S", str(_LAUNCHER), *command]
    found = json.loads(
        subprocess.run(launcher, capture_output=True, text=True, check=True, cwd=ROOT, env=environment).stdout
    )
    if found["code"]:
        raise SystemExit(f"{' '.join(command)} failed:\n{found['errors']}")
    return Finished(found["output"], found["seconds"], found["cpu_seconds"], found["peak_bytes"])
