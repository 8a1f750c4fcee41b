"""The page of one sample in a real browser: two panes, linked claims and sentences, the matrix, scores and Markdown."""

import pytest

from tests.web.made_runs import long_run, text_run
from tests.web.test_browser import CHECKS, SHOTS, Tab

SIZES = {390: 844, 1280: 800, 1920: 1080}


@pytest.fixture(scope="module")
def made(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("made")
    return serve(root), long_run(root, 20), text_run(root)


def open_tab(browser, client, width=1280, scheme="light", **settings):
    tab = Tab(browser, client, width, scheme, reduced_motion="reduce", **settings)
    tab.page.set_viewport_size({"width": width, "height": SIZES[width]})
    return tab


def in_view(page, locator):
    """Whether an element is inside the window and inside its pane."""
    return locator.evaluate(
        """element => {
          const box = element.getBoundingClientRect(), pane = element.closest(".pane").getBoundingClientRect();
          const top = Math.max(0, pane.top), bottom = Math.min(innerHeight, pane.bottom);
          return box.height > 0 && box.top >= top && box.bottom <= bottom;
        }"""
    )


def walk_the_long_sample(browser, client, run):
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/17")
    wrong = page.locator("#answer-2")
    assert "lit" in wrong.get_attribute("class"), "the claim that went wrong is chosen at first"
    sentence = page.locator("#chunk-7 mark.lit")
    assert sentence.inner_text().startswith("A return ticket for ferry 16 costs 28 euros on weekdays.")
    quoted = page.locator(".findings q", has_text="A return ticket costs")
    for part in (page.locator(".why"), quoted, sentence):
        assert in_view(page, part)
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    tab.close()


@pytest.mark.slow
def test_claim_verdict_and_sentence_are_seen_without_scrolling(browser, made):
    walk_the_long_sample(browser, *made[:2])


@pytest.mark.slow
def test_a_long_answer_opens_at_its_cause(browser, serve, tmp_path):
    run = long_run(tmp_path, 2, repeat=30)
    tab = open_tab(browser, serve(tmp_path))
    page = tab.open(f"/runs/{run.id}/samples/2")
    assert in_view(page, page.locator(".why").first)
    quoted = page.locator(".findings q").first
    assert in_view(page, quoted)
    tab.follow(page.locator(".findings a").first)
    assert in_view(page, page.locator(page.url[page.url.index("#") :] + " .subject"))
    tab.close()


@pytest.mark.slow
def test_a_score_is_found_by_its_name(browser, made):
    client, run, _ = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/2")
    assert page.locator(".scores .score:visible").count() <= 8
    page.locator("#other-scores > summary").click()
    shown = page.locator("#other-scores .score:visible .metric")
    before, name = shown.count(), shown.last.inner_text().split()[0]
    page.locator("#find-score").fill(name)
    assert 0 < shown.count() < before
    assert all(name in text for text in shown.all_inner_texts())
    tab.close()


def test_claims_and_sentences_light_each_other(browser, made):
    client, run, _ = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/2")
    page.locator("#answer-1 .subject").hover()
    sentence = page.locator("#chunk-3 mark[data-keys*='answer-1']").first
    page.locator("#chunk-3 mark.lit").first.wait_for()
    page.wait_for_timeout(400)
    assert in_view(page, sentence)
    page.mouse.move(640, 20)
    assert page.locator("#answer-2.lit").count() == 1, "the chosen claim is lit again"
    sentence.hover()
    assert page.locator("#answer-1.lit").count() == 1
    page.locator("#answer-2 .quote").focus()
    page.locator("#chunk-7 mark.lit").wait_for()
    assert in_view(page, page.locator("#chunk-7 mark.lit"))
    page.locator("#chunk-3 mark sup a").first.focus()
    assert in_view(page, page.locator("#answer-1 .subject"))
    page.locator("h1").click()
    page.keyboard.press("Escape")
    page.mouse.move(640, 20)
    page.locator("#reading").focus()
    assert page.locator(".lit").count() == 0
    tab.close()


@pytest.mark.slow
def test_chunks_without_evidence_are_one_line(browser, made):
    client, run, _ = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/2")
    chunks = page.locator(".chunks > li")
    heights = [chunk.bounding_box()["height"] for chunk in chunks.all()]
    assert [rank for rank, height in enumerate(heights, 1) if height > 60] == [3, 7]
    strip = [" ".join(item.inner_text().split()) for item in page.locator(".ranks li").all()]
    assert strip[2].startswith("3 supports ✓A1 R1") or "A1 R1" in strip[2]
    assert "F1" in strip[2]
    assert "A2" in strip[6]
    page.locator(".ranks li").nth(8).locator("a").click()
    assert page.locator("#chunk-9 details").evaluate("box => box.open")
    page.wait_for_url("**#chunk-9")
    tab.close()


@pytest.mark.slow
def test_the_matrix_leads_to_the_sentence(browser, made):
    client, run, _ = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/2")
    page.get_by_text("Claims × chunks: all verdicts").click()
    row = page.locator(".matrix tbody tr").nth(1)
    states = [cell.text_content().strip() for cell in row.locator("td").all()]
    assert [at for at, state in enumerate(states, 1) if "contradicted" in state] == [7]
    row.locator("td").nth(6).locator("a").click()
    page.wait_for_url("**#at-7-answer-2")
    assert in_view(page, page.locator("#chunk-7 mark.lit"))
    assert page.evaluate(CHECKS) == []
    page.reload()
    assert in_view(page, page.locator("#chunk-7 mark.lit")), "the address leads to the same place"
    tab.close()


@pytest.mark.slow
def test_a_score_opens_in_place(browser, made):
    client, run, _ = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/2")
    score = page.locator("details.score", has_text="fact_recall")
    score.locator("summary").click()
    how = score.locator(".how")
    assert "1 of 2 facts = 0.500" in " ".join(how.inner_text().split())
    how.get_by_role("link", name="fact 1").click()
    page.wait_for_url("**#fact-1")
    assert in_view(page, page.locator("#fact-1 .subject"))
    page.locator(".more summary", has_text="more scores").click()
    assert page.evaluate(CHECKS) == []
    tab.close()


@pytest.mark.slow
def test_one_column_in_the_same_order(browser, made):
    client, run, _ = made
    tab = open_tab(browser, client, 390)
    page = tab.open(f"/runs/{run.id}/samples/2")
    parts = [
        "h1",
        "#answer-h",
        "#reference-h",
        "#answer-1",
        "#reference-1",
        "#fact-1",
        ".ranks",
        "#chunk-1",
        "#scores-h",
    ]
    tops = [page.locator(part).bounding_box()["y"] for part in parts]
    assert tops == sorted(tops)
    assert page.evaluate(CHECKS) == []
    page.locator("#answer-2 .quote").click()
    assert page.locator("#chunk-7 mark.lit").first.is_visible()
    tab.close()


@pytest.mark.slow
def test_markdown_has_a_raw_view_with_the_same_marks(browser, made):
    client, _, run = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/1")
    chunk = page.locator("#chunk-1")
    assert chunk.locator("table").is_visible()
    assert chunk.locator(".md mark").first.is_visible()
    assert not chunk.locator(".plain").is_visible()
    page.get_by_label("raw text").check()
    assert not chunk.locator("table").is_visible()
    assert "| Monday | 9 | 17 |" in chunk.locator(".plain").inner_text()
    assert chunk.locator(".plain mark").first.is_visible()
    page.locator("#fact-1 .quote").click()
    assert in_view(page, chunk.locator(".plain mark.lit").first)
    tab.close()


@pytest.mark.slow
def test_the_page_is_read_without_scripts(browser, made):
    client, long, run = made
    tab = open_tab(browser, client, java_script_enabled=False)
    page = tab.page
    page.goto(f"{client.origin}/runs/{run.id}/samples/1")
    page.get_by_label("raw text").check()
    assert not page.locator("#chunk-1 table").is_visible()
    page.goto(f"{client.origin}/runs/{long.id}/samples/2#at-7-answer-2")
    assert in_view(page, page.locator("#chunk-7 mark").first)
    tab.close()


@pytest.mark.slow
def test_other_scripts_and_empty_texts(browser, made):
    client, _, run = made
    tab = open_tab(browser, client)
    page = tab.open(f"/runs/{run.id}/samples/2")
    assert page.locator("#reading .prose").first.evaluate("text => getComputedStyle(text).direction") == "rtl"
    page = tab.open(f"/runs/{run.id}/samples/3")
    assert page.locator("#reading .prose").first.get_attribute("lang") == "zh"
    page = tab.open(f"/runs/{run.id}/samples/4")
    assert page.locator("#reading .prose").first.inner_text() == "(empty)"
    page = tab.open(f"/runs/{run.id}/samples/5")
    assert [mark.inner_text().split("?")[0].strip() for mark in page.locator(".chunks mark").all()] == [
        "The old stone pier is",
        "four hundred metres long",
    ]
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", list(SIZES))
def test_every_sample_is_sound(browser, made, width, scheme):
    client, long, texts = made
    tab = open_tab(browser, client, width, scheme)
    SHOTS.mkdir(exist_ok=True)
    found = {}
    for run, row in ((long, 2), *((texts, row) for row in range(1, 6))):
        page = tab.open(f"/runs/{run.id}/samples/{row}")
        page.screenshot(path=SHOTS / f"sample-{run.name}-{row}-{width}-{scheme}.png", full_page=width == 390)
        if problems := page.evaluate(CHECKS):
            found[run.name, row] = problems[:5]
    assert found == {}
    tab.close()
