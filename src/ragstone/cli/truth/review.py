"""ragstone truth accept and reject: decide on proposed facts and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import DATA, argument, option, shared
from ragstone.cli.output import command_line, next_steps, print_json, remark
from ragstone.cli.truth.options import NAME, author_or_user, open_store
from ragstone.errors import UnknownNameError, UsageError
from ragstone.views.phrases import counted, one_line

if TYPE_CHECKING:
    from ragstone.truth.citations.check import CitationCheck
    from ragstone.truth.review import Choice, Decision, Item
    from ragstone.truth.store import Version

_SHOWN = 20
_NOUNS = {"unanswerable": "unanswerable question"}
_WIDTH = 90
_STATUSES = ("proposed", "accepted", "rejected")
_CASES = argument("[CASE]...", "Ids of cases.", None)
_ALL = option(False, "--all", "Decide on all cases.", DATA)
_KIND = option([], "--kind", "Only this kind: citation, statement, answer, unanswerable. Repeatable.", DATA)
_FACT = option([], "--fact", "Only this fact of the case, by number. Repeatable.", DATA, metavar="N", min=1)
_PROVENANCE = option(
    [], "--provenance", "Only these: synthetic, harvested, judge, manual, system answer. Repeatable.", DATA
)
_LEAST = option(None, "--min-confidence", "Only items at least this certain.", DATA, metavar="SHARE", min=0, max=1)
_MOST = option(None, "--max-confidence", "Only items at most this certain.", DATA, metavar="SHARE", min=0, max=1)
_STATUS = option("proposed", "--status", "Status of the items: proposed, accepted or rejected.", DATA)


def accept(
    name: str = argument("NAME", NAME),
    cases: list[str] = _CASES,
    all: bool = _ALL,
    kind: list[str] = _KIND,
    fact: list[int] = _FACT,
    provenance: list[str] = _PROVENANCE,
    min_confidence: float | None = _LEAST,
    max_confidence: float | None = _MOST,
    status: str = _STATUS,
    not_found: bool = option(False, "--not-found", "Accept citations that are not in their passages, too.", DATA),
    dry_run: bool = shared("dry_run"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Accept proposed facts and answers, as a new version.

    Citations that are not in the passages of their case stay as they are without --not-found.
    """
    from ragstone.truth.review import Choice, Decision, choose, find_lost

    choice = Choice(cases or (), [at - 1 for at in fact], kind, provenance, min_confidence, max_confidence, status)
    version = _read(name, choice, all, out)
    chosen = choose(version.cases, choice)
    lost = {} if not_found else find_lost(version.cases, chosen)
    decision = Decision([item for item in chosen if item not in lost], "accepted")
    _finish(_Outcome(version, decision, lost), None if dry_run else author_or_user(author), note, out, json)


def reject(
    name: str = argument("NAME", NAME),
    cases: list[str] = _CASES,
    all: bool = _ALL,
    kind: list[str] = _KIND,
    fact: list[int] = _FACT,
    provenance: list[str] = _PROVENANCE,
    min_confidence: float | None = _LEAST,
    max_confidence: float | None = _MOST,
    status: str = _STATUS,
    not_found: bool = option(False, "--only-not-found", "Only citations that are not in their passages.", DATA),
    dry_run: bool = shared("dry_run"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Reject proposed facts and answers, as a new version. They stay stored but never count."""
    from ragstone.truth.review import Choice, Decision, choose, find_lost

    choice = Choice(cases or (), [at - 1 for at in fact], kind, provenance, min_confidence, max_confidence, status)
    version = _read(name, choice, all or not_found, out)
    chosen = choose(version.cases, choice)
    if not_found:
        chosen = list(find_lost(version.cases, chosen))
    outcome = _Outcome(version, Decision(chosen, "rejected"), {})
    _finish(outcome, None if dry_run else author_or_user(author), note, out, json)
    accepted = choose(version.cases, replace(choice, standing="accepted")) if cases and status == "proposed" else []
    if kept := sorted({item.case for item in accepted if item.position >= 0}):
        again = command_line("truth", "reject", name, *kept, kind="citation", status="accepted", out=out)
        remark(f"accepted facts of {', '.join(kept)} stay; to reject them: {again}")


@dataclass(frozen=True)
class _Outcome:
    """A decision, and the citations that it leaves out because they are not in the passages."""

    version: Version
    decision: Decision
    lost: Mapping[Item, CitationCheck]

    def as_json(self, saved: str | None) -> dict[str, object]:
        """All decisions, for scripts."""
        return {
            "from": self.version.info.reference,
            "saved": saved,
            self.decision.standing: [_as_json(item) for item in self.decision.items],
            "not_found": [{**_as_json(item), "why": check.why} for item, check in self.lost.items()],
        }


def _read(name: str, choice: Choice, everything: bool, out: str) -> Version:
    """The newest version, if the choice is valid for it."""
    if choice.standing not in _STATUSES:
        raise UsageError(f"--status {choice.standing}: write {', '.join(_STATUSES)}")
    if choice.facts and len(choice.cases) != 1:
        raise UsageError("--fact needs exactly one case: facts are numbered per case")
    if everything and choice.cases:
        raise UsageError("name cases, or choose from all of them with --all or --only-not-found; not both")
    if not (everything or choice.is_limited):
        raise UsageError("name the cases to decide on, or choose with --all, --kind, --provenance or --min-confidence")
    version = open_store(out).read(name)
    known = [case.id for case in version.cases]
    if unknown := [case for case in choice.cases if case not in set(known)]:
        hint = f"`ragstone truth show {version.info.reference}` lists the cases."
        raise UnknownNameError("case", unknown[0], known, hint)
    return version


def _finish(outcome: _Outcome, author: str | None, note: str, out: str, json: bool) -> None:
    """Saves the decision, unless there is no author, and shows it."""
    from ragstone.truth.citers import SURE

    items, standing = outcome.decision.items, outcome.decision.standing
    saved = _save(outcome, author, note, out) if items and author is not None else None
    if json:
        print_json(outcome.as_json(saved))
        return
    if items:
        counts = ", ".join(
            counted(count, _NOUNS.get(kind, kind)) for kind, count in Counter(one.kind for one in items).items()
        )
        click.echo(f"{standing}: {counts}, in {counted(len({item.case for item in items}), 'case')}")
        _show(items)
        doubtful = sum(item.confidence is not None and item.confidence < SURE for item in items)
        if doubtful and standing == "accepted":
            click.echo(f"{doubtful:,} of them less certain than {SURE}: --min-confidence {SURE} leaves these out")
    else:
        click.echo(f"nothing to {standing.removesuffix('ed')} in {outcome.version.info.reference}")
    if outcome.lost:
        click.echo("not in their passages, unchanged (--not-found accepts them, too)")
        _show(outcome.lost, {item: check.why or "" for item, check in outcome.lost.items()})
    if saved:
        click.echo(f"saved as {saved}")
        next_steps((command_line("truth", "diff", saved, out=out), "see the changes"))
    elif items:
        click.echo("nothing was saved (--dry-run)")


def _save(outcome: _Outcome, author: str, note: str, out: str) -> str:
    from ragstone.truth.store import Lineage

    info, decision = outcome.version.info, outcome.decision
    made = open_store(out).save(
        info.name,
        decision.apply(outcome.version.cases),
        author=author,
        note=note or f"{decision.standing} {len(decision.items):,} of {info.reference}",
        parent=info.number,
        lineage=Lineage(sources=[info.reference], counts={decision.standing: len(decision.items)}),
    )
    return made.reference


def _show(items: Iterable[Item], why: Mapping[Item, str] | None = None) -> None:
    listed = list(items)
    for item in listed[:_SHOWN]:
        sure = "" if item.confidence is None else f"  {item.confidence:.2f}"
        click.echo(f"  {one_line(item.case, 40)}  {item.kind}{sure}  {one_line(item.text, _WIDTH)}")
        if why:
            click.echo(f"      {one_line(why[item], _WIDTH)}")
    if len(listed) > _SHOWN:
        click.echo(f"  … and {len(listed) - _SHOWN:,} more: --json lists all")


def _as_json(item: Item) -> dict[str, object]:
    """An item with the number that --fact takes; answers have none."""
    values = asdict(item)
    position = values.pop("position")
    return {**values, "fact": position + 1 if position >= 0 else None}
