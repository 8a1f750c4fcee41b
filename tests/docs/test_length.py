"""Pages stay short: at most 500 words outside code, unless they are listed here; these limits may only fall."""

import re

from tests.docs.test_docs import ROOT
from tests.each_case import each_case

LIMIT = 500
# Written pages that are still longer; never a guide.
LONGER = {
    "judge-figures.md": 1_440,
}
# All written pages together, with their code, without the figures and the lists of formats and checkers, which grow with the code.
TOTAL = 29_116
LISTS = {"judge-figures.md", "formats.md", "checkers.md"}
DOCS = ROOT / "docs"
# What `make docs` makes of the code has no limit: a new metric must not fail here. Some pages have generated parts.
GENERATED = "<!-- Made by `make docs`"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
WRITTEN = {page: text for page, text in PAGES.items() if not text.startswith(GENERATED)}


def count_words(text):
    """Words with a letter or a digit."""
    return len(re.findall(r"\S*\w\S*", text))


@each_case("page", WRITTEN)
def test_a_page_is_short(page):
    code_or_generated = r"^```.*?^```$|^<!-- made: .*?^<!-- end -->$"
    prose = re.sub(code_or_generated, "", WRITTEN[page], flags=re.DOTALL | re.MULTILINE)
    limit = LONGER.get(page, LIMIT)
    assert count_words(prose) <= limit, f"shorten it, or divide it by the questions that it answers: {limit} words"


def test_the_limits_are_close():
    """A page that became short leaves the list."""
    assert not [page for page in LONGER if page.startswith("guides/")]
    assert [page for page, limit in LONGER.items() if limit <= LIMIT] == []


def test_all_written_pages_together():
    written = sum(count_words(text) for page, text in WRITTEN.items() if page not in LISTS)
    assert written <= TOTAL, f"{written:,} words, {TOTAL:,} allowed: shorten a page, or raise TOTAL and say why"


def test_only_pages_of_make_docs_are_without_a_limit():
    assert PAGES.keys() - WRITTEN.keys() == {"metrics.md", "cli.md", "names.md", "api.md"}
