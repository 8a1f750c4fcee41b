"""Writes the pages that are made from the code: docs/metrics.md, docs/cli.md and the picture of the demo.

`make docs` runs it; a test fails when a page no longer says what the code does.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rich.console import Console
from typer.main import get_command

from ragstone.cli.app import app
from ragstone.engine.catalogue import cards, set_names
from ragstone.engine.evaluation import evaluate
from ragstone.models.judge_card import read_card
from ragstone.report.terminal import run_report
from ragstone.report.trust import card_lines

DOCS = Path(__file__).parent
MADE = "<!-- Made by `make docs` from the code. Do not edit. -->\n"
TRUST = """# How far to trust the local judge

Without a key and without a network, claims and answers are judged by a small model that comes with Ragstone (24 MB, on the CPU).
It is good enough to tell which of two systems is better over some dozens of questions, not to decide about a single answer.
What follows is from the model's card; `ragstone models show local-judge` prints the same. How it was made is in `training/`.

*Reference contained* is lexical match: whether the reference stands in the answer word for word. *Token overlap* is the share of the
claim's words in the evidence, and for answers whether the reference stands in the answer or shares enough words with it; *cosine* is that of MiniLM's sentence embeddings. The judge's own score combines the model with the overlap.
Rows named *labelled* are from public sets, in most of which people gave the labels; in SQuAD's they follow from how the rows were
made. Other rows of the same sets were trained on. *Synthetic* rows are edits of our own. *Valid* rows decided how the model
and overlap are combined; *test* rows decided nothing.

A judge is never as good on your texts as on those that it was measured on. `ragstone run answers.jsonl --judge "local>openai/gpt-4o-mini"`
asks a stronger one where this one is unsure: see [judges](judges.md#the-judge-on-this-machine).
"""


def metrics_page() -> str:
    """Every metric: the map of what is judged against what, then a section each."""
    found = cards()
    lines = [
        MADE,
        "# Metrics",
        "",
        "Write a metric as `name`, `name@k` or `name(param=value)`; several with commas; a set by its name: "
        f"{', '.join(f'`{name}`' for name in set_names())}, `quick` (the default: all that take little time; those that ask a model where one is named or the data has its verdicts), `all`.",
        "`ragstone metrics NAME` prints what is here.",
        "",
        "A cell is *ok*, *skipped* or *failed*, the last two with a reason. Means are over ok cells and shown with their number.",
        "",
        "## What is judged against what",
        "",
        "| judges | against | metrics |",
        "|---|---|---|",
    ]
    for judges, against in dict.fromkeys((card.judges, card.against) for card in found):
        names = ", ".join(
            f"[`{card.name}`](#{card.name})" for card in found if (card.judges, card.against) == (judges, against)
        )
        lines.append(f"| {judges} | {against} | {names} |")
    for card in found:
        lines += ["", f"## {card.name}", "", card.meaning, ""]
        lines += [card.details, ""] if card.details else []
        lines += [f"- {label}: {_code(label, text)}" for label, text in card.lines()]
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """Every command with every option."""
    root: Any = get_command(app)
    lines = [
        MADE,
        "# Command line",
        "",
        "Exit codes: 0 fine, 1 runtime error, 2 usage or bad input, 3 a gate failed, 4 not one cell could be scored or a gate cannot tell, "
        "130 interrupted with finished parts kept.",
        "Progress goes to standard error: a bar on a terminal, plain lines elsewhere. `NO_COLOR` is honoured. "
        "There is no telemetry and no update check.",
    ]
    for name, command in _commands(root):
        arguments = " ".join(_metavar(p) for p in command.params if not p.opts[0].startswith("-"))
        lines += [
            "",
            f"## ragstone {name}",
            "",
            f"`ragstone {name} {arguments}`".replace(" `", "`"),
            "",
            command.help or "",
            "",
        ]
        lines += ["| option | meaning |", "|---|---|"]
        lines += [
            f"| {', '.join(f'`{flag}`' for flag in p.opts)}{_default(p)} | {p.help or ''} |" for p in command.params
        ]
    return "\n".join(lines) + "\n"


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by what one types; those of a group one by one."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def trust_page() -> str:
    """How far the local judge can be trusted, from its card."""
    with resources.as_file(resources.files("ragstone.models") / "weights" / "local_judge") as folder:
        told = [*card_lines(read_card(folder))]
    return "\n".join([MADE, TRUST, *told]) + "\n"


def demo_picture() -> str:
    """What the demo prints, as an SVG that loads nothing from outside."""
    with (
        resources.as_file(resources.files("ragstone.examples") / "harbour") as folder,
        tempfile.TemporaryDirectory() as out,
        # Which local models there are on this machine must not decide what is drawn.
        patch.dict(os.environ, {"RAGSTONE_MODELS": out, "RAGSTONE_LOCAL_JUDGE": "off"}),
    ):
        run = evaluate(folder / "better.jsonl", out=out)
        console = Console(record=True, width=98, file=io.StringIO(), force_terminal=True, highlight=False)
        console.print(run_report(run, full=False))
        picture = console.export_svg(title="ragstone demo", unique_id="demo")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Where each page goes and what it says."""
    yield DOCS / "metrics.md", metrics_page()
    yield DOCS / "cli.md", cli_page()
    yield DOCS / "trust.md", trust_page()
    yield DOCS / "images" / "demo.svg", demo_picture()


def _code(label: str, text: str) -> str:
    return f"`{text}`" if label in ("write",) else text


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    default = parameter.default
    return f" ({default})" if isinstance(default, str | int) and not isinstance(default, bool) and default != "" else ""


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
