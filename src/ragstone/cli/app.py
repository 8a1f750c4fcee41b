"""The list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone._version import __version__
from ragstone.cli.agree import agree
from ragstone.cli.audit import audit
from ragstone.cli.cache import cache
from ragstone.cli.compare import compare
from ragstone.cli.convert import convert
from ragstone.cli.demo import demo
from ragstone.cli.diagnose import diagnose
from ragstone.cli.doctor import doctor
from ragstone.cli.erag import erag
from ragstone.cli.explain import explain
from ragstone.cli.gate import gate
from ragstone.cli.judge import judge
from ragstone.cli.late import truth
from ragstone.cli.metrics import metrics
from ragstone.cli.models import models
from ragstone.cli.ragchecker import ragchecker
from ragstone.cli.report import report
from ragstone.cli.run import run
from ragstone.cli.stress import stress
from ragstone.cli.train import train
from ragstone.cli.trec import trec
from ragstone.cli.validate import validate
from ragstone.cli.view import view

app = typer.Typer(
    help="The touchstone for retrieval-augmented generation: how good is it, is the new version better, what to fix.",
    no_args_is_help=True,
    add_completion=False,
    # Plain help: loading the pretty one takes three times as long as all the rest.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragstone {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


for command in (
    demo,
    run,
    compare,
    gate,
    view,
    report,
    diagnose,
    explain,
    judge,
    audit,
    agree,
    train,
    metrics,
    convert,
    validate,
    trec,
    ragchecker,
    stress,
    erag,
    models,
    cache,
    doctor,
):
    app.command()(command)

app.add_typer(truth, name="truth")
