"""ragstone diagnose: which part of the system limits quality, and why samples fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.cli.find_run import find_run
from ragstone.cli.options import DATA, RUN, argument, option, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.compare.indexed_corpus import Store


def diagnose(
    run: str = argument("RUN", RUN),
    chunks: str | None = option(
        None,
        "--chunks",
        "All chunks in the splitter's order, with text, id and source: separates split facts from missed chunks.",
        DATA,
        metavar="FILE.jsonl",
    ),
    documents: list[str] = shared("documents"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Find what limits quality and why samples fail."""
    from ragstone.cli.screen import console
    from ragstone.compare.diagnosis import diagnose as diagnose_run
    from ragstone.report.diagnosis import diagnosis_dict, full_report, sample_labels

    stored = find_run(run, out)
    diagnosis = diagnose_run(stored, store=_open_store(chunks, documents))
    if json:
        print_json({"run": stored.path, "id": stored.id, **diagnosis_dict(diagnosis)})
        return
    console().print(full_report(diagnosis, stored.name, sample_labels(stored)))
    if diagnosis.failing:
        worst = diagnosis.causes[0].examples[0]
        next_steps((command_line("explain", stored.path, worst), "one sample in full"))
    else:
        next_steps((command_line("view", out), "look at the samples in a browser"))


def _open_store(chunks: str | None, documents: list[str]) -> Store | None:
    from ragstone.compare.indexed_corpus import open_store

    if chunks is None and documents:
        raise UsageError("--documents needs --chunks: a fact of a document is lost only if no chunk contains it")
    return None if chunks is None else open_store(chunks, documents)
