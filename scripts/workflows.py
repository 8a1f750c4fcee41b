"""Checks the files that other machines run: workflows, action, GitLab template, container file, templates, citation.

Schemas by check-jsonschema, security by zizmor (offline), the container file by hadolint. Further rules: actions are
pinned by a full commit hash, the same in every file, scripts contain no expressions and are valid bash. The workflow that
`ragstone init` writes is checked like ours.

    python scripts/workflows.py [FOLDER]    exit code 1 and the faults, if there are any
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
# The workflow that `ragstone init` writes.
TEMPLATE = "src/ragstone/examples/start/ragstone.yml"
# A page with a workflow to copy.
PAGE = "docs/ci.md"
# Files, and the schema that check-jsonschema brings for them.
SCHEMAS = {
    ".github/workflows/*.yml": "vendor.github-workflows",
    TEMPLATE: "vendor.github-workflows",
    "action.yml": "vendor.github-actions",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/[!c]*.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    "ci/gitlab.yml": "vendor.gitlab-ci",
    "CITATION.cff": "vendor.citation-file-format",
}
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
# The repository of an action, and its version with the comment behind.
USED = re.compile(r"uses: ([\w.-]+/[\w.-]+)[\w./-]*@([0-9a-f]{40} # v[\d.]+|\S+)")


def main() -> int:
    """Run all checks; returns the exit code."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    faults = [*check_schemas(root), *check_tools(root), *check_steps(root), *check_versions(root)]
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"workflows: {len(faults)} fault{'s' if len(faults) != 1 else ''}\n")
    return 1 if faults else 0


def check_schemas(root: Path) -> Iterator[str]:
    """Faults against the published schemas; a file that is missing is one too."""
    for pattern, schema in SCHEMAS.items():
        files = sorted(map(str, root.glob(pattern)))
        if not files:
            yield f"{pattern}: there is no such file"
            continue
        if schema == "vendor.gitlab-ci":
            yield from check_gitlab(Path(files[0]))
        else:
            yield from run_tool("check-jsonschema", "--builtin-schema", schema, *files)


def check_gitlab(file: Path) -> Iterator[str]:
    """The schema hardly looks at hidden jobs, so the template is checked as a job."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        copy.write_text(
            re.sub(r"^\.(?=\w)", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8"
        )
        schema = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]
        yield from run_tool("check-jsonschema", *schema, str(copy))


def check_tools(root: Path) -> Iterator[str]:
    """Faults that zizmor and hadolint find."""
    places = [path for path in (root / ".github", root / "action.yml", root / TEMPLATE) if path.exists()]
    yield from run_tool("zizmor", "--offline", "--no-progress", "--quiet", "--color=never", *map(str, places))
    yield from run_tool("hadolint", str(root / "Containerfile"))


def run_tool(name: str, *arguments: str) -> Iterator[str]:
    """The output of a tool that found faults."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    program = shutil.which(name, path=path)
    if program is None:
        yield f"{name} is not installed: run `make check`, which installs requirements/dev.txt"
        return
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"{name}:\n{done.stdout}{done.stderr}".rstrip()


def check_steps(root: Path) -> Iterator[str]:
    """Faults of single steps: pins and scripts."""
    for file in _list_files(root):
        for step in steps_of(file):
            uses, script = step.get("uses", ""), step.get("run", "")
            where = f"{file.relative_to(root)}: {step.get('name') or uses or script[:40]!r}"
            if uses and not uses.startswith("./") and not PINNED.fullmatch(uses):
                yield f"{where}: pin the action by its full commit hash"
            if "${{" in script:
                yield f"{where}: pass values to a script in env, not as an expression"
            done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
            if done.returncode:
                yield f"{where}: {done.stderr.strip()}"


def check_versions(root: Path) -> Iterator[str]:
    """Actions that have different versions in different files."""
    versions: dict[str, dict[str, str]] = {}
    for file in [*_list_files(root), root / PAGE]:
        for action, version in USED.findall(file.read_text(encoding="utf-8")) if file.exists() else ():
            versions.setdefault(action, {}).setdefault(version, str(file.relative_to(root)))
    for action, places in versions.items():
        if len(places) > 1:
            yield f"{action}: different versions: " + ", ".join(f"{one} in {file}" for one, file in places.items())


def _list_files(root: Path) -> list[Path]:
    """The action and the workflows that are there."""
    files = [root / "action.yml", *sorted((root / ".github/workflows").glob("*.yml")), root / TEMPLATE]
    return [file for file in files if file.exists()]


def steps_of(file: Path) -> list[dict[str, Any]]:
    """The steps of an action or of all jobs of a workflow; none if it cannot be read, which the schema check reports."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError:
        return []
    if not isinstance(content, dict):
        return []
    parts = [content.get("runs"), *(content.get("jobs") or {}).values()]
    return [step for part in parts if isinstance(part, dict) for step in part.get("steps") or ()]


if __name__ == "__main__":
    sys.exit(main())
