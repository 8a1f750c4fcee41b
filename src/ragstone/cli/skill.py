"""ragstone skill: instructions for coding assistants."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import argument, option, shared
from ragstone.cli.output import print_json


def skill(
    folder: str = argument("[FOLDER]", "Folder of the project.", "."),
    assistants: list[str] = option(
        [],
        "--assistant",
        "claude, codex (also read by Copilot, Cursor, Gemini, Amp and OpenCode), copilot, cursor, gemini, or agents-md for a section in AGENTS.md; claude and codex by default. Repeatable.",
        metavar="NAME",
    ),
    force: bool = option(False, "--force", "Overwrite files that have other content."),
    dry_run: bool = shared("dry_run"),
    json: bool = shared("json"),
) -> None:
    """Write a skill folder for coding assistants: when to run what, and how to read the JSON.

    Files with other content are kept unless you use --force; of AGENTS.md only the section about Ragstone is written.
    """
    from ragstone.assistants.skill import plan_skill, write_skill
    from ragstone.views.phrases import visible

    files = plan_skill(Path(folder), assistants)
    if not dry_run:
        write_skill(files, force)
    words = {"new": "would be written", "changed": "has other content", "same": "unchanged"}
    if not dry_run:
        words |= {"new": "written", "changed": "overwritten"}
    rows = [{"path": file.path.as_posix(), "state": words[file.state]} for file in files]
    if json:
        print_json(rows)
    else:
        click.echo("\n".join(f"{visible(row['path'])}: {row['state']}" for row in rows))
