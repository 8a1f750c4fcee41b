"""Creates ground truth from the samples of a run, and exports versions as files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from ragstone.data.dataset import view_samples
from ragstone.errors import TruthConflictError, UsageError
from ragstone.formats.reader import write_dataset
from ragstone.report.html.run_page import describe_run
from ragstone.storage.runs import Run, read_batches
from ragstone.truth.model import case_from_sample, cases_to_samples
from ragstone.truth.store import Lineage
from ragstone.web.library import Library
from ragstone.web.navigation import truth_address, whole_number
from ragstone.web.truth.rescore import cases_of
from ragstone.web.truth.versions import EXPORTS


def create_page(library: Library, query: Mapping[str, str], run: str) -> dict[str, Any]:
    """The form that asks for the name and author of a new ground truth."""
    return _form(library, library.run(run), query)


def _form(library: Library, run: Run, form: Mapping[str, str], words: str = "", **more: Any) -> dict[str, Any]:
    first = library.asked(run).slice(0, 1).to_pylist()
    return {
        "page": "maketruth",
        "title": f"ground truth from {run.name}",
        "run": describe_run(run),
        "words": words,
        "name": form.get("name", "") or _free_name(library, run.name),
        "author": form.get("author", ""),
        "note": form.get("note", ""),
        "already": cases_of(library, first[0]["id"], first[0]["question"]) if first else [],
        **more,
    }


def create_truth(library: Library, form: Mapping[str, str]) -> dict[str, Any]:
    """Save the samples of a run as the first version of a new ground truth."""
    run = library.run(form.get("run", ""))
    name, author = form.get("name", "").strip(), form.get("author", "").strip()[:200]
    if not author:
        return _form(library, run, form, "Enter an author: every version records one.", status=400)
    samples = [sample for batch in read_batches(run.folder.samples) for sample in view_samples(batch)]
    cases = [case_from_sample(sample) for sample in samples if sample.question]
    if not cases:
        return _form(library, run, form, "This run has no questions, so there are no cases to create.", status=400)
    counts = {"cases": len(cases), "without question": len(samples) - len(cases)}
    note = form.get("note", "").strip()[:2_000] or f"from run {run.id}"
    try:
        library.truth.save(name, cases, author, note, None, Lineage(sources=[f"run {run.id}"], counts=counts))
    except TruthConflictError:
        return _form(library, run, form, f"Ground truth {name} already exists; choose another name.", status=409)
    except UsageError as error:
        return _form(library, run, form, str(error), status=400)
    return {"go": truth_address(name, saved=1), "version": 1}


def export(library: Library, query: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return a version as a file. Sample files contain accepted facts and answers only; cases.parquet contains all."""
    loaded = library.truth.load(name, whole_number(query.get("v")))
    wanted = query.get("as", "") or "jsonl"
    if wanted not in EXPORTS:
        raise UsageError(f"{wanted[:40]} is not an export format. Choose from: {', '.join(EXPORTS)}")
    file_name = f"{name}-v{loaded.info.number}.{wanted}"
    if wanted == "cases.parquet":
        content = library.truth.content(name, loaded.info.number)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, file_name)
            write_dataset(cases_to_samples(loaded.cases).table.to_batches(), path, EXPORTS[wanted])
            with open(path, "rb") as file:
                content = file.read()
    return {"file": content, "called": file_name}


def _free_name(library: Library, wanted: str) -> str:
    name = re.sub(r"[^\w.-]+", "-", wanted).strip("-._")[:60] or "truth"
    taken = set(library.truth.names())
    candidates = (name, *(f"{name}-{number}" for number in range(2, 1_000)))
    return next(candidate for candidate in candidates if candidate not in taken)


VIEWS = {"/runs/{run}/truth": create_page, "/truth/{name}/export": export}
CHANGES = {"/truth": create_truth}
