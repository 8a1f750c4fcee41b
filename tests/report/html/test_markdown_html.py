"""Markdown as safe HTML."""

import random
import time

import pytest

from ragstone.report.html.markdown_html import is_markdown
from ragstone.report.html.marked_text import marked_text


def rendered(text):
    """The view with Markdown."""
    html = str(marked_text([{"text": text}]))
    return html.partition('<div class="prose md" dir="ltr">')[2].partition('</div><p class="prose plain"')[0]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b** c", '<p dir="auto">a <strong>b</strong> c</p>'),
        ("***b***", '<p dir="auto"><strong><em>b</em></strong></p>'),
        ("~~b~~", '<p dir="auto"><s>b</s></p>'),
        ("a\n\n## b", '<p dir="auto">a</p><p class="h2" dir="auto">b</p>'),
        ("`a*b*<c>`", '<p dir="auto"><code>a*b*&lt;c&gt;</code></p>'),
        ("> a\n> b `c`", '<blockquote><p dir="auto">a\nb <code>c</code></p></blockquote>'),
        ("**a** 2*3*4 x_y_z", '<p dir="auto"><strong>a</strong> 2*3*4 x_y_z</p>'),
        (r"\*a\* `b`", '<p dir="auto">*a* <code>b</code></p>'),
        ("**a**<br>b", '<p dir="auto"><strong>a</strong><br>b</p>'),
        (
            "3. a\n   - b\n4. c",
            '<ol start="3"><li><p dir="auto">a</p><ul><li><p dir="auto">b</p></li></ul></li>'
            '<li><p dir="auto">c</p></li></ol>',
        ),
        ("~~~\n**a**\n~~~", '<pre dir="ltr"><code>**a**\n</code></pre>'),
    ],
)
def test_blocks_and_inline_marks(text, html):
    assert rendered(text) == html


def test_a_table_has_a_head():
    html = rendered("| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 | |\n\nafter **it**")
    assert html.count("<tr>") == 3
    assert '<th scope="col" dir="auto">a</th>' in html
    assert "x | y" in html
    assert html.endswith("<strong>it</strong></p>")


@pytest.mark.parametrize(
    "text",
    [
        "**a** <script>alert(1)</script>",
        "[a](javascript:alert(1)) **b**",
        '[a](https://example.org/"onmouseover=alert(1))',
        "![a](https://example.org/a.png)",
        "```<img src=x onerror=alert(1)>\n<b>\n```",
        "|<i>|<b>|\n|--|--|\n|<u>|`<s>`|",
        "\u202e**a**\x1b[31m",
    ],
)
def test_nothing_in_a_text_becomes_an_element_or_an_address(text):
    html = str(marked_text([{"text": text}]))
    for word in ("<script", "<img", "<i>", "<b>", "<u>", "href=", "src=x onerror=alert(1)>", "\u202e", "\x1b"):
        assert word not in html.replace("&lt;", "").replace("src=x onerror=alert(1)&gt;", "")


@pytest.mark.parametrize(
    "text", ["plain", "two lines\nof text", "3 * 4 * 5", "snake_case_name", "a - b", "5 > 4", "#1"]
)
def test_plain_text_is_not_markdown(text):
    assert not is_markdown(text)


def test_random_signs_end_soon_and_keep_every_letter():
    draw = random.Random(3)
    for _ in range(300):
        text = "".join(
            draw.choice(["*", "_", "`", "[", "](", ")", "|", "-", "\n", "> ", "# ", "1. ", "a", " ", "~"])
            for _ in range(60)
        )
        html = rendered(text) if is_markdown(text) else ""
        assert html.count("a") >= (
            text.count("a") if html and "```" not in text and "~~~" not in text and "|" not in text else 0
        )


@pytest.mark.parametrize(
    "part", ["**a ", "`", "[", "> ", "- ", "_a ", "* a\n", "\\", "a|b\n-|-\n", " ", "- a\n\n", "  - a\n    - b\n"]
)
def test_long_texts_of_signs_are_quick(part):
    text = part * (20_000 // len(part))
    start = time.process_time()
    marked_text([{"text": f"{text}**x**"}])
    assert time.process_time() - start < 5
