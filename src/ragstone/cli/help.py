"""Commands and groups of click that show their options and commands in panels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

# With more options than this, the most used ones come first and the others follow in panels.
FEW_OPTIONS = 10
# The options that most users need, in the order in which they are shown.
COMMON = (
    *("system", "metrics", "judge", "human", "truth", "to", "against", "least", "max_drop", "name", "out", "limit"),
    *("budget", "quote", "full", "json"),
)
# Make the JSON of a command smaller. Every command with --json has them, and they do not count as options of its own.
JSON_PARTS = ("fields", "top")
# The panels of `ragstone --help`.
EVALUATE, COMPARE, TRUTH = "Evaluate", "Compare and gate", "Ground truth"
JUDGES, STRESS, TOOLS = "Judges and agreement", "Stress tests", "Tools"
# The panels of `ragstone truth --help`.
CREATE, REPAIR, VERSIONS = "Create", "Check and repair", "Versions"
GROUPS = (EVALUATE, COMPARE, TRUTH, JUDGES, STRESS, TOOLS, CREATE, REPAIR, VERSIONS)
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class PanelCommand(click.Command):
    """A command that shows its options in panels, and is itself in a panel of its group."""

    def __init__(self, name: str, panel: str, **settings: Any) -> None:
        super().__init__(name, context_settings=CONTEXT, **settings)
        self.panel = panel

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: `format_options` shows the arguments, also with versions of click that do not."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments, then the most used options, then the others by panel."""
        from ragstone.cli.options import EXECUTION, PANELS

        shown = [param for param in self.get_params(ctx) if not getattr(param, "hidden", False)]
        options = [param for param in shown if param.param_type_name == "option"]
        first = sorted(
            (param for param in options if param.name in COMMON), key=lambda one: COMMON.index(one.name or "")
        )
        counted = [param for param in options if param.name not in JSON_PARTS]
        first = first[:FEW_OPTIONS] if len(counted) > FEW_OPTIONS else options
        arguments = [param for param in shown if param.param_type_name == "argument"]
        sections = {"Arguments": arguments, "Options": first, **{panel: [] for panel in PANELS}}
        for param in options:
            if param not in first:
                sections[getattr(param, "panel", EXECUTION)].append(param)
        for title, params in sections.items():
            records = [record for param in params if (record := param.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class PanelGroup(click.Group):
    """A group that shows its commands in panels, in the order in which they were added."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(no_args_is_help=True, context_settings=CONTEXT, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the program, not of the alphabet."""
        del ctx
        return list(self.commands)

    def summaries(self) -> Iterable[tuple[str, str, str]]:
        """Panel, name and first paragraph of each command."""
        for name, command in self.commands.items():
            yield getattr(command, "panel", ""), name, (command.help or "").partition("\n\n")[0]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line per command, grouped by panel."""
        sections: dict[str, list[tuple[str, str]]] = {}
        width = max(map(len, self.list_commands(ctx)))
        for panel, name, line in self.summaries():
            sections.setdefault(panel, []).append((f"{name:<{width}}", line))
        for title, lines in sorted(sections.items(), key=lambda item: GROUPS.index(item[0])):
            with formatter.section(title):
                formatter.write_dl(lines)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command. Ctrl-C ends it with exit code 130; click would end with 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None
