"""The branch and the commit of the evaluated code, for run.json. Nothing else of the repository is stored."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Any

from ragstone.errors import UsageError

_MOST_CHARACTERS = 255
_TIMEOUT_S = 5.0


def code_revision(branch: str = "", environment: Mapping[str, str] | None = None) -> dict[str, Any] | None:
    """The commit, whether files were changed since, and the branch; None if nothing is known.

    A named branch wins, then the variables of GitHub and GitLab, whose jobs check out a commit without a branch, then git.
    """
    if branch and not _is_name(branch):
        raise UsageError(
            f"--branch {branch[:40]!r}: a branch is at most {_MOST_CHARACTERS} characters without spaces or control characters"
        )
    values = os.environ if environment is None else environment
    found = _ask_git()
    if "commit" not in found and (commit := values.get("GITHUB_SHA") or values.get("CI_COMMIT_SHA")):
        found["commit"] = commit[:_MOST_CHARACTERS]
    name = branch or _ci_branch(values) or found.get("branch", "")
    return {**found, **({"branch": name} if name else {})} or None


def _is_name(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS and text.isprintable() and not any(map(str.isspace, text))


def _ci_branch(values: Mapping[str, str]) -> str:
    """The branch of a CI job; empty for a tag. The branch of a fork that is named like the target gets another name."""
    if values.get("GITHUB_REF_TYPE") == "tag" or values.get("CI_COMMIT_TAG"):
        return ""
    head = values.get("GITHUB_HEAD_REF")
    if head and head == values.get("GITHUB_BASE_REF"):
        head = ""
    name = head or values.get("GITHUB_REF_NAME") or values.get("CI_COMMIT_REF_NAME") or ""
    project = values.get("CI_MERGE_REQUEST_PROJECT_PATH")
    if project and values.get("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", project) != project:
        name = f"merge-request/{values.get('CI_MERGE_REQUEST_IID', '')}"
    return name if _is_name(name) else ""


def _ask_git() -> dict[str, Any]:
    """Commit, branch and changes of the working folder in one call; empty without git or outside a repository."""
    try:
        done = subprocess.run(
            ["git", "status", "--porcelain=v2", "--branch"],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    found: dict[str, Any] = {}
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    heads = dict(line.removeprefix("# branch.").split(" ", 1) for line in lines if line.startswith("# branch."))
    if (commit := heads.get("oid", "")) and not commit.startswith("("):
        found |= {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}
    if (branch := heads.get("head", "")) and not branch.startswith("(") and _is_name(branch):
        found["branch"] = branch
    return found
