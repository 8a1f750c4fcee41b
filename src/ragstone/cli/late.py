"""A group of commands that is loaded when somebody asks for one of them: `ragstone --help` need not wait for it."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class TruthGroup(TyperGroup):
    """The commands of `ragstone truth`."""

    _loaded: dict[str, Any] | None = None

    @property
    def commands(self) -> Any:
        """The commands by name."""
        if self._loaded is None:
            from typer.main import get_command

            from ragstone.cli.truth import truth

            group: Any = get_command(truth)
            self._loaded = group.commands
        return self._loaded

    @commands.setter
    def commands(self, found: Any) -> None:
        """Whatever is known beforehand is not all: the rest comes when it is asked for."""


truth = typer.Typer(
    cls=TruthGroup,
    help="Ground truth: where it comes from, its versions, and how it is put right.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@truth.callback()
def _truth() -> None:
    pass
