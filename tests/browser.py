"""A real browser for tests: Debian's chromium. CI requires it; elsewhere its absence is said aloud at the end."""

import os
import shutil

import pytest

REQUIRED = os.environ.get("RAGSTONE_TESTS_BROWSER") == "required"
ABSENT = "NO BROWSER: no page was looked at. Run .ci/browser as root, or set CHROMIUM to the path of one"
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def find_chromium():
    """The path of a browser; None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


# Not longer than a module: while it is there, nothing in this thread can start an event loop of its own.
@pytest.fixture(scope="module")
def browser():
    """A browser that tests of a module share."""
    found = find_chromium()
    if found is None:
        (pytest.fail if REQUIRED else pytest.skip)(ABSENT)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


def pytest_terminal_summary(terminalreporter):
    """Nobody should take a green run for one that looked at pages."""
    skipped = terminalreporter.stats.get("skipped", ())
    if count := sum(ABSENT in str(report.longrepr) for report in skipped):
        terminalreporter.write_sep("!", f"{count} tests skipped", yellow=True, bold=True)
        terminalreporter.write_line(ABSENT, yellow=True, bold=True)
