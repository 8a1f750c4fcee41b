"""The pictures of docs/viewer.md and docs/reports.md, of the shipped example in a real browser: `make pictures`."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import replace
from importlib import resources
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright
from tests.browser import ARGUMENTS, find_chromium

import ragstone
from ragstone.report.html.run_page import run_html
from ragstone.truth.model import Case, TruthFact, case_from_sample
from ragstone.truth.store import TruthStore
from ragstone.web.app import Viewer

IMAGES = Path(__file__).parent / "images"
PROPOSED = [
    TruthFact("the last at 21.10 every day of the week", "citation", None, "judge", "proposed", 0.4),
    TruthFact("From Orlsay the  first boat leaves at 06:20", "citation", "timetable.md", "synthetic", "proposed", 0.9),
]
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
                "viewer-sample": (f"{viewer.url}runs/{worse.id}/samples/2", 1280, 800),
                "viewer-comparison": (f"{viewer.url}compare/{worse.id}/{better.id}/samples/8", 1100, 900),
            }
        )
        shoot_editor(viewer.url, TruthStore(root), [case_from_sample(sample) for sample in worse.samples])
        viewer.stop()


def shoot_editor(url: str, store: TruthStore, cases: list[Case]) -> None:
    """Words of a chunk about to become a fact; then two edits of one question, made into one."""
    cases[0] = cases[0].with_facts([*cases[0].facts, *PROPOSED])
    store.save("harbour", cases, author="Ada", note="from the first run")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1100, "height": 1060})
        page.goto(f"{url}truth/harbour/case?{urlencode({'id': cases[0].id})}")
        page.locator("#facts textarea").first.wait_for()
        page.locator("#question").fill("At what time does the last boat leave Orlsay in July?")
        page.get_by_text("different spelling").wait_for()
        page.locator("#text-1").focus()
        for _ in range(4):
            page.keyboard.press("ArrowDown")
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=IMAGES / "viewer-editor.png")
        cases[0] = replace(cases[0], question="At what time does the last ferry leave Orlsay in summer?")
        store.save("harbour", cases, author="Grace", note="say ferry, not boat", parent=1)
        page.get_by_role("button", name="Review and save").click()
        page.get_by_label("author").fill("Ada")
        page.get_by_label("note").fill("July is what people ask about")
        page.screenshot(path=IMAGES / "viewer-merge.png", full_page=True)
        browser.close()


def shoot(pages: dict[str, tuple[str, int, int]]) -> None:
    """The upper part of each page, in the given size."""
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
