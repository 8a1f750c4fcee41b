"""ragstone truth export: ground truth in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import Quiet
from ragstone.cli.truth.options import DEFAULT_ROOT, Reference, TruthRoot, read_version
from ragstone.errors import UsageError

_FILES = (".jsonl", ".parquet", ".csv")


def export(
    reference: Reference,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="The file to write: .jsonl, .parquet or .csv for our own names; a folder for dial.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="The format to write: ragstone, ragchecker or dial.")
    ] = "ragstone",
    out: TruthRoot = DEFAULT_ROOT,
    quiet: Quiet = False,
) -> None:
    """Write ground truth in another format: accepted facts only, which is what is scored."""
    from ragstone.formats import write_dataset
    from ragstone.truth.exchange import cases_to_samples

    if target is None:
        raise UsageError(
            f"where to? Write the file after the name: ragstone truth export {reference} {_meant(out)}; "
            "-o names the root under which the ground truth is stored"
        )
    version = read_version(reference, out)
    samples = cases_to_samples(version.cases)
    rows = write_dataset(samples.table.to_batches(), target, to)
    if not quiet:
        typer.echo(f"{rows:,} case{'s' if rows != 1 else ''} of {version.info.reference}, written to {target}")


def _meant(out: str) -> str:
    """The file that somebody named with -o, who took it for the target; else one for instance."""
    return out if out.endswith(_FILES) else "truth.csv"
