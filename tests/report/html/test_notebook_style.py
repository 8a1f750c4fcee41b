"""The style of a notebook's output: scoped, in both themes, and only what the output uses."""

import re

from ragstone.report.html.notebook import notebook_style


def test_rules_that_nothing_uses_are_left_out():
    style = notebook_style('<div class="ragstone"><p class="muted">a</p></div>')
    assert ".ragstone.ragstone .muted" in style
    assert ".histogram" not in style
    assert "dialog" not in style
    assert "print" not in style


def test_a_rule_needs_all_of_its_names():
    assert ".sample > summary" not in notebook_style('<details class="sample"></details>')
    assert ".sample > summary" in notebook_style('<details class="sample"><summary>a</summary></details>')


def test_rules_for_narrow_pages_are_kept():
    style = notebook_style('<td class="wide">a</td>')
    assert "@media (max-width: 900px) { .ragstone.ragstone .wide { display: none; } }" in style


def test_both_themes_have_the_same_colours():
    style = notebook_style("<p>")
    light, dark = (
        re.search(rf"{re.escape(mark)} \.ragstone.*?\{{(.*?)\}}", style)[1]
        for mark in ('[data-jp-theme-light="true"]', '[data-jp-theme-light="false"]')
    )
    colours = [set(re.findall(r"(--[\w-]+): #", theme)) for theme in (light, dark)]
    assert colours[0] == colours[1]
    assert "color-scheme: dark" in dark


def test_the_page_itself_is_not_styled():
    assert not re.search(r"(^|[,}])\s*(html|body|:root)\b", notebook_style("<html><body><p>"), re.MULTILINE)
