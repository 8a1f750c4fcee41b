"""Shared steps of the ground truth commands: open a version, describe changes and calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.cli.output import console, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.cli.options import Reading
    from ragstone.llm.wrappers import Call
    from ragstone.truth.model import Case
    from ragstone.truth.store import TruthStore, Version, VersionInfo

NAME = "Name of a ground truth."
REFERENCE = "Ground truth: the newest version, or version N."
NAME_OR_DATA = "Ground truth, or data with contexts: file, folder or URL."


def open_store(root: str) -> TruthStore:
    """The ground truth store under a root."""
    from ragstone.truth.store import TruthStore

    return TruthStore(root)


def read_version(reference: str, root: str) -> Version:
    """The version of a reference such as `harbour@2`."""
    from ragstone.truth.store import parse_reference

    return open_store(root).read(*parse_reference(reference))


def author_or_user(author: str | None) -> str:
    """The named author, or the user name."""
    import getpass

    if author:
        return author
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user of a container may have no name
        return "unknown"


def as_day(info: VersionInfo) -> str:
    """The time at which a version was saved, to the minute."""
    return info.created_at[:16].replace("T", " ")


def show_quote(name: str, calls: Sequence[Call], concurrency: int, json: bool) -> None:
    """Prints the estimated cost; cached replies cost nothing."""
    from dataclasses import asdict

    from ragstone.engine.quote import sum_calls
    from ragstone.report.quote import line_report

    line = sum_calls(name, [call for call in calls if not call.cached], concurrency)
    if json:
        print_json(asdict(line))
    else:
        console().print(line_report(line))


def describe_calls(calls: Sequence[Call]) -> str:
    """Number of calls, of cached replies, and the cost."""
    asked = [call for call in calls if call.is_made]
    cached = sum(call.cached for call in calls)
    # A failed call costs nothing, a rejected reply does.
    costs = [call.cost_usd for call in asked if call.error is None or call.cost_usd is not None]
    cost = (
        "cost unknown" if any(value is None for value in costs) else f"{sum(value or 0.0 for value in costs):.4f} usd"
    )
    return f"{len(asked):,} calls, {cached:,} replies from the cache, {cost}" if calls else "no calls"


class Sourced(NamedTuple):
    """Cases with passages, their name, and the stored version that they come from, if any."""

    cases: list[Case]
    name: str
    stored: str | None
    number: int | None


def read_named(reference: str, root: str, reading: Reading) -> Sourced:
    """The cases of the stored ground truth of that name, otherwise of a data set."""
    from ragstone.errors import UsageError
    from ragstone.truth.store import parse_reference

    try:
        name, number = parse_reference(reference)
        is_stored = open_store(root).newest(name) is not None
    except UsageError:  # a path is not a name
        is_stored = False
    if is_stored:
        version = open_store(root).read(name, number)
        return Sourced(version.cases[: reading.limit], version.info.reference, name, version.info.number)
    from ragstone.formats import open_reader
    from ragstone.truth.model import read_sourced

    reader = open_reader(reference, *reading)
    return Sourced(read_sourced(reader), reader.name, None, None)


def describe_counts(counts: Mapping[str, int]) -> str:
    """Counts of changes as text; zero counts are left out."""
    cases = [f"{counts[kind]:,} {kind}" for kind in ("added", "removed", "changed") if counts[kind]]
    facts = [f"{counts[f'facts_{kind}']:,} {kind}" for kind in ("gained", "lost", "changed") if counts[f"facts_{kind}"]]
    parts = [f"cases: {', '.join(cases)}" if cases else "", f"facts: {', '.join(facts)}" if facts else ""]
    return "; ".join(filter(None, parts)) or "nothing"


def one_line(value: Any) -> str:
    """A value as one line."""
    from ragstone.truth.model import Case, TruthFact

    if isinstance(value, Case):
        return f"{value.question}  [{' / '.join(value.references)}]"
    if isinstance(value, TruthFact):
        details = [value.standing, value.provenance, *filter(None, [value.importance, value.source, value.note])]
        return f"{value.text}  [{', '.join(details)}]"
    if isinstance(value, list):
        return " / ".join(getattr(item, "text", None) or str(item) for item in value)
    return str(value)
