"""ragstone doctor: installed packages, settings, keys and leftovers of killed processes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.config import find_config
from ragstone.cli.options import option, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.views.phrases import visible

if TYPE_CHECKING:
    from ragstone.storage.leftovers import Leftover

CORE = ("numpy", "pyarrow", "click", "rich", "onnxruntime")
OPTIONAL = {"pandas": "pip install pandas", "polars": "pip install polars", "fsspec": "pip install 'ragstone[fsspec]'"}
OPTIONAL |= dict.fromkeys(("onnx", "tokenizers", "xllamacpp"), "pip install 'ragstone[local]'")
OPTIONAL |= dict.fromkeys(("sacrebleu", "scipy"), "pip install 'ragstone[metrics]'")
OPTIONAL |= {"mcp": "pip install 'ragstone[mcp]'"}
OPTIONAL |= dict.fromkeys(("torch", "transformers"), "pip install torch transformers")
# Names only: a key's value is never shown, not even a part of it.
KEYS = ("OPENAI_API_KEY", "DIAL_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
SETTINGS = (
    *("AWS_REGION", "AWS_DEFAULT_REGION", "RAGSTONE_ROOT", "RAGSTONE_LABELS", "RAGSTONE_MODELS"),
    *("RAGSTONE_CONFIG", "RAGSTONE_DEBUG", "NO_COLOR"),
)


def doctor(
    clean: bool = option(False, "--clean", "Remove leftovers of killed processes."),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Show packages, settings, keys and leftovers of killed processes."""
    leftovers, problem = _find_leftovers(out)
    if clean:
        for leftover in leftovers:
            leftover.remove()
    found = [{"path": str(item.place), "what": item.what, "bytes": item.size_bytes} for item in leftovers]
    state = examine() | {"leftovers": found, "removed": clean, "leftovers_problem": problem}
    if json:
        print_json(state)
    else:
        _print(state, command_line("doctor", clean=True, out=out))
    if not state["healthy"]:
        raise click.exceptions.Exit(1)


def examine() -> dict[str, Any]:
    """The state of this installation, safe to paste into an issue."""
    import platform
    from importlib import metadata

    from ragstone._version import __version__

    def version(package: str) -> str | None:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return None

    core = {package: version(package) for package in CORE}
    config = find_config()
    return {
        "ragstone": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "core": core,
        "optional": {package: version(package) for package in OPTIONAL},
        "keys": {key: bool(os.environ.get(key)) for key in KEYS},
        "settings": {name: os.environ[name] for name in SETTINGS if os.environ.get(name)},
        "config": {"file": str(config.path), "values": _without_urls(config.table)} if config else None,
        # An endpoint may carry a user and a password in its URL.
        "s3_endpoint": bool(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")),
        "healthy": all(core.values()) and sys.version_info >= (3, 11),
    }


def _find_leftovers(root: str) -> tuple[list[Leftover], str | None]:
    """Killed work in the store, the model folder and the temporary folder; and why a store could not be read."""
    from ragstone.errors import StorageError
    from ragstone.models.store import Store
    from ragstone.storage.leftovers import store_leftovers, temporary_leftovers
    from ragstone.storage.places import open_place

    found: list[Leftover] = []
    problems = []
    for search in (lambda: store_leftovers(open_place(root)), Store().leftovers, temporary_leftovers):
        try:
            found += search()
        except StorageError as error:
            problems.append(str(error))
    return found, "; ".join(problems) or None


def _without_urls(table: dict[str, Any]) -> dict[str, Any]:
    """The settings; URLs are only named, as they may contain a password or a token."""
    return {
        key: _without_urls(value) if isinstance(value, dict) else "set" if "://" in str(value) else value
        for key, value in table.items()
    }


def _print(state: dict[str, Any], clean: str) -> None:
    from ragstone.models.large_judge import unused_large_judge

    click.echo(f"ragstone {state['ragstone']}, Python {state['python']}, {state['platform']}")
    for title in ("core", "optional"):
        click.echo(f"\n{title}")
        for package, version in state[title].items():
            missing = f"missing: {OPTIONAL.get(package, f'pip install {package}')}"
            click.echo(f"  {package:<12} {version or missing}")
    if unused := unused_large_judge():
        click.echo(f"\n{unused}")
    click.echo("\nkeys (only whether they are set)")
    for key, is_set in {**state["keys"], "AWS_ENDPOINT_URL": state["s3_endpoint"]}.items():
        click.echo(f"  {key:<22} {'set' if is_set else 'not set'}")
    if state["settings"]:
        click.echo("\nsettings")
    for name, value in state["settings"].items():
        click.echo(f"  {name:<22} {value}")
    if config := state["config"]:
        click.echo(f"\nsettings of {config['file']}")
        for name, value in config["values"].items():
            click.echo(f"  {name:<22} {value}")
    _print_leftovers(state)
    if state["healthy"]:
        click.echo("\nall is well")
        remaining = state["leftovers"] and not state["removed"]
        next_steps((clean, "remove them") if remaining else (command_line("demo"), "evaluate the shipped example"))
    else:
        click.echo("\nsomething is missing, see above")


def _print_leftovers(state: dict[str, Any]) -> None:
    if state["leftovers"]:
        click.echo(f"\n{'removed' if state['removed'] else 'left behind by killed processes'}")
    for item in state["leftovers"]:
        click.echo(f"  {visible(item['path'])}   {item['what']}, {item['bytes']:,} bytes")
    if state["leftovers_problem"]:
        click.echo(f"\nnot searched: {state['leftovers_problem']}")
