"""The container file: what it says, and its commands in a virtual environment, since containers cannot be built here."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.ci.runner import ROOT


def instructions():
    """Pairs of an instruction and its text, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text())
    return [tuple(line.split(" ", 1)) for line in text.splitlines() if line and not line.startswith("#")]


def stages():
    """The instructions after each FROM."""
    found = []
    for name, text in instructions():
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, text))
    return found


def test_the_image_is_slim_and_not_root():
    build, final = stages()
    assert all(stage[0][1].startswith("python:${PYTHON}-slim") for stage in (build, final))
    words = dict(final)
    assert words["USER"] == "10001"
    assert words["ENTRYPOINT"] == '["ragstone"]'
    # Nothing but the wheel of the first stage gets into the image.
    assert [text for name, text in final if name in ("COPY", "ADD")] == ["--from=build /wheels /wheels"]
    assert [name for name, _ in final].index("USER") > max(
        place for place, (name, _) in enumerate(final) if name == "RUN"
    )


@pytest.mark.slow
def test_its_commands_build_and_install_the_wheel(tmp_path):
    build, final = stages()
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    source.mkdir()
    for name, text in build:
        if name == "COPY":
            *paths, _ = text.split()
            for path in paths:
                assert f"!{path}" in (ROOT / ".dockerignore").read_text().splitlines()
                (shutil.copytree if (ROOT / path).is_dir() else shutil.copy)(ROOT / path, source / path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    commands = [text for stage in (build, final) for name, text in stage if name == "RUN" and "useradd" not in text]
    assert len(commands) == 2
    for command in commands:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command.replace("/wheels", str(wheels))],
            cwd=source,
            # The dependencies are tried by scripts/wheel.py.
            env={**_environment(tmp_path), **({"PIP_NO_DEPS": "1"} if "whl" in command else {})},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    [package] = (tmp_path / "venv").glob("lib/*/site-packages/ragstone")
    assert (package / "models/weights/local_judge").is_dir()
    assert (package / "docs/index.md").is_file()  # `ragstone mcp` serves them


def _environment(folder):
    import os

    return {**os.environ, "PATH": f"{folder}/venv/bin{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}
