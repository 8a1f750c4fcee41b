"""The site: every page is in its navigation, links and anchors lead somewhere, and it opens without a network."""

import os
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from tests.each_case import each_case

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAV = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
LISTED = re.findall(r"[\w/-]+\.md$", NAV, flags=re.MULTILINE)
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
# Pages that docs/site_hooks.py makes of other files.
MADE = ["contributing.md", *(f"notebooks/{path.stem}.md" for path in sorted((ROOT / "examples").glob("*.ipynb")))]


def test_every_page_is_in_the_navigation():
    absent = sorted({*PAGES, *MADE} - {*LISTED})
    assert not absent, f"add a line for {', '.join(absent)} to `nav` in mkdocs.yml, under the question that it answers"


def test_the_navigation_lists_only_pages():
    assert sorted({*LISTED} - {*PAGES, *MADE}) == []
    assert sorted(page for page in LISTED if LISTED.count(page) > 1) == []


def _anchors(page):
    """The anchors of headings, as Python-Markdown makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        yield re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


@each_case("page", PAGES)
def test_anchors_exist(page):
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", (DOCS / page).read_text()):
        other = (DOCS / page).parent / target if target else DOCS / page
        assert anchor in set(_anchors(other)), f"{page} links to {target}#{anchor}"


def test_every_page_is_one_click_from_the_start():
    """Also for readers of the files on a code host, who have no navigation."""
    start = (DOCS / "index.md").read_text()
    absent = [page for page in PAGES if page != "index.md" and f"({page})" not in start]
    assert not absent, f"add {', '.join(absent)} to the table of all pages in docs/index.md"


def test_warnings_of_the_build_are_errors():
    """With --quiet, mkdocs does not count warnings."""
    [line] = [line for line in (ROOT / "Makefile").read_text().splitlines() if "mkdocs build" in line]
    assert line.endswith("mkdocs build --strict")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make site` builds it."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    made = subprocess.run(["make", ".site-venv/.made"], cwd=ROOT, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"mkdocs cannot be installed: {(made.stderr.strip().splitlines() or ['no reason'])[-1]}")
    folder = tmp_path_factory.mktemp("site")
    # The name of the folder is what differs from `make site`.
    command = [".site-venv/bin/mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_outside(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        loaded = re.findall(
            r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"?(https?:[^\s\">]+)", page.read_text()
        )
        assert loaded == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", sheet.read_text()), sheet.name


@pytest.mark.slow
def test_every_page_is_also_markdown(site):
    for page in PAGES:
        assert (site / page).read_text() == (DOCS / page).read_text()
    assert (site / "llms.txt").read_text() == (DOCS / "llms.txt").read_text()
    assert (DOCS / "metrics.md").read_text().strip() in (site / "llms-full.txt").read_text()
    assert (site / "schemas" / "run.json").exists()


@pytest.mark.slow
def test_search_works_from_the_folder(site, browser):
    page = browser.new_page()
    outside = []
    page.on("request", lambda request: None if request.url.startswith("file:") else outside.append(request.url))
    page.goto((site / "guides" / "better.html").as_uri())
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially("hallucinated")
    page.locator(".md-search-result__item a").first.wait_for(timeout=20_000)
    assert "causes.html" in " ".join(
        link.get_attribute("href") for link in page.locator(".md-search-result__item a").all()
    )
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []
    page.close()
