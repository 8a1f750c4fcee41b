import json

import pytest

from ragstone.assistants.documentation import read_page, read_sections, search_pages
from ragstone.errors import UnknownNameError


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("how do I gate pull requests", "guides/gate.md"),
        ("ragchecker faithfulness", "metrics.md"),
        ("ragstone.toml settings file", "config.md"),
        ("mcp server for coding assistants", "coding-agents.md"),
    ],
)
def test_the_best_section_comes_first(query, page):
    assert search_pages(query, 1)[0].page == page


def test_nothing_is_found_for_unknown_words():
    assert search_pages("zzyzx qwrtp") == []
    assert search_pages("") == []


def test_a_page_and_a_section():
    assert read_page("guides/gate.md").startswith("# How do I gate pull requests?")
    assert read_page("guides/gate") == read_page("guides/gate.md")
    section = read_page("metrics.md", "token_f1")
    assert section.startswith("## token_f1")
    assert "\n## " not in section
    assert "".join(part.text for part in read_sections() if part.page == "metrics.md") == read_page("metrics.md")


def test_the_schemas_of_json_are_pages_but_not_found_by_words():
    assert json.loads(read_page("schemas/gate.json"))["title"] == "ragstone gate --json"
    assert all(part.page.endswith(".md") for part in search_pages("gate json schema title", 20))


@pytest.mark.parametrize("page", ["../README.md", "/etc/passwd", "generate.py", ""])
def test_only_pages_are_read(page):
    with pytest.raises(UnknownNameError, match="unknown page"):
        read_page(page)


def test_an_unknown_section_is_suggested():
    with pytest.raises(UnknownNameError, match="Did you mean token_f1"):
        read_page("metrics.md", "token_f2")
