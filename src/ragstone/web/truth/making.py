"""Ground truth made from what a run was given, and files made from ground truth."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from ragstone.data.dataset import view_samples
from ragstone.errors import TruthConflictError, UsageError
from ragstone.formats.writer import write_dataset
from ragstone.storage.runs import Run, read_batches
from ragstone.truth.exchange import case_from_sample, cases_to_samples
from ragstone.truth.versions import Lineage
from ragstone.web.library import Library
from ragstone.web.pages.run import about
from ragstone.web.truth.addresses import truth_address
from ragstone.web.truth.beside import cases_of
from ragstone.web.truth.table import EXPORTS, whole


def make_page(library: Library, run: Run, form: Mapping[str, str], words: str = "") -> dict[str, Any]:
    """What to call the ground truth that is made from a run."""
    first = library.asked(run).slice(0, 1).to_pylist()
    return {
        "page": "maketruth",
        "title": f"ground truth from {run.name}",
        "run": about(run),
        "words": words,
        "name": form.get("name", "") or _free_name(library, run.name),
        "author": form.get("author", ""),
        "note": form.get("note", ""),
        "already": cases_of(library, first[0]["id"], first[0]["question"]) if first else [],
    }


def make(library: Library, form: Mapping[str, str]) -> dict[str, Any]:
    """The first version of a ground truth, from the samples of a run."""
    run = library.run(form.get("run", ""))
    name, author = form.get("name", "").strip(), form.get("author", "").strip()[:200]
    if not author:
        return {**make_page(library, run, form, "Say who you are: a version names its author."), "status": 400}
    samples = [sample for batch in read_batches(run.folder.samples) for sample in view_samples(batch)]
    cases = [case_from_sample(sample) for sample in samples if sample.question]
    if not cases:
        return {
            **make_page(library, run, form, "This run has no questions, so there is nothing to know the truth about."),
            "status": 400,
        }
    lineage = Lineage(
        sources=[f"run {run.id}"], counts={"cases": len(cases), "without question": len(samples) - len(cases)}
    )
    note = form.get("note", "").strip()[:2_000] or f"from run {run.id}"
    try:
        library.truth.save(name, cases, author, note, None, lineage)
    except TruthConflictError:
        return {
            **make_page(library, run, form, f"There is a ground truth {name} already; choose another name."),
            "status": 409,
        }
    except UsageError as error:
        return {**make_page(library, run, form, str(error)), "status": 400}
    return {"go": truth_address(name, saved=1), "version": 1}


def export_page(library: Library, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """A version as a file. Samples hold what is accepted alone; the table of cases holds all."""
    held = library.truth.held(name, whole(query.get("v")))
    wanted = query.get("as", "") or "jsonl"
    if wanted not in EXPORTS:
        raise UsageError(f"{wanted[:40]} cannot be written; these can: {', '.join(EXPORTS)}")
    called = f"{name}-v{held.info.number}.{wanted}"
    if wanted == "cases.parquet":
        content = library.truth.content(name, held.info.number)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, called)
            write_dataset(cases_to_samples(held.cases).table.to_batches(), path, EXPORTS[wanted])
            with open(path, "rb") as file:
                content = file.read()
    return {"file": content, "called": called}


def _free_name(library: Library, wanted: str) -> str:
    name = re.sub(r"[^\w.-]+", "-", wanted).strip("-._")[:60] or "truth"
    taken = set(library.truth.names())
    return next(found for found in (name, *(f"{name}-{number}" for number in range(2, 1_000))) if found not in taken)
