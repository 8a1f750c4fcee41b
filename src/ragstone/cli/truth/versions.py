"""ragstone truth list, show, history, import and export: versions of ground truth."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import Reading, argument, data_argument, option, reading_options, shared, sources
from ragstone.cli.output import command_line, find_run, next_steps, noting, print_json, print_table, remark
from ragstone.cli.truth.options import (
    NAME,
    REFERENCE,
    as_day,
    author_or_user,
    describe_counts,
    open_store,
    read_version,
)
from ragstone.errors import UnknownColumnsError, UnknownNameError, UsageError
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from ragstone.truth.model import Case
    from ragstone.truth.store import Version

_CASES_SHOWN = 20


def show(
    reference: str = argument("NAME[@N]", REFERENCE),
    case: str | None = argument("[CASE]", "Id of a case to show in full.", None),
    named: str | None = option(None, "--case", "The same as CASE.", metavar="ID"),
    limit: int | None = shared("limit"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Show a version: origin, cases, or one case in full."""
    version, case = read_version(reference, out), case or named
    chosen = version.cases if case is None else [_find(version, case)]
    if json:
        print_json({**asdict(version.info), "cases": [asdict(item) for item in chosen[:limit]]})
        return
    if case is not None:
        _show_case(chosen[0])
    else:
        _show_version(version, limit or _CASES_SHOWN)
    next_steps(_next_step(reference, version.cases, out))


def _find(version: Version, name: str) -> Case:
    for case in version.cases:
        if case.id == name:
            return case
    known = [case.id for case in version.cases]
    hint = f"`ragstone truth show {version.info.reference}` lists the cases."
    raise UnknownNameError("case", name, known, hint)


def _next_step(reference: str, cases: list[Case], out: str) -> tuple[str, str]:
    """Facts have citations to check; cases without right answers score nothing."""
    if any(case.facts for case in cases):
        return command_line("truth", "check", reference, out=out), "check the citations"
    if not any(case.references or case.relevance or case.answerable is False for case in cases):
        return command_line("view", out), "write the right answers: no case has one yet"
    return command_line("run", "DATA", truth=reference, out=out), "score answers against it"


def _show_version(version: Version, most: int) -> None:
    click.echo("\n".join(_about(version)))
    titles = ("id", "question", "reference", "facts", "proposed")
    rows = []
    for case in version.cases[:most]:
        proposed = sum(fact.standing == "proposed" for fact in case.facts)
        answer = " / ".join(case.references) or ("(unanswerable)" if case.answerable is False else "")
        texts = (case.id, case.question, answer + _standing(case))
        rows.append((*texts, str(len(case.accepted_facts)), str(proposed or "")))
    click.echo("")
    print_table(titles, rows, right=("facts", "proposed"))
    if len(version.cases) > most:
        click.echo(f"… and {len(version.cases) - most:,} more; -n shows more, the id of a case one in full")


def _about(version: Version) -> list[str]:
    info, facts = version.info, [fact for case in version.cases for fact in case.facts]
    standing = Counter(fact.standing for fact in facts)
    provenance = Counter(fact.provenance for fact in facts)
    cases = Counter(case.provenance for case in version.cases)
    lines = {
        "saved": f"{as_day(info)} by {info.author}" + (f", from version {info.parent}" if info.parent else ""),
        "note": info.note,
        "cases": f"{info.rows:,}" + _details(cases),
        "facts": f"{len(facts):,}" + _details(standing, provenance),
        # A source is a text, or a table with a path.
        "from": ", ".join(str(one.get("path", one) if isinstance(one, dict) else one) for one in info.lineage.sources),
        "tools": ", ".join(f"{tool} {name}" for tool, name in info.lineage.tools.items() if isinstance(name, str)),
        "counts": ", ".join(_counted(name, count) for name, count in info.lineage.counts.items() if count),
    }
    return [info.reference, *(f"  {label:<8} {text}" for label, text in lines.items() if text)]


def _counted(name: str, count: Any) -> str:
    """A count with its name; nested counts are summed, --json shows them all."""
    named = name.replace("_", " ")
    if isinstance(count, dict) and all(isinstance(part, int) for part in count.values()):
        return f"{named} {sum(count.values()):,}"
    return f"{named} {len(count):,}" if isinstance(count, dict | list) else f"{named} {count:,}"


def _details(*counted: dict[str, int]) -> str:
    details = [", ".join(f"{count:,} {name}" for name, count in counts.items()) for counts in counted if counts]
    return f" ({'; '.join(details)})" if details else ""


def _standing(case: Case) -> str:
    """The status of an answer that is not accepted."""
    answer = case.references or case.answerable is False
    return f"  [{case.standing}]" if answer and case.standing != "accepted" else ""


def _show_case(case: Case) -> None:
    click.echo(f"{case.id}  {case.question}")
    for label, texts in (("reference", case.references), ("document", case.documents)):
        standing = _standing(case) if label == "reference" else ""
        for text in texts:
            click.echo(f"  {label:<10} {text}{standing}")
    for fact in case.facts:
        details = [fact.standing, fact.provenance, *([f"from {fact.source}"] if fact.source else [])]
        details += [f"{fact.confidence:.0%} sure"] if fact.confidence is not None else []
        click.echo(f"  fact       {fact.text}  [{', '.join(details)}]{f'  {fact.note}' if fact.note else ''}")
    standing = "" if case.references else _standing(case)
    lines = {
        "passages": len(case.passages) or None,
        "relevance": case.relevance or None,
        "answerable": None if case.answerable is None else f"{case.answerable}{standing}",
        "weight": case.weight,
        "provenance": case.provenance,
        "metadata": case.metadata or None,
    }
    for label, value in lines.items():
        if value is not None:
            click.echo(f"  {label:<10} {value}")


def list_(out: str = shared("out"), json: bool = shared("json")) -> None:
    """List every ground truth with its newest version."""
    store = open_store(out)
    newest = [store.info(name) for name in store.names()]
    if json:
        print_json([asdict(info) for info in newest])
        return
    if not newest:
        click.echo(f"there is no ground truth under {out}")
        next_steps((command_line("truth", "import", "FILE", "NAME", out=out), "create one from data"))
        return
    rows = [(info.name, str(info.number), f"{info.rows:,}", as_day(info), info.author, info.note) for info in newest]
    print_table(("name", "version", "cases", "saved", "by", "note"), rows, right=("version", "cases"))
    next_steps((command_line("truth", "show", newest[0].name, out=out), "show its cases"))


def history(name: str = argument("NAME", NAME), out: str = shared("out"), json: bool = shared("json")) -> None:
    """List all versions of a ground truth, newest first: author, time, reason, changes."""
    from ragstone.truth.diff import count_changes, diff

    store = open_store(out)
    store.info(name)
    versions = [store.read(name, info.number) for info in store.versions(name)]
    counts = [count_changes(diff(old, new)) for old, new in pairwise([[], *(one.cases for one in versions)])]
    rows = [(version.info, changed) for version, changed in zip(versions, counts, strict=True)][::-1]
    if json:
        print_json([{**asdict(info), "changes": changed} for info, changed in rows])
        return
    cells = [
        (str(info.number), f"{info.rows:,}", as_day(info), info.author, describe_counts(changed), info.note)
        for info, changed in rows
    ]
    print_table(("version", "cases", "saved", "by", "changes", "note"), cells, right=("version", "cases"))
    newest = rows[0][0]
    step = "show" if newest.parent is None else "diff"
    next_steps((command_line("truth", step, newest.reference, out=out), "look at the newest version"))


def import_(
    data: list[str] = data_argument(),
    name: str = argument("NAME", NAME),
    reading: Reading = reading_options(),
    replace: bool = option(False, "--replace", "Remove cases that are not in the data."),
    log: str | None = option(None, "--questions", "Run or file with the questions, by id.", metavar="RUN|FILE"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    quiet: bool = shared("quiet"),
) -> None:
    """Store data as ground truth: the first version of a name, or the next one."""
    from ragstone.formats import open_reader, read_dataset
    from ragstone.truth.diff import count_changes, diff
    from ragstone.truth.model import read_cases, update_cases
    from ragstone.truth.store import Lineage

    store = open_store(out)
    parent = store.newest(name)
    earlier = [] if parent is None else store.read(name, parent).cases
    try:
        reader = open_reader(sources(data), *reading)
    except UnknownColumnsError as error:
        # What looks like an answer is the right one here.
        old, new = (" --map answer=COLUMN", "") if "references=" in str(error) else ("answer=", "references=")
        words = [word.replace(old, new) for word in (str(error), *error.options)]
        words += ["--questions", "RUN"] if log is None and words[1:] and "question=" not in words[0] else []
        raise UnknownColumnsError(words[0], words[1:]) from error
    asked = () if log is None else read_dataset(log) if os.path.isfile(log) else find_run(log, out).samples
    found = read_cases(reader, asked)
    cases = update_cases(earlier, found, replace)
    for text in [*reader.report.notes, *found.notes]:
        noting(quiet)(text)
    counts = count_changes(diff(earlier, cases))
    if parent is not None and not any(counts.values()):
        click.echo(f"nothing changed: {name}@{parent} already contains {reader.name}")
        return
    if not any(case.references or case.facts or case.relevance or case.answerable is False for case in cases):
        noting(quiet)("no case has a reference, a fact or relevance. Map the right answers: --map references=COLUMN")
    lineage = Lineage(sources=[{"path": reader.name, "format": reader.format.name}], counts=counts)
    info = store.save(name, cases, author=author_or_user(author), note=note, parent=parent, lineage=lineage)
    if not quiet:
        click.echo(f"{info.reference}: {info.rows:,} cases ({describe_counts(counts)}), saved under {out}")
        next_steps(_next_step(name, cases, out))


_FILES = (".jsonl", ".parquet", ".csv")


def export(
    reference: str = argument("NAME[@N]", REFERENCE),
    target: str | None = argument("[TARGET]", "File to write: .jsonl, .parquet or .csv; a folder for dial.", None),
    to: str = shared("to_format"),
    out: str = shared("out"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write ground truth in another format, with accepted facts only."""
    from ragstone.formats import write_dataset
    from ragstone.truth.model import cases_to_samples
    from ragstone.truth.review import Choice, choose

    if target is None:
        # A user may have named the file with -o.
        file = out if out.endswith(_FILES) else "truth.csv"
        raise UsageError(
            f"name the file after the ground truth: ragstone truth export {reference} {file}; -o is the root of the store"
        )
    version = read_version(reference, out)
    rows = write_dataset(cases_to_samples(version.cases).table.to_batches(), target, to)
    if not quiet:
        click.echo(f"{counted(rows, 'case')} of {version.info.reference}, written to {target}")
        if left := len(choose(version.cases, Choice())):
            accept = command_line("truth", "accept", version.info.name, all=True, out=out)
            remark(f"{left:,} proposed references and facts are left out: read them in `ragstone view`, or {accept}")
        next_steps((command_line("truth", "import", target, "NAME"), "store it again after editing"))
