"""Draws docs/images/demo.svg: the output of the demo."""

from __future__ import annotations

import io
import os
import re
import tempfile
from importlib import resources
from unittest.mock import patch

from rich.console import Console

from ragstone.analysis.diagnosis import diagnose
from ragstone.engine.evaluate import evaluate
from ragstone.report.run import run_summary
from ragstone.views.run import RunView


def demo_picture() -> str:
    """The output of the demo as an SVG that loads nothing from outside."""
    with (
        resources.as_file(resources.files("ragstone.examples") / "harbour") as folder,
        tempfile.TemporaryDirectory() as out,
        # Which local models there are on this machine must not decide what is drawn.
        patch.dict(os.environ, {"RAGSTONE_MODELS": out, "RAGSTONE_LOCAL_JUDGE": "off"}),
    ):
        run = evaluate(folder / "better.jsonl", out=out)
        console = Console(record=True, width=98, file=io.StringIO(), force_terminal=True, highlight=False)
        console.print(run_summary(RunView.of(run), diagnose(run)))
        picture = console.export_svg(title="ragstone demo", unique_id="demo")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"
