"""Pages are self-contained, safe and accessible."""

import base64
import hashlib
import itertools
import json
import re

import pytest

from ragstone.report.html.marked_text import cut_for_print
from ragstone.report.html.page import breakable, script_json
from ragstone.views.marks import Piece
from tests.report.pages import Page
from tests.report.runs import BIDI, EVIL

KINDS = ["run", "hostile", "comparison", "hostile comparison"]


@pytest.fixture(params=KINDS)
def page(pages, request):
    return pages[request.param]


def test_tags_are_in_balance_and_ids_are_unique(page):
    ids = Page(page).ids
    assert len(ids) == len(set(ids))


def test_links_stay_within_the_page(page):
    found = Page(page)
    assert len(found.links) >= 5
    assert [link for link in found.links if not link.startswith("#")] == []
    assert {link[1:] for link in found.links} <= set(found.ids)


def test_nothing_is_loaded_from_elsewhere(page):
    found = Page(page)
    names = {name for _, attributes in found.elements for name in attributes}
    assert not names & {"src", "srcset", "action", "formaction", "data", "poster", "xlink:href"}
    assert {tag for tag, _ in found.elements}.isdisjoint({"img", "link", "iframe", "object", "embed", "base", "form"})
    assert "url(" not in page
    assert "@import" not in page


def test_only_our_style_and_script_may_run(page):
    found = Page(page)
    [policy] = [one["content"] for one in found.find("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    # Both would need a policy that allows more.
    names = {name for _, attributes in found.elements for name in attributes}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]


def test_it_can_be_read_without_eyes(page):
    found = Page(page)
    assert [svg for svg in found.find("svg") if not svg.get("aria-label") or svg.get("role") != "img"] == []
    assert [head for head in found.find("th") if head.get("scope") not in ("col", "row")] == []
    assert [box for box in found.find("div") if box.get("class") == "scroll" and not box.get("aria-label")] == []
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert [pair for pair in itertools.pairwise(levels) if pair[1] > pair[0] + 1] == []
    assert found.find("html") == [{"lang": "en"}]


@pytest.mark.parametrize("kind", ["hostile", "hostile comparison"])
def test_hostile_text_is_shown_and_does_nothing(pages, kind):
    page = pages[kind]
    found = Page(page)
    # One for data, one for ours; none of theirs.
    assert [one.get("type") for one in found.find("script")] == ["application/json", None]
    assert "<img src=x onerror=alert(2)>" in found.text("main")
    assert "{{ 7*7 }}" in found.text("main")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]", page)
    assert "\\u202emorf\\u2066\\x1b[31m\\x00" in found.text("h1")


def test_script_json_survives_anything():
    value = {"text": f"{EVIL}\u2028<!--]]>", "n": [1, None, 0.5]}
    written = script_json(value)
    assert not set("<>&\u2028") & set(written)
    assert BIDI not in written
    assert json.loads(written) == value


def test_names_break_where_they_may():
    assert breakable("ragas.noise_sensitivity(mode=x)") == "ragas.<wbr>noise_<wbr>sensitivity(<wbr>mode=x)"
    assert breakable("<b>.x") == "&lt;b&gt;.<wbr>x"


def test_marks_and_what_is_near_them_are_printed():
    far = "word " * 200
    parts = list(cut_for_print([Piece(far), Piece("the fact", "good", (1,)), Piece(far)], 100))
    assert "".join(piece.text for piece, _ in parts) == f"{far}the fact{far}"
    text = "".join(piece.text if printed else "…" for piece, printed in parts)
    assert text.startswith("… word")
    assert "word the factword" in text
    assert text.endswith("word …")
    assert len(text) < 150


def test_the_start_of_a_text_without_marks_is_printed():
    assert list(cut_for_print([Piece("a short text")], 100)) == [(Piece("a short text"), True)]
    (start, yes), (rest, no) = cut_for_print([Piece("word " * 100)], 100)
    assert (yes, no) == (True, False)
    assert start.text + rest.text == "word " * 100
    assert 50 < len(start.text) <= 100
    assert [printed for _, printed in cut_for_print([Piece("漢" * 500)], 100)] == [True, False]


def test_not_all_of_a_text_full_of_marks_is_printed():
    parts = list(cut_for_print([Piece("x" * 90, "good", (1,)), Piece(" ")] * 20, 100))
    assert sum(len(piece.text) for piece, printed in parts if printed) < 500
