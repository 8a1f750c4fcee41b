"""Downloads: a run, a filtered table or a sample as one HTML file, and a sample as Markdown for an issue.

The files name no folder and no machine: error messages of a judge may contain both.
"""

from __future__ import annotations

import os
import re
from html import escape
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from starlette.datastructures import QueryParams

from ragstone.report.html.run_page import read_cells, run_html, sample_html
from ragstone.report.sample_markdown import Nearest, sample_markdown
from ragstone.storage.runs import Run, read_batches
from ragstone.storage.scores import unless_nan
from ragstone.views.marks import FULL, Limits
from ragstone.views.sample import SampleView, sample_view
from ragstone.web.evidence_links import EvidenceLinks
from ragstone.web.library import Library
from ragstone.web.pages.run import judgements_of, read_state
from ragstone.web.pages.sample import read_sample
from ragstone.web.run_index import RunIndex, TableState

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME = 60
_ADDRESS = re.compile(r"https?://(?:[^\s/@]+@)?([^\s/:'\"<>]+)|((?:[\w-]+\.)+[\w-]+|localhost)(?=:\d)|host='([^']+)'")


def run_file(library: Library, query: QueryParams, run: str) -> dict[str, Any]:
    """A run as one file. The query is that of its table: a filter or another order selects the samples in the file."""
    found = library.run(run)
    index = library.index(found)
    state = read_state(index, query).but(size=TableState.size, columns=())
    selected = None
    if state != TableState():
        order, _ = index.select(state, judgements_of(library, index))
        selected = [int(row) for row in order]
    name = file_name(found.name, "selected" if selected is not None else "")
    return _file(library, found, run_html(found, selected=selected), f"{name}.html")


def sample_file(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """A sample as one HTML file."""
    del query
    index = library.index(library.run(run))
    view, _ = _read(index, row)
    return _file(library, index.run, sample_html(view, index.run.name), f"{file_name(index.run.name, view.id)}.html")


def sample_issue(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """A sample as Markdown."""
    del query
    index = library.index(library.run(run))
    view, links = _read(index, row)
    keys = [f"{group.whose}-{claim.number}" for group in view.claims for claim in group.rows]
    keys += [f"fact-{fact.number}" for fact in view.facts]
    quotes = {key: links.quotes(key) for key in keys}
    nearest = {key: Nearest(found[0]["rank"], found[0]["text"]) for key, found in quotes.items() if found}
    better = {metric.metric: metric.better for metric in index.metrics}
    text = sample_markdown(view, index.run.name, nearest, better)
    return _file(library, index.run, text, f"{file_name(index.run.name, view.id)}.md")


def _read(index: RunIndex, row: str) -> tuple[SampleView, EvidenceLinks]:
    """A sample in full with its scores, and the sentences that are linked to its claims."""
    at, case, outcome = read_sample(index, row, index.run.info.evidence)
    cells = read_cells(index.run, [case.sample.id]).get(case.sample.id, [])
    quality = unless_nan(index.quality[at - 1])
    view = sample_view(at, case, outcome, cells, Limits(FULL, embed=True), quality=quality)
    return view, EvidenceLinks(case, outcome, FULL)


def file_name(*parts: str) -> str:
    """A name that is safe in every file system, from texts of any kind."""
    words = (_UNSAFE.sub("-", part)[:_MAX_NAME].strip("-.") for part in parts)
    return "-".join(word for word in words if word) or "ragstone"


def _hosts(run: Run) -> set[str]:
    """The host names in the messages of failed scores and in the names of judges."""
    messages = {str(run.info.get("judge"))}
    for batch in read_batches(run.folder.scores, ["status", "reason"]):
        failed = batch.filter(pc.equal(batch["status"].cast("string"), "failed"))
        messages.update(map(str, failed["reason"].unique().to_pylist()))
    return {host for message in messages for found in _ADDRESS.findall(message) for host in found if host}


def _file(library: Library, run: Run, text: str, name: str) -> dict[str, Any]:
    """A download without the folders of this machine and without host names, which messages of failed scores may name."""
    for host in map(re.escape, sorted(_hosts(run), key=len, reverse=True)):
        # A single word may also be a word of a text: it is a host only with a scheme or a port.
        alone = rf"|{host}" if re.search(r"[.\d-]", host) else ""
        text = re.sub(
            rf"(?<![\w.-])(?:https?://(?:[^\s/]+(?:@|&#64;))?{host}(?::\d+)?|{host}:\d+{alone})(?![\w-])", "…", text
        )
    root = str(library.root)
    folders = {
        root,
        os.path.realpath(library.root.path) if library.root.is_local else root,
        str(Path.home()),
        os.getcwd(),
    }
    for folder in sorted((one for one in folders if len(one) > 1), key=len, reverse=True):
        for written in {folder, escape(folder)}:
            text = text.replace(written, "…")
    return {"file": text.encode("utf-8", "replace"), "called": name}


VIEWS = {
    "/runs/{run}/page.html": run_file,
    "/runs/{run}/samples/{row}/page.html": sample_file,
    "/runs/{run}/samples/{row}/issue.md": sample_issue,
}
