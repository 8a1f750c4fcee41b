"""ragstone truth show: what a version of ground truth holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import Json, Limit
from ragstone.cli.truth.options import DEFAULT_ROOT, Reference, TruthRoot, as_day, print_json, read_version
from ragstone.errors import UnknownNameError

if TYPE_CHECKING:
    from ragstone.truth.cases import Case
    from ragstone.truth.versions import Version

_CASES_SHOWN = 20


def show(
    reference: Reference,
    case: Annotated[
        str | None, typer.Option("--case", metavar="ID", help="Show one case in full.", show_default=False)
    ] = None,
    limit: Limit = None,
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Show a version of ground truth: where it came from, its cases, or one case in full."""
    from dataclasses import asdict

    version = read_version(reference, out)
    chosen = version.cases if case is None else [_find(version, case)]
    if json:
        print_json({**asdict(version.info), "cases": [asdict(item) for item in chosen[:limit]]})
    elif case is not None:
        _show_case(chosen[0])
    else:
        _show_version(version, limit or _CASES_SHOWN)


def _find(version: Version, name: str) -> Case:
    for case in version.cases:
        if case.id == name:
            return case
    known = [case.id for case in version.cases]
    hint = f"`ragstone truth show {version.info.reference}` lists the cases."
    raise UnknownNameError("case", name, known, hint)


def _show_version(version: Version, most: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console

    typer.echo("\n".join(_about(version)))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "question", "reference", "facts", "proposed"):
        table.add_column(title, justify="right" if title in ("facts", "proposed") else "left", no_wrap=title == "id")
    for case in version.cases[:most]:
        proposed = sum(fact.standing == "proposed" for fact in case.facts)
        cells = (
            case.id,
            case.question,
            " / ".join(case.references) + _waits(case),
            str(len(case.accepted_facts)),
            str(proposed or ""),
        )
        table.add_row(*map(Text, cells))
    screen = console()
    screen.print()
    screen.print(table)
    if len(version.cases) > most:
        typer.echo(f"… and {len(version.cases) - most:,} more; -n shows more of them, --case ID one in full")


def _about(version: Version) -> list[str]:
    from collections import Counter

    info, facts = version.info, [fact for case in version.cases for fact in case.facts]
    standing = Counter(fact.standing for fact in facts)
    provenance = Counter(fact.provenance for fact in facts)
    cases = Counter(case.provenance for case in version.cases)
    said = {
        "saved": f"{as_day(info)} by {info.author}" + (f", from version {info.parent}" if info.parent else ""),
        "note": info.note,
        "cases": f"{info.rows:,}" + _told(cases),
        "facts": f"{len(facts):,}" + _told(standing, provenance),
        "from": ", ".join(map(_source, info.lineage.sources)),
        "tools": ", ".join(f"{tool} {name}" for tool, name in info.lineage.tools.items() if isinstance(name, str)),
        "counts": ", ".join(_counted(name, count) for name, count in info.lineage.counts.items() if count),
    }
    return [info.reference, *(f"  {label:<8} {text}" for label, text in said.items() if text)]


def _source(source: Any) -> str:
    """A source is a text, or says its path and more."""
    return str(source["path"]) if isinstance(source, dict) and "path" in source else str(source)


def _counted(name: str, count: Any) -> str:
    """A count with its name; of counts within counts their number, --json has them all."""
    named = name.replace("_", " ")
    if isinstance(count, dict) and all(isinstance(part, int) for part in count.values()):
        return f"{named} {sum(count.values()):,}"
    return f"{named} {len(count):,}" if isinstance(count, dict | list) else f"{named} {count:,}"


def _told(*counted: dict[str, int]) -> str:
    told = [", ".join(f"{count:,} {name}" for name, count in counts.items()) for counts in counted if counts]
    return f" ({'; '.join(told)})" if told else ""


def _waits(case: Case) -> str:
    """How references stand that nobody has accepted."""
    return f"  [{case.standing}]" if case.references and case.standing != "accepted" else ""


def _show_case(case: Case) -> None:
    typer.echo(f"{case.id}  {case.question}")
    for label, texts in (("reference", case.references), ("document", case.documents)):
        waits = _waits(case) if label == "reference" else ""
        for text in texts:
            typer.echo(f"  {label:<10} {text}{waits}")
    for fact in case.facts:
        told = [fact.standing, fact.provenance, *([f"from {fact.source}"] if fact.source else [])]
        told += [f"{fact.confidence:.0%} sure"] if fact.confidence is not None else []
        typer.echo(f"  fact       {fact.text}  [{', '.join(told)}]{f'  {fact.note}' if fact.note else ''}")
    said = {
        "passages": len(case.passages) or None,
        "relevance": case.relevance or None,
        "answerable": case.answerable,
        "weight": case.weight,
        "provenance": case.provenance,
        "metadata": case.metadata or None,
    }
    for label, value in said.items():
        if value is not None:
            typer.echo(f"  {label:<10} {value}")
