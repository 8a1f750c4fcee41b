"""Texts with marked places, raw and rendered."""

import re

import pytest

from ragstone.report.html.marked_text import diff_text, marked_text
from ragstone.text.word_diff import word_diff
from ragstone.views.marks import Piece
from tests.report.runs import EVIL


def piece(text, *keys, tone="good", numbers=(), anchors=()):
    labels = [{"key": key, "text": "✓ A1", "words": "supported"} for key in keys]
    return {
        "text": text,
        "keys": list(keys),
        "tone": tone,
        "numbers": list(numbers),
        "anchors": anchors,
        "labels": labels,
    }


def test_marks_stay_in_both_views_and_ids_are_unique():
    html = str(
        marked_text([piece("One. "), piece("Th**is", "answer-1", anchors=["at-1-answer-1"]), piece("** is two.")])
    )
    assert html.count('data-keys="answer-1"') == 3
    assert html.count('id="at-1-answer-1"') == 1
    assert html.count("<sup>") == 2
    assert "<strong><mark" in html


def test_a_label_comes_after_the_last_part_of_a_mark():
    html = str(marked_text([piece("a **b** `c`", "answer-1"), piece(" d")]))
    first = html.partition('<p class="prose plain"')[0]
    assert re.sub(r"<sup>.*?</sup>", "§", first).count("§") == 1
    assert first.index("<sup>") > first.index(">c<")


def test_facts_have_the_colour_of_their_number():
    assert 'class="fact hue1"' in str(marked_text([piece("a", "fact-2", numbers=[2])]))
    assert 'class="said bad"' in str(marked_text([piece("a", "answer-2", tone="bad", numbers=[2])]))


def test_empty_texts_are_called_empty():
    assert "(empty)" in marked_text([])
    assert "(empty)" in marked_text([{"text": " \n "}])


def test_other_scripts_have_their_language():
    assert ' lang="zh"' in marked_text([{"text": "夜间渡轮从七号码头出发。"}])
    assert ' lang="ar"' in marked_text([{"text": "تغادر العبارة الليلية"}])
    assert "lang=" not in marked_text([{"text": "Übrigens naïve"}])
    assert 'dir="auto"' in marked_text([{"text": "a"}])


def test_changed_words_and_facts_are_marked_in_rendered_text():
    parts = [
        {"text": "- Open at ", "numbers": [], "kind": ""},
        {"text": "**ten**", "numbers": [3], "kind": "new"},
    ]
    html = str(marked_text(parts, views=False))
    assert '<strong><mark class="new"><mark class="fact hue2">ten<sup>fact 3</sup></mark></mark></strong>' in html
    assert html.startswith('<div class="prose md"')
    assert "<li>" in html


def test_a_diff_of_markdown_shows_both_texts_rendered():
    html = str(diff_text(word_diff("- at **nine**\n- by bus", "- at **ten**\n- by bus")))
    assert "<strong><del>nine</del></strong>" in html
    assert "<strong><ins>ten</ins></strong>" in html
    assert html.startswith('<div class="diff sides">')
    assert "<strong><ins>a</ins></strong>" in diff_text(word_diff("", "**a**"))
    assert "sides" not in diff_text(word_diff("", "**a**")) + diff_text(word_diff("**a**", "**a**"))
    assert str(diff_text(word_diff("at nine", "at ten"))).count("<p") == 1


def test_bullets_of_right_to_left_texts_are_on_the_right():
    assert 'md" dir="rtl"' in marked_text("- **الليلية** ferry")
    assert 'md" dir="ltr"' in marked_text("1. **a** الليلية")


def test_a_report_prints_what_is_near_a_mark():
    pieces = [Piece("- word\n" * 200), Piece("the **fact**", "good", (1,)), Piece("\n- word" * 200)]
    html = str(marked_text(pieces, "fact ", 300, views=False))
    assert '<strong><mark class="good printed">fact<sup>fact 1</sup></mark></strong>' in html
    assert html.count('<li><p dir="auto"><span class="unprinted">word</span>') > 100
    assert 10 < html.count('<span class="printed">word</span>') < 100
    assert "printed" not in marked_text([Piece("**short**")], "", 300, views=False)


@pytest.mark.parametrize("text", [EVIL, f"- {EVIL}\n\n| {EVIL} | b |\n|---|---|\n| {EVIL} | `{EVIL}` |", f"**{EVIL}**"])
def test_hostile_text_stays_text(text):
    for html in (
        marked_text(text),
        marked_text([Piece(text, "bad", (1,))], "claim ", 300),
        diff_text(word_diff("- a", text)),
    ):
        tags = set(re.findall(r"<(\w+)", html))
        assert tags <= {
            *[
                "p",
                "div",
                "span",
                "strong",
                "em",
                "s",
                "code",
                "mark",
                "sup",
                "del",
                "ins",
                "i",
                "br",
                "ul",
                "ol",
                "li",
                "table",
                "thead",
                "tbody",
                "tr",
                "th",
                "td",
                "pre",
                "hr",
                "blockquote",
                "a",
            ]
        }
        assert not re.search(r"<[^>]*\s(?:href|src|style|on\w+)=", html)
