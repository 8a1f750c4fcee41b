"""ragstone truth: ground truth, one file per command."""

from __future__ import annotations

import typer

from ragstone.cli.truth.check import check
from ragstone.cli.truth.collect import collect
from ragstone.cli.truth.diff import diff
from ragstone.cli.truth.estimate import estimate
from ragstone.cli.truth.export import export
from ragstone.cli.truth.extract import extract
from ragstone.cli.truth.harvest import harvest
from ragstone.cli.truth.history import history
from ragstone.cli.truth.importing import import_
from ragstone.cli.truth.listing import list_
from ragstone.cli.truth.merge import merge
from ragstone.cli.truth.rescore import rescore
from ragstone.cli.truth.show import show
from ragstone.cli.truth.signals import signals
from ragstone.cli.truth.suspects import suspects
from ragstone.cli.truth.synthesise import synthesise

# How the group itself looks is said where it is loaded from: cli/late.py.
truth = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

truth.command("list")(list_)
truth.command()(show)
truth.command()(history)
truth.command()(diff)
truth.command("import")(import_)
truth.command()(merge)
truth.command()(export)
truth.command()(rescore)
truth.command()(suspects)
truth.command()(estimate)
truth.command()(check)
truth.command()(collect)
truth.command()(extract)
truth.command()(signals)
truth.command()(harvest)
truth.command()(synthesise)
