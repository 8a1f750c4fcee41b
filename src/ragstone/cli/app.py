"""The commands of `ragstone`, in the groups in which `--help` shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from ragstone._version import __version__
from ragstone.cli.agree import agree
from ragstone.cli.audit import audit
from ragstone.cli.batches import batches
from ragstone.cli.cache import cache
from ragstone.cli.compare import compare
from ragstone.cli.config import reads_config
from ragstone.cli.convert import convert
from ragstone.cli.demo import demo
from ragstone.cli.diagnose import diagnose
from ragstone.cli.doctor import doctor
from ragstone.cli.erag import erag
from ragstone.cli.explain import explain
from ragstone.cli.fuse import fuse
from ragstone.cli.gate import gate
from ragstone.cli.help import COMPARE, EVALUATE, JUDGES, STRESS, TOOLS, TRUTH, PanelCommand, PanelGroup
from ragstone.cli.init import init
from ragstone.cli.judge import judge
from ragstone.cli.judge_check import judge_check
from ragstone.cli.metrics import metrics
from ragstone.cli.models import models
from ragstone.cli.pool import pool
from ragstone.cli.pull import pull
from ragstone.cli.push import push
from ragstone.cli.ragchecker import ragchecker
from ragstone.cli.receive import receive
from ragstone.cli.report import report
from ragstone.cli.run import run
from ragstone.cli.stress import stress
from ragstone.cli.sweep import sweep
from ragstone.cli.train import train
from ragstone.cli.trec import trec
from ragstone.cli.validate import validate
from ragstone.cli.view import view
from ragstone.cli.watch import watch

COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    EVALUATE: (demo, init, run, watch, view, diagnose, explain),
    COMPARE: (compare, gate, sweep, report),
    TRUTH: (),
    JUDGES: (judge, judge_check, audit, agree, train),
    STRESS: (stress, erag),
    TOOLS: (
        *(metrics, validate, convert, pull, push, receive),
        *(models, cache, batches, doctor, trec, fuse, pool, ragchecker),
    ),
}
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class TruthGroup(PanelGroup):
    """The commands of `ragstone truth`, loaded at first use so that `ragstone --help` stays fast."""

    _loaded: dict[str, Any] | None = None

    @property
    def commands(self) -> Any:
        """The commands by name."""
        if self._loaded is None:
            from typer.main import get_command

            from ragstone.cli.truth import COMMANDS as TRUTH_COMMANDS

            group = _make_group()
            for panel, commands in TRUTH_COMMANDS.items():
                for name, command in commands.items():
                    _add(group, f"truth {name}", command, panel)
            loaded: Any = get_command(group)
            self._loaded = loaded.commands
        return self._loaded

    @commands.setter
    def commands(self, found: Any) -> None:
        """The base class sets an empty dict, which is ignored."""


def _make_group(cls: Any = PanelGroup, help: str | None = None) -> typer.Typer:
    return typer.Typer(
        cls=cls,
        help=help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_HELP,
    )


def _add(group: typer.Typer, path: str, command: Callable[..., None], panel: str) -> None:
    name = path.rsplit(" ", maxsplit=1)[-1]
    group.command(name, cls=PanelCommand, rich_help_panel=panel)(reads_config(path, command))


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"ragstone {__version__}")
        raise typer.Exit


app = _make_group(help="Evaluate retrieval-augmented generation: measure quality, compare versions, find what to fix.")
truth = _make_group(TruthGroup, "Create, version and repair ground truth.")


@truth.callback()
def _truth() -> None:
    pass


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    del version


for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        _add(app, _command.__name__.replace("_", "-"), _command, _panel)
app.add_typer(truth, name="truth", rich_help_panel=TRUTH)
