"""ragstone diagnose: which part of the system limits quality, and why samples fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.options import DEFAULT_ROOT, Json, Root
from ragstone.cli.stored import RunName, find_run
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.compare.store import Store


def diagnose(
    run: RunName,
    chunks: Annotated[
        str | None,
        typer.Option(
            "--chunks",
            metavar="FILE.jsonl",
            help="All chunks in the splitter's order, as lines with text, id and source: tells facts cut by the splitter from chunks not retrieved.",
            show_default=False,
        ),
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(
            "--documents",
            metavar="FOLDER",
            help="The documents as text files: tells facts that no chunk has from facts that stand nowhere.",
            show_default=False,
        ),
    ] = None,
    out: Root = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Say which part limits quality, retriever or generator, and why each failing sample fails."""
    import shlex

    from ragstone.cli.screen import console
    from ragstone.compare.diagnosis import diagnose as look_into
    from ragstone.report.diagnosis import diagnosis_dict, full_report
    from ragstone.report.plain import to_json, visible

    found = find_run(run, out)
    diagnosis = look_into(found, store=_open_store(chunks, documents))
    if json:
        typer.echo(to_json({"run": found.path, "id": found.id, **diagnosis_dict(diagnosis)}))
    else:
        console().print(full_report(diagnosis, found.name))
        if diagnosis.failing:
            worst = visible(diagnosis.causes[0].examples[0])
            typer.echo(f"\none sample in full: ragstone explain {shlex.quote(found.path)} {shlex.quote(worst)}")


def _open_store(chunks: str | None, documents: str | None) -> Store | None:
    from ragstone.compare.store import Store, read_chunks, read_documents

    if chunks is None and documents is None:
        return None
    if chunks is None:
        raise UsageError("--documents needs --chunks: what stands in a document is lost only if no chunk has it")
    return Store(read_chunks(chunks), read_documents(documents) if documents else ())
