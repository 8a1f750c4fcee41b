"""The pictures of docs/viewer.md and docs/reports.md, of the shipped example in a real browser: `make pictures`."""

from __future__ import annotations

import tempfile
import threading
from importlib import resources
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.browser import ARGUMENTS, find_chromium

import ragstone
from ragstone.report.html.run_page import run_html
from ragstone.web.serving import Viewer

IMAGES = Path(__file__).parent / "images"
EXAMPLE = resources.files("ragstone.examples") / "harbour"


def main() -> None:
    """Evaluate both systems of the example, look at them, and keep what is seen."""
    with tempfile.TemporaryDirectory() as root:
        worse, better = (
            ragstone.evaluate(str(EXAMPLE / f"{name}.jsonl"), None, root, name=f"harbour-{name}")
            for name in ("worse", "better")
        )
        report = Path(root) / "report.html"
        report.write_text(run_html(worse), encoding="utf-8")
        viewer = Viewer(root, port=0)
        threading.Thread(target=viewer.serve, daemon=True).start()
        shoot(
            {
                "report": (report.as_uri(), 1180, 1000),
                "viewer-run": (f"{viewer.url}runs/{worse.id}", 1100, 900),
                "viewer-sample": (f"{viewer.url}runs/{worse.id}/samples/2", 1100, 1180),
                "viewer-comparison": (f"{viewer.url}compare/{worse.id}/{better.id}/samples/8", 1100, 900),
            }
        )
        viewer.stop()


def shoot(pages: dict[str, tuple[str, int, int]]) -> None:
    """The upper part of each page, as large as is said."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        for name, (address, width, height) in pages.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(address)
            page.locator("[data-wait]").first.wait_for(state="detached")
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
