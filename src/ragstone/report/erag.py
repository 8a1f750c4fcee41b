"""eRAG in the terminal: what the retriever is worth to this generator, how far to believe it, and which chunks hurt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.report.plain import counted, indented, one_line
from ragstone.stress.blame import Share, by_chunk, by_rank, helping, hurting
from ragstone.stress.erag import Agreement, Erag, Label

_MOST_SHOWN = 5
_MOST_RANKS = 20
_EXCERPT = 60


def erag_report(found: Erag) -> RenderableType:
    """Agreement, worth by rank and, where it was asked for, blame; the metrics themselves are the run's."""
    parts: list[RenderableType] = [*_agreements(found), *_ranks(found.labels)]
    if any(label.helps is not None for label in found.labels):
        parts += [*_blame(found.labels), *_repeated(by_chunk(found.labels))]
    return Group(*parts, *_remarks(found))


def _agreements(found: Erag) -> Iterator[RenderableType]:
    yield Text(f"\nagreement with {found.metric} of the whole answer, over questions", style="bold")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(Text("  metric on labels"), no_wrap=True)
    for head in ("Kendall", "95 % interval", "Spearman", "95 % interval", "n"):
        table.add_column(head, justify="right", no_wrap=True)
    names = dict.fromkeys(item.metric for item in found.agreements)
    for name in names:
        pair = {item.coefficient: item for item in found.agreements if item.metric == name}
        cells = [cell for coefficient in ("kendall", "spearman") for cell in _cells(pair[coefficient])]
        table.add_row(Text(f"  {name}"), *cells, str(pair["kendall"].questions))
    yield table
    reasons = dict.fromkeys(item.reason for item in found.agreements if item.reason)
    yield from (Text(f"  not known: {reason}", style="dim") for reason in reasons)


def _cells(item: Agreement) -> tuple[str, str]:
    value = "–" if item.value is None else f"{item.value:.3f}"
    interval = "–" if item.low is None or item.high is None else f"{item.low:.3f} – {item.high:.3f}"
    return value.replace("-", "−"), interval.replace("-", "−")


def _ranks(labels: Sequence[Label]) -> Iterator[RenderableType]:
    shares = by_rank(labels)[:_MOST_RANKS]
    blamed = any(share.helps is not None for share in shares)
    yield Text("\nwhat chunks are worth by their rank", style="bold")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("alone", justify="right", no_wrap=True)
    if blamed:
        table.add_column("lost without it", justify="right", no_wrap=True)
        table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("chunks", justify="right", no_wrap=True)
    for share in shares:
        table.add_row(Text(f"  {share.name}"), _number(share.alone), *_lost(share, blamed), f"{share.chunks:,}")
    yield table


def _lost(share: Share, blamed: bool) -> list[str]:
    if not blamed:
        return []
    interval = "–" if share.low is None or share.high is None else f"{share.low:+.3f} – {share.high:+.3f}"
    return [_signed(share.helps), interval.replace("-", "−")]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def _blame(labels: Sequence[Label]) -> Iterator[RenderableType]:
    for title, found, style in (
        ("chunks that hurt: the answer is better without them", hurting(labels, _MOST_SHOWN), "red"),
        ("chunks that are needed: the answer is worse without them", helping(labels, _MOST_SHOWN), "green"),
    ):
        yield Text(f"\n{title}", style="bold")
        if not found:
            yield Text("  none", style="dim")
            continue
        table = Table(box=None, pad_edge=False, header_style="dim")
        for head in ("  sample", "rank", "chunk", "lost without it", "alone", "text"):
            table.add_column(Text(head), no_wrap=True)
        for label in found:
            table.add_row(
                Text(f"  {one_line(label.question, 20)}"),
                str(label.rank),
                Text(one_line(label.chunk, 20)),
                Text(_signed(label.helps), style=style),
                _number(label.alone),
                Text(one_line(label.text, _EXCERPT)),
            )
        yield table


def _repeated(shares: Sequence[Share]) -> Iterator[RenderableType]:
    harmful = [share for share in shares if share.helps is not None and share.helps < 0][:_MOST_SHOWN]
    if harmful:
        yield Text("\nchunks that hurt several questions on average", style="bold")
    for share in harmful:
        yield Text(f"  {one_line(share.name, 40)}: {_signed(share.helps)} over {counted(share.chunks, 'question')}")


def _remarks(found: Erag) -> Iterator[RenderableType]:
    lines = [f"{counted(len(ids), 'question')} left out: {reason}" for reason, ids in found.left_out.items()]
    if found.unlabelled:
        name, reason = next(iter(found.unlabelled.items()))
        lines.append(
            f"{counted(len(found.unlabelled), 'question')} with a chunk that has no label, as {name}: {reason}"
        )
    if lines:
        yield Text("\nbefore you trust it", style="bold")
    yield from (indented(line) for line in lines)
