"""Builds sdist and wheel, checks what the wheel contains, installs it in empty environments and tries every command.

    python scripts/wheel.py                        with every Python from 3.11 to 3.13 on this machine
    python scripts/wheel.py --python 3.12 python3  with these: versions, commands or paths
    python scripts/wheel.py --build-only           build and check the contents

The wheel is built from the sdist, so that the sdist is complete. The commands run without a network (wheel_smoke.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SMOKE = ROOT / "scripts" / "wheel_smoke.py"
VERSIONS = ("3.11", "3.12", "3.13")
DOCS = ("docs/*.md", "docs/*.txt", "docs/schemas")
# Without the last of these, Windows starts no program.
KEPT = ("LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "PATHEXT", "SYSTEMROOT")
INSTALLED = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def main() -> int:
    """Run all steps; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[], help="versions, commands or paths of Python")
    parser.add_argument("--build-only", action="store_true", help="do not install the wheel")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder for sdist and wheel")
    options = parser.parse_args()
    sdist, wheel = build(options.dist)
    for file in (sdist, wheel):
        say(f"{file.name}  {megabytes(file.stat().st_size)}")
    wrong = check_contents(wheel)
    for line in wrong:
        say(f"WRONG: {line}")
    if wrong:
        return 1
    if options.build_only:
        return 0
    pythons = [found for name in options.python or VERSIONS if (found := find_python(name))]
    missing = [name for name in options.python if find_python(name) is None]
    if missing or not pythons:
        say(f"WRONG: no Python for {', '.join(missing or VERSIONS)}")
        return 1
    return max(try_wheel(wheel, python) for python in pythons)


def build(dist: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it."""
    shutil.rmtree(dist, ignore_errors=True)
    hatchling = [sys.executable, "-m", "hatchling", "build", "-d", str(dist.resolve())]
    subprocess.run([*hatchling, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    [sdist] = dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        [source] = Path(folder).iterdir()
        subprocess.run([*hatchling, "-t", "wheel"], cwd=source, check=True, capture_output=True)
    [wheel] = dist.glob("*.whl")
    return sdist, wheel


def check_contents(wheel: Path) -> list[str]:
    """What the wheel lacks and what it should not have: it is the package in git and the pages of docs, nothing else."""
    listed = subprocess.run(
        ["git", "ls-files", "src/ragstone", *DOCS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    there = [line for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    wanted = {f"ragstone/{line}" if line.startswith("docs/") else line.removeprefix("src/") for line in there}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    folder = next((name.split("/")[0] for name in names if ".dist-info/" in name), "ragstone.dist-info")
    wanted |= {f"{folder}/{name}" for name in INSTALLED}
    return [f"{name} is not in the wheel" for name in sorted(wanted - names)] + [
        f"{name} is in the wheel" for name in sorted(names - wanted)
    ]


def find_python(name: str) -> str | None:
    """A Python of this version, command or path that starts; pyenv's versions need not be active."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders = sorted(versions.glob(f"{name}.*")) if name in VERSIONS else []
    for candidate in (name, f"python{name}", *(str(folder / "bin" / "python") for folder in reversed(folders))):
        path = shutil.which(candidate)
        if path and subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return path
    return None


def try_wheel(wheel: Path, python: str) -> int:
    """Install the wheel in an empty environment and run the commands; returns the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = folder / "environment"
        subprocess.run([python, "-m", "venv", environment], check=True)
        bin_folder = environment / ("Scripts" if os.name == "nt" else "bin")
        inside = str(bin_folder / "python")
        before, started = folder_size(environment), time.perf_counter()
        pip = [inside, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-cache-dir", str(wheel)]
        # With a PYTHONPATH, pip would take the packages of another environment for installed ones.
        alone = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
        subprocess.run(pip, check=True, env=alone)
        seconds = time.perf_counter() - started
        version = subprocess.run([inside, "-V"], capture_output=True, text=True, check=True).stdout.strip()
        [package] = environment.glob("**/site-packages/ragstone")
        size = folder_size(environment) - before
        say(
            f"{version}: installed in {seconds:.0f} s; {megabytes(size)} with dependencies, "
            f"of which Ragstone {megabytes(folder_size(package))}"
        )
        work = folder / "work"
        work.mkdir()
        cut, how = cut_network(work)
        say(f"{version}: {how}")
        # Nothing of this repository or of the user's settings is visible.
        kept = {key: value for key, value in os.environ.items() if key.upper() in KEPT}
        clean = {
            **kept,
            "HOME": str(work),
            "USERPROFILE": str(work),
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            **cut.variables,
        }
        return subprocess.run([*cut.command, inside, str(SMOKE)], cwd=work, env=clean, check=False).returncode


class Cut:
    """A command prefix and variables that keep a process from the network."""

    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        self.command = command
        self.variables = variables


GUARD = """
import socket
_connect = socket.socket.connect
def connect(self, address):
    if self.family != getattr(socket, "AF_UNIX", None) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"the network is cut: {address}")
    return _connect(self, address)
socket.socket.connect = connect
"""


def cut_network(folder: Path) -> tuple[Cut, str]:
    """A network namespace of its own where the system allows it, otherwise dead proxies and a guard on sockets."""
    command = ["unshare", "-rn"]
    if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        return Cut(command, {}), "no network: a namespace without interfaces"
    guard = folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    dead = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return Cut([], {**dead, "PYTHONPATH": str(guard)}), "no network: dead proxies and a guard on sockets"


def folder_size(folder: Path) -> int:
    """The bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:.1f} MB"


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
