"""ragstone truth history: the versions of a ground truth."""

from __future__ import annotations

from ragstone.cli.options import Json
from ragstone.cli.truth.options import DEFAULT_ROOT, Name, TruthRoot, as_day, open_store, print_json
from ragstone.cli.truth.wording import describe_counts


def history(name: Name, out: TruthRoot = DEFAULT_ROOT, json: Json = False) -> None:
    """Show all versions of a ground truth, the newest first: who, when, why, and what changed."""
    from dataclasses import asdict
    from itertools import pairwise

    from ragstone.truth.differences import count_changes, diff

    store = open_store(out)
    store.info(name)
    versions = [store.read(name, info.number) for info in store.versions(name)]
    counts = [count_changes(diff([], versions[0].cases))]
    counts += [count_changes(diff(old.cases, new.cases)) for old, new in pairwise(versions)]
    rows = [(version.info, changed) for version, changed in zip(versions, counts, strict=True)][::-1]
    if json:
        print_json([{**asdict(info), "changes": changed} for info, changed in rows])
        return
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("version", "cases", "saved", "by", "changes", "note"):
        table.add_column(title, justify="right" if title in ("version", "cases") else "left")
    for info, changed in rows:
        cells = (str(info.number), f"{info.rows:,}", as_day(info), info.author, describe_counts(changed), info.note)
        table.add_row(*map(Text, cells))
    console().print(table)
