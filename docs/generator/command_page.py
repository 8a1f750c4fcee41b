"""Makes docs/cli.md: every command with its options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from generator.marked_blocks import MADE

from ragstone.cli.app import app

# These commands take the arguments of other programs.
FOREIGN = ("trec", "ragchecker")
# Shared options that many commands have together, by the word for them below a command.
GROUPS = {
    "model options": "judge extractor checker agreement embedder scorer claims repeats verdicts no-exam grading prompts",
    "limits of calls": "base-url budget timeout deadline rpm tpm no-cache",
    "JSON options": "json fields top",
}
# The same flag, but each command has its own default.
OWN = ("--output",)
# All commands have it; it is not listed below each.
EVERYWHERE = "--config"
CLI = """# Command line

Exit codes: 0 success, 1 runtime error, 2 usage error or bad input, 3 gate failed, 4 nothing scored, too many cells failed (`--max-failed`) or gate undecided, 130 interrupted.
Progress goes to standard error. `NO_COLOR` is supported. There is no telemetry.

A command reads its defaults from [ragstone.toml](config.md). `ragstone COMMAND --help` shows its options in groups.
"""


def cli_page() -> str:
    """The shared options once, then every command with its own options."""
    commands = dict(_commands(app))
    uses = Counter(_name(p) for command in commands.values() for p in command.params if _is_option(p))
    shared = {
        _name(p): p
        for name, command in commands.items()
        for p in command.params
        if _is_option(p) and name not in FOREIGN and uses[_name(p)] > 2 and _name(p) not in OWN
    }
    groups = {title: [f"--{name}" for name in names.split()] for title, names in GROUPS.items()}
    lines = [MADE, CLI, "## Shared options", ""]
    lines += [f"- *{title}*: {', '.join(f'`{flag}`' for flag in flags)}" for title, flags in groups.items()]
    lines += [f"- All commands have `{EVERYWHERE}`.", "", "Defaults are in brackets.", ""]
    lines += [_row(shared[name]) for name in sorted(shared, key=lambda name: name.lstrip("-"))]
    for name, command in commands.items():
        arguments = " ".join(_metavar(p) for p in command.params if not _is_option(p))
        lines += ["", f"## ragstone {name}", "", *([f"`ragstone {name} {arguments}`", ""] if arguments else [])]
        lines += [command.help or "", ""]
        own = [p for p in command.params if (_is_option(p) and shared.get(_name(p)) is None) or name in FOREIGN]
        also = _grouped([_name(p) for p in command.params if p not in own and _is_option(p)], groups)
        rows = [p for p in command.params if not _is_option(p) and name not in FOREIGN] + own
        if rows:
            lines += [*map(_row, rows), ""]
        lines += [f"Shared: {', '.join(also)}."] if also else []
    return "\n".join(lines).rstrip() + "\n"


def _grouped(flags: list[str], groups: dict[str, list[str]]) -> list[str]:
    """The flags in code style; a group that is there as a whole by its title."""
    whole = {title: group for title, group in groups.items() if set(group) <= set(flags)}
    listed = {EVERYWHERE, *(flag for group in whole.values() for flag in group)}
    single = [f"`{flag}`" for flag in flags if flag not in listed]
    return [*single, *(f"*{title}*" for title in whole)]


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _name(parameter: Any) -> str:
    return str(next((flag for flag in parameter.opts if flag.startswith("--")), parameter.opts[0]))


def _row(parameter: Any) -> str:
    flags = parameter.opts if _is_option(parameter) else [_metavar(parameter)]
    return f"- {', '.join(f'`{flag}`' for flag in flags)}{_default(parameter)}: {parameter.help or ''}"


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its full name; groups are expanded."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    default = parameter.default
    return f" ({default})" if isinstance(default, str | int) and not isinstance(default, bool) and default != "" else ""
