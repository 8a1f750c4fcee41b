"""Texts with marked places, raw and rendered."""

import re

from ragstone.web.marked_text import marked_text


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
