"""Writes the pages that are made from the code, wholly or between two comments; `docs/generator` has one file per page.

`make docs` runs it; a test fails when a page no longer says what the code does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from generator.api_page import api_page  # noqa: E402
from generator.command_page import cli_page  # noqa: E402
from generator.demo_picture import demo_picture  # noqa: E402
from generator.judge_figures import judge_figures_page  # noqa: E402
from generator.metrics_page import metrics_page  # noqa: E402
from generator.names_page import names_page  # noqa: E402
from llms_text import llms_text  # noqa: E402


def pages() -> Iterator[tuple[Path, str]]:
    """Yields the path and text of each page."""
    yield DOCS / "metrics.md", metrics_page()
    yield DOCS / "names.md", names_page()
    yield DOCS / "cli.md", cli_page()
    yield DOCS / "api.md", api_page()
    yield DOCS / "judge-figures.md", judge_figures_page()
    yield DOCS / "images" / "demo.svg", demo_picture()
    yield DOCS / "llms.txt", llms_text()


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
