"""Plain help texts in panels. rich is not loaded: it takes longer than all the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from ragstone.cli.plain_values import use_plain_values

# With more options than this, the most used ones come first and the others follow in panels.
FEW_OPTIONS = 10
# The options that most users need, in the order in which they are shown.
COMMON = (
    *("system", "metrics", "judge", "human", "truth", "to", "against", "least", "max_drop", "name", "out", "limit"),
    *("budget", "quote", "full", "json"),
)
# The panels of `ragstone --help`.
EVALUATE, COMPARE, TRUTH = "Evaluate", "Compare and gate", "Ground truth"
JUDGES, STRESS, TOOLS = "Judges and agreement", "Stress tests", "Tools"
# The panels of `ragstone truth --help`.
CREATE, REPAIR, VERSIONS = "Create", "Check and repair", "Versions"
GROUPS = (EVALUATE, COMPARE, TRUTH, JUDGES, STRESS, TOOLS, CREATE, REPAIR, VERSIONS)


class PanelCommand(TyperCommand):
    """A command that shows its options in panels."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options and arguments, with `--help`."""
        return use_plain_values(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then the most used options, then the others by panel."""
        from ragstone.cli.options import EXECUTION, PANELS

        sections: dict[str, list[Any]] = {"Arguments": [], "Options": [], **{panel: [] for panel in PANELS}}
        shown = [param for param in self.get_params(ctx) if not getattr(param, "hidden", False)]
        options = [param for param in shown if param.param_type_name == "option"]
        first = sorted((param for param in options if param.name in COMMON), key=lambda one: COMMON.index(one.name))
        first = first[:FEW_OPTIONS] if len(options) > FEW_OPTIONS else options
        sections["Arguments"] = [param for param in shown if param.param_type_name == "argument"]
        sections["Options"] = first
        for param in options:
            if param not in first:
                sections[getattr(param, "rich_help_panel", None) or EXECUTION].append(param)
        for title, params in sections.items():
            records = [record for param in params if (record := param.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class PanelGroup(TyperGroup):
    """A group that shows its commands in panels, in the order in which they were added."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options of the group, with `--help`."""
        return use_plain_values(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the program, not of the alphabet."""
        del ctx
        return list(self.commands)

    def summaries(self, ctx: Any) -> Iterable[tuple[str, str, str]]:
        """Panel, name and first paragraph of each command."""
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            yield command.rich_help_panel, name, (command.help or "").partition("\n\n")[0]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One line per command, grouped by panel."""
        sections: dict[str, list[tuple[str, str]]] = {}
        width = max(map(len, self.list_commands(ctx)))
        for panel, name, line in self.summaries(ctx):
            sections.setdefault(panel, []).append((f"{name:<{width}}", line))
        for title, lines in sorted(sections.items(), key=lambda item: GROUPS.index(item[0])):
            with formatter.section(title):
                formatter.write_dl(lines)
