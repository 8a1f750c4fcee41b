"""ragstone doctor: what is installed, what is missing, which keys are set."""

from __future__ import annotations

import os
import sys

import typer

from ragstone.cli.options import Json

CORE = ("numpy", "scipy", "pyarrow", "typer", "rich")
OPTIONAL = {"pandas": "pip install pandas", "polars": "pip install polars", "fsspec": "pip install 'ragstone[fsspec]'"}
OPTIONAL |= dict.fromkeys(("onnxruntime", "tokenizers", "onnx", "xllamacpp"), "pip install 'ragstone[local]'")
OPTIONAL |= dict.fromkeys(("torch", "transformers"), "pip install torch transformers")
# Names only: a key's value is never shown, not even a part of it.
KEYS = ("OPENAI_API_KEY", "DIAL_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
SETTINGS = ("AWS_REGION", "AWS_DEFAULT_REGION", "RAGSTONE_ROOT", "RAGSTONE_MODELS", "RAGSTONE_DEBUG", "NO_COLOR")


def doctor(json: Json = False) -> None:
    """Show what is installed, which extras are missing, and which keys are set, without showing them."""
    import json as json_module

    found = examine()
    if json:
        typer.echo(json_module.dumps(found, indent=2))
    else:
        _print(found)
    if not found["healthy"]:
        raise typer.Exit(1)


def examine() -> dict[str, object]:
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
    return {
        "ragstone": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "core": core,
        "optional": {package: version(package) for package in OPTIONAL},
        "keys": {key: bool(os.environ.get(key)) for key in KEYS},
        "settings": {name: os.environ[name] for name in SETTINGS if os.environ.get(name)},
        # An endpoint may carry a user and a password in its URL.
        "s3_endpoint": bool(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")),
        "healthy": all(core.values()) and sys.version_info >= (3, 11),
    }


def _print(found: dict[str, object]) -> None:
    typer.echo(f"ragstone {found['ragstone']}, Python {found['python']}, {found['platform']}")
    for title, key in (("core", "core"), ("optional", "optional")):
        typer.echo(f"\n{title}")
        packages = found[key]
        assert isinstance(packages, dict)  # noqa: S101  (for the type checker)
        for package, version in packages.items():
            missing = f"missing: {OPTIONAL.get(package, f'pip install {package}')}"
            typer.echo(f"  {package:<12} {version or missing}")
    typer.echo("\nkeys (only whether they are set)")
    keys, settings = found["keys"], found["settings"]
    assert isinstance(keys, dict)  # noqa: S101
    assert isinstance(settings, dict)  # noqa: S101
    for key, is_set in {**keys, "AWS_ENDPOINT_URL": found["s3_endpoint"]}.items():
        typer.echo(f"  {key:<22} {'set' if is_set else 'not set'}")
    if settings:
        typer.echo("\nsettings")
    for name, value in settings.items():
        typer.echo(f"  {name:<22} {value}")
    typer.echo("\nall is well" if found["healthy"] else "\nsomething is missing, see above")
