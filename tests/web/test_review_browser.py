"""Reviewing ground truth in a real browser: corrected passages, lost citations, written values, unanswerable questions."""

from dataclasses import replace

import pytest

from tests.web import truths
from tests.web.test_browser import CHECKS, SHOTS, WINDOWS, Tab
from tests.web.test_editor_browser import case, read, review, save, told, verdicts


@pytest.fixture
def root(tmp_path):
    cases = truths.ferry()
    cases[2] = replace(cases[2], standing="proposed", provenance="synthetic", documents=["fares.md"])
    truths.save(tmp_path, "ferry", cases)
    return tmp_path


@pytest.fixture
def client(serve, root):
    return serve(root)


@pytest.fixture
def tab(browser, client):
    opened = Tab(browser, client)
    yield opened
    opened.close()


@pytest.mark.slow
def test_a_passage_is_corrected_and_what_rests_on_it_is_checked_again(tab, root):
    page = tab.open("/truth/ferry/case?id=f1")
    verdicts(page, ["found in passage 1"])
    page.get_by_role("button", name="Correct passage 1").click()
    field = page.get_by_label("Text of passage 1")
    assert field.evaluate("box => box === document.activeElement")
    field.fill(truths.TIMETABLE.replace("21:40", "21:45"))
    verdicts(page, ["different meaning"])
    assert page.evaluate(CHECKS) == []
    page.keyboard.press("Escape")
    assert "21:45" in page.locator("#text-1").inner_text()
    assert page.locator("#text-1 mark").count() == 0
    page.get_by_role("button", name="Undo").click()
    verdicts(page, ["found in passage 1"])
    assert "21:40" in page.locator("#text-1").inner_text()
    assert told(page) == "No unsaved edits."
    page.get_by_role("button", name="Redo").click()
    verdicts(page, ["different meaning"])
    # The draft outlives the page, and the review leads back to the fact.
    review(page)
    page.get_by_role("heading", name="1 accepted citation is not in the passages").wait_for()
    assert page.evaluate(CHECKS) == []
    tab.follow(page.get_by_role("link", name="f1, fact 1"))
    fact = page.get_by_label("Fact 1", exact=True)
    fact.wait_for()
    assert fact.evaluate("box => box === document.activeElement")
    assert page.locator(".passage-tools .chip").inner_text() == "corrected"
    fact.fill("the last boat leaves Orlsay at 21:45")
    verdicts(page, ["found in passage 1"])
    save(tab)
    saved = case(root, "f1")
    assert saved.passages[0] == replace(truths.ferry()[0].passages[0], text=truths.TIMETABLE.replace("21:40", "21:45"))
    assert saved.facts[0].text == "the last boat leaves Orlsay at 21:45"
    tab.follow(page.get_by_role("link", name="changes since v1"))
    assert "passage" in page.locator(".changelist").inner_text().lower()


@pytest.mark.slow
def test_a_corrected_passage_is_restored_or_removed(tab, root):
    page = tab.open("/truth/ferry/case?id=f1")
    page.get_by_role("button", name="Correct passage 2").click()
    page.get_by_label("Text of passage 2").fill("")
    assert page.locator(".passage-tools .chip").inner_text() == "removed"
    page.get_by_role("button", name="Restore passage 2").click()
    assert page.get_by_label("Text of passage 2").input_value() == truths.FARES
    assert told(page) == "No unsaved edits."
    page.get_by_label("Text of passage 2").fill(" ")
    page.get_by_role("button", name="Finish the correction of passage 2").click()
    save(tab)
    assert [passage.text for passage in case(root, "f1").passages] == [truths.TIMETABLE]


@pytest.mark.slow
def test_a_conflict_is_resolved_by_a_written_value(browser, client, root):
    ada, grace = Tab(browser, client), Tab(browser, client)
    for tab, question in ((ada, "Ada asks?"), (grace, "Grace asks?")):
        tab.open("/truth/ferry/case?id=f1").locator("#question").fill(question)
    save(grace, "Grace", "hers")
    page = ada.page
    review(page)
    written = page.get_by_role("radio", name="Write the merged value")
    assert not written.is_checked()
    field = page.get_by_label("Your own value")
    assert field.input_value() == "Ada asks?"
    field.fill("Ada and Grace ask?")
    assert written.is_checked()
    assert page.evaluate(CHECKS) == []
    page.get_by_label("author").fill("Ada")
    page.get_by_role("button", name="Save v3").click()
    page.get_by_text("Saved as version 3").first.wait_for()
    assert case(root, "f1").question == "Ada and Grace ask?"
    ada.close()
    grace.close()


@pytest.mark.slow
def test_an_unanswerable_question_is_accepted_in_the_queue(tab, root):
    page = tab.open("/truth/ferry/queue")
    assert page.locator("#queue > li").count() == 4
    card = page.locator("#queue > li").nth(3)
    assert "The documents do not contain the answer" in card.inner_text()
    card.get_by_role("button", name="Accept").click()
    save(tab)
    assert case(root, "f3").as_sample().answerable is False
    assert read(root).info.number == 2


@pytest.mark.slow
def test_an_unanswerable_question_is_decided_in_the_editor(tab, root):
    page = tab.open("/truth/ferry/case?id=f3")
    page.get_by_role("button", name="Reject that it is unanswerable").click()
    assert told(page) == "1 case edited, not saved."
    page.get_by_role("button", name="Undo").click()
    page.get_by_label("do the documents contain the answer?").select_option("yes")
    save(tab)
    assert (case(root, "f3").answerable, case(root, "f3").standing) == (True, "accepted")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_the_pages_of_a_review_are_sound(browser, client, root, width, scheme):
    SHOTS.mkdir(exist_ok=True)
    tab = Tab(browser, client, width, scheme)
    page = tab.open("/truth/ferry/case?id=f2")
    page.locator("#question").fill("What does a ticket cost now?")
    page.get_by_label("Accept fact 3").click()
    page.get_by_role("button", name="Correct passage 2").click()
    page.get_by_label("Text of passage 2").fill(truths.FARES.replace("9 crowns", "10 crowns"))
    verdicts(page, ["different meaning", "found in passage 2", "different meaning", "different spelling in passage 1"])
    shot(page, "case-corrected", width, scheme)
    hers = truths.ferry()
    facts = [replace(hers[1].facts[0], note="hers"), *hers[1].facts[1:]]
    hers[1] = replace(hers[1], question="What does a ticket cost in winter?", references=["Nine."], facts=facts)
    hers[1] = replace(hers[1], passages=[hers[1].passages[0], replace(hers[1].passages[1], text="Nine crowns.")])
    truths.save(root, "ferry", hers, "Grace", "winter fares", 1)
    page.get_by_label("Reference answer 1").fill("10 crowns for an adult.")
    review(page)
    assert page.locator(".conflicts > li").count() == 3
    shot(page, "review-conflicts", width, scheme)
    shot(tab.open("/truth/ferry/queue?v=1"), "queue-unanswerable", width, scheme)
    tab.close()


def shot(page, name, width, scheme):
    page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=True)
    assert page.evaluate(CHECKS) == []
