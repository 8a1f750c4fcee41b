"""ragstone init: write a settings file, a tiny example and a CI file."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click

from ragstone._version import __version__
from ragstone.cli.config import FILE, find_config
from ragstone.cli.options import DEFAULT_ROOT, argument, parse_map, shared
from ragstone.cli.output import command_line, next_steps
from ragstone.errors import StorageError

_EXAMPLE = "answers.example.jsonl"
_WORKFLOW = "ragstone.yml"
# Where each file goes, and what it is.
_FILES = {
    "ragstone.toml": ("ragstone.toml", "settings, with comments"),
    _EXAMPLE: (_EXAMPLE, "six questions with answers, to try it and to see the format"),
    _WORKFLOW: (".github/workflows/ragstone.yml", "evaluates and gates every pull request on GitHub"),
}
_IGNORED = ".gitignore"
_MINIMUM = "# min = { token_recall = 0.3 }"
_BRANCHES = ("main", "master", "trunk", "develop")
_WHEEL = f"vendor/ragstone-{__version__}-py3-none-any.whl"


def init(
    answers: str | None = argument("[DATA]", "Your answers: the written files are for them, not for an example.", None),
    map: list[str] = shared("map"),
    dry_run: bool = shared("dry_run"),
) -> None:
    """Write a settings file, a tiny example and a CI file into this folder.

    With DATA, the gate has a condition that it can compute. Files that exist stay. .gitignore gets the folder of runs.
    """
    import re
    from importlib import resources

    templates = resources.files("ragstone.examples") / "start"
    files = {source: file for source, file in _FILES.items() if not (answers and source == _EXAMPLE)}
    width = max(len(target) for target, _ in files.values())
    package, origin = _find_package()
    branch = _find_branch()
    texts = {"RAGSTONE_PACKAGE: PACKAGE\n": f"RAGSTONE_PACKAGE: {package}\n"}
    texts |= _fit_to(answers, parse_map(map)) if answers else {}
    for source, (target, what) in files.items():
        text = (templates / source).read_text(encoding="utf-8")
        if source in (_WORKFLOW, FILE):
            text = re.sub(r"\bmain\b", branch, text)
        for old, new in texts.items():
            text = text.replace(old, new)
        done = _write(Path(target), text, dry_run)
        click.echo(f"  {target:<{width}}  {done}: {what}")
    if folder := _store_folder():
        click.echo(f"  {_IGNORED:<{width}}  {_ignore(Path(_IGNORED), folder, dry_run)}")
    if dry_run:
        next_steps((command_line("init", *filter(None, [answers]), map=map), "write these files"))
        return
    data = answers or _EXAMPLE
    steps = [
        (command_line("run", data, name="first"), f"evaluate {answers or 'the example'}"),
        (command_line("gate", "first"), "check it against the conditions in ragstone.toml"),
        (command_line("validate", answers or "YOUR_FILE"), "what your own file has and which metrics it allows"),
        (f"edit {_FILES[_WORKFLOW][0]}", f"RAGSTONE_DATA names your file; pull requests are compared with {branch}"),
        (f"git add {FILE} {_IGNORED} .github {shlex.quote(data)}", "commit these; later ragstone-labels/, too"),
    ]
    if answers:  # the workflow names the file
        del steps[3]
    if package == _WHEEL and not Path(_WHEEL).exists():
        steps.append(
            (f"pip wheel --no-deps -w vendor {origin}", "make the wheel that the workflow installs; commit it")
        )
    next_steps(*steps)


def _fit_to(answers: str, columns: dict[str, str]) -> dict[str, str]:
    """New texts for parts of the templates: the file, its columns, and a condition that it can compute."""
    from ragstone.engine.catalogue import check

    possible = check(answers, columns=columns).possible
    known = [name for name in ("token_recall", "k_precision") if name in possible]
    guard = f"min = {{ {known[0]} = 0.3 }}" if known else _MINIMUM
    names = "".join(f"{json.dumps(ours)} = {json.dumps(theirs)}\n" for ours, theirs in columns.items())
    file = f"RAGSTONE_DATA: {json.dumps(answers)}"
    return {f"RAGSTONE_DATA: {_EXAMPLE}": file, _MINIMUM: guard, "# [map]\n": f"[map]\n{names}"}


def _find_package() -> tuple[str, str]:
    """The package for pip in a CI job, by the way in which this one was installed; and the place of a local one.

    A package of an index is named by its version, one of a public address by the address. Other machines cannot reach a
    local one, so the job gets a wheel in the repository.
    """
    from importlib import metadata

    try:
        text = metadata.distribution("ragstone").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return _WHEEL, "CLONE_OF_RAGSTONE"
    if text is None:
        return f"ragstone=={__version__}", ""
    origin = json.loads(text)
    address = urlsplit(str(origin.get("url", "")))
    if address.scheme == "file":
        return _WHEEL, shlex.quote(unquote(address.path))
    version = origin.get("vcs_info", {})
    # An address with a name or a query may contain a secret.
    if address.scheme != "https" or "@" in address.netloc or address.query or version.get("vcs", "git") != "git":
        return _WHEEL, "CLONE_OF_RAGSTONE"
    plain = f"https://{address.netloc}{address.path}"
    return (f"git+{plain}@{version['commit_id']}" if version else plain), ""


def _find_branch() -> str:
    """The branch that pull requests are compared with: the one that git calls the default, otherwise a usual name."""
    import re
    import subprocess

    def ask(*words: str) -> str:
        try:
            done = subprocess.run(["git", *words], capture_output=True, encoding="utf-8", timeout=10, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    remote = ask("symbolic-ref", "--short", "refs/remotes/origin/HEAD").partition("/")[2]
    local = ask("branch", "--format=%(refname:short)").split() or [ask("symbolic-ref", "--short", "HEAD")]
    found = remote or next((name for name in _BRANCHES if name in local), "")
    return found if re.fullmatch(r"[\w./-]+", found) else _BRANCHES[0]


def _store_folder() -> str:
    """The folder of runs below this one, as .gitignore names it; empty if the runs are elsewhere."""
    config = find_config()
    root = config.table.get("out", DEFAULT_ROOT) if config and config.path == Path(FILE) else DEFAULT_ROOT
    is_below = isinstance(root, str) and "://" not in root and not Path(root).is_absolute()
    parts = Path(root).parts if is_below else ()
    return f"{'/'.join(parts)}/" if parts and ".." not in parts else ""


def _ignore(path: Path, folder: str, dry_run: bool) -> str:
    """Adds the folder to a .gitignore that does not name it; other lines stay as they are."""
    try:
        if path.is_symlink():
            return f"kept, it is a link: add {folder} yourself"
        text = path.read_bytes() if path.exists() else b""
        names = {line.strip().strip(b"/") for line in text.splitlines()}
        if folder.strip("/").encode() in names:
            return f"kept, it has {folder}"
        if dry_run:
            return f"would get the line {folder}"
        with path.open("ab") as stream:
            stream.write(b"\n" * (bool(text) and not text.endswith(b"\n")) + f"{folder}\n".encode())
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    return f"has the new line {folder}: runs contain questions and answers"


def _write(path: Path, text: str, dry_run: bool) -> str:
    """Writes a new file; a file or link that is already there stays as it is."""
    if dry_run:
        return "kept, it exists" if path.exists() or path.is_symlink() else "would be written"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return "kept, it exists"
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    return "written"
