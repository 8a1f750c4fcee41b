"""The ground-truth editor in a real browser: whole editing sessions by mouse and by keyboard, two people at once, hostile texts."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from ragstone.storage.places import open_place
from ragstone.truth.model import case_from_sample
from ragstone.truth.store import TruthStore
from tests.report import runs
from tests.report.runs import EVIL
from tests.web import truths
from tests.web.test_browser import CHECKS, SHOTS, WINDOWS, Tab


@pytest.fixture
def root(tmp_path):
    truths.save(tmp_path, "ferry", truths.ferry())
    return tmp_path


@pytest.fixture
def client(serve, root):
    return serve(root)


@pytest.fixture
def tab(browser, client):
    opened = Tab(browser, client)
    yield opened
    opened.close()


def read(root, name="ferry", number=None):
    return TruthStore(open_place(str(root))).read(name, number)


def case(root, name):
    return next(found for found in read(root).cases if found.id == name)


def verdicts(page, expected):
    """Wait until the verdicts of all facts are these."""
    page.wait_for_function(
        "wanted => JSON.stringify(Array.from(document.querySelectorAll('#facts .verdict'),"
        " chip => chip.textContent.trim().slice(2))) === JSON.stringify(wanted)",
        arg=expected,
    )


def select(page, number, words, release=True):
    """Drag over some words of a text, as a mouse does."""
    box = page.evaluate(
        """([number, words]) => {
          const source = document.getElementById(`text-${number}`);
          const walker = document.createTreeWalker(source, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(words);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + words.length);
            range.startContainer.parentElement.scrollIntoView({ block: "center" });
            const boxes = Array.from(range.getClientRects());
            const [first, last] = [boxes[0], boxes.at(-1)];
            return [first.left + 1, first.top + first.height / 2, last.right - 1, last.top + last.height / 2];
          }
        }""",
        [number, words],
    )
    page.mouse.move(*box[:2])
    page.mouse.down()
    page.mouse.move(*box[2:], steps=4)
    if release:
        page.mouse.up()


def review(page):
    page.get_by_role("button", name="Review and save").click()
    page.get_by_role("heading", name="Save as v").wait_for()
    page.wait_for_load_state("load")


def save(tab, author="Ada", note="mended"):
    page = tab.page
    review(page)
    page.get_by_label("author").fill(author)
    page.get_by_label("note").fill(note)
    page.get_by_role("button", name="Save v").click()
    page.get_by_text("Saved as version").first.wait_for()


def asks(page, question):
    """Wait until the draft is laid over what the server said."""
    page.wait_for_function("wanted => document.getElementById('question').value === wanted", arg=question)


def told(page):
    return page.locator("#draft .told b").inner_text()


@pytest.mark.slow
def test_marks_that_arrive_during_a_selection_leave_it_alone(tab):
    page = tab.open("/truth")
    tab.follow(page.get_by_role("link", name="ferry", exact=True))
    tab.follow(page.get_by_role("link", name="f2"))
    place = "found in passage 2"
    verdicts(page, [place, place, "different meaning", "different spelling in passage 1"])
    words = "In winter the last boat leaves at 18:10."
    select(page, 1, words, release=False)
    # The mouse is still down when the check of another text comes in.
    page.evaluate(
        """() => {
          const box = document.querySelector("#facts li[data-fact='3'] textarea");
          box.value = "In winter the last boat";
          box.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    verdicts(page, [place, place, "different meaning", "found in passage 1"])
    assert page.evaluate("getSelection().toString()") == words
    page.mouse.up()
    page.locator("#text-1 mark", has_text="In winter the last boat").first.wait_for()
    assert page.evaluate("getSelection().toString()") == words


@pytest.mark.slow
def test_a_whole_session_by_mouse(tab, root):
    page = tab.open("/truth")
    tab.follow(page.get_by_role("link", name="ferry", exact=True))
    tab.follow(page.get_by_role("link", name="f2"))
    page.locator("#question").fill("What does a ticket cost, and for whom?")
    page.get_by_label("do the documents contain the answer?").select_option("yes")
    page.get_by_label("Move answer 2 up").click()
    page.get_by_label("Add reference answer").click()
    page.keyboard.type("Nine.")
    place = "found in passage 2"
    verdicts(page, [place, place, "different meaning", "different spelling in passage 1"])
    page.get_by_label("Use the wording of the source for fact 4").click()
    verdicts(page, [place, place, "different meaning", "found in passage 1"])
    page.get_by_label("Accept fact 2").click()
    page.get_by_label("Remove fact 3").click()
    # Marks are drawn again after each check.
    verdicts(page, [place, place, "found in passage 1"])
    select(page, 1, "In winter the last boat leaves at 18:10.")
    page.get_by_role("button", name="Create fact").click()
    verdicts(page, [place, place, "found in passage 1", "found in passage 1"])
    assert page.get_by_label("Fact 4", exact=True).input_value() == "In winter the last boat leaves at 18:10."
    assert page.locator("#text-1 mark").count() == 2
    page.get_by_label("Kind of fact 3").select_option("statement")
    assert page.evaluate(CHECKS) == []
    tab.follow(page.get_by_role("link", name="next"))
    page.get_by_label("Add reference answer").click()
    page.keyboard.type("Nobody says.")
    assert told(page) == "2 cases edited, not saved."
    review(page)
    assert page.evaluate(CHECKS) == []
    page.screenshot(path=SHOTS / "review-1280-light.png", full_page=True)
    page.go_back()
    save(tab)
    version = read(root)
    assert (version.info.number, version.info.author, version.info.note) == (2, "Ada", "mended")
    edited = case(root, "f2")
    assert edited.question == "What does a ticket cost, and for whom?"
    assert edited.references == ["Nine crowns; children pay four.", "9 crowns for an adult.", "Nine."]
    assert edited.answerable is True
    assert [(fact.text, fact.standing, fact.kind, fact.provenance) for fact in edited.facts] == [
        ("A single ticket for an adult costs 9 crowns.", "accepted", "citation", "manual"),
        ("Children under 12 pay 4 crowns", "accepted", "citation", "synthetic"),
        ("Bicycles travel free of charge", "proposed", "statement", "harvested"),
        ("In winter the last boat leaves at 18:10.", "accepted", "citation", "manual"),
    ]
    assert edited.facts[3].source == "timetable.md"
    assert case(root, "f3").references == ["Nobody says."]
    assert page.locator("#draft").is_hidden()
    tab.follow(page.get_by_role("link", name="changes since v1"))
    assert page.locator(".changelist > li").count() == 2


@pytest.mark.slow
def test_a_whole_session_by_keyboard(tab, root):
    page = tab.open("/truth/ferry/case?id=f1")
    page.locator("#text-1").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    while "at" in page.evaluate("getSelection().toString()").split():
        page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate("getSelection().toString()").strip() == "In winter the last boat leaves"
    assert "In winter the last boat" in page.locator("#said").inner_text()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    fact = page.get_by_label("Fact 2", exact=True)
    assert fact.evaluate("box => box === document.activeElement")
    assert fact.input_value() == "In winter the last boat leaves at 18:10. Bicycles travel free of charge."
    verdicts(page, ["found in passage 1", "found in passage 1"])
    page.keyboard.press("Control+a")
    page.keyboard.type("In winter the last boat leaves at 18:20.")
    verdicts(page, ["found in passage 1", "different meaning"])
    page.keyboard.press("Control+z")
    assert fact.input_value() == "In winter the last boat leaves at 18:10. Bicycles travel free of charge."
    page.keyboard.press("Control+z")
    assert page.locator("#facts > li").count() == 1
    page.keyboard.press("Control+Shift+z")
    verdicts(page, ["found in passage 1", "found in passage 1"])
    page.keyboard.press("Control+s")
    page.get_by_role("heading", name="Save as v2").wait_for()
    page.get_by_label("author").focus()
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    page.get_by_text("Saved as version").first.wait_for()
    assert [fact.text for fact in case(root, "f1").facts][1].startswith("In winter the last boat leaves at 18:10.")


@pytest.mark.slow
def test_the_queue_by_keys(tab, root):
    page = tab.open("/truth/ferry/queue")
    cards = page.locator("#queue > li")
    assert page.evaluate(CHECKS) == []
    page.keyboard.press("j")
    page.keyboard.press("a")
    assert "accepted" in cards.nth(0).get_attribute("class")
    assert cards.nth(1).evaluate("card => card === document.activeElement")
    page.keyboard.press("r")
    page.keyboard.press("u")
    assert cards.nth(1).evaluate("card => card === document.activeElement")
    assert page.locator("#left").inner_text() == "2 of 3 on this page to review."
    page.keyboard.press("r")
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert cards.nth(0).evaluate("card => card === document.activeElement")
    page.keyboard.press("a")
    assert page.locator("#left").inner_text() == "2 of 3 on this page to review."
    page.get_by_role("button", name="Accept").first.click()
    save(tab, note="reviewed")
    standings = [fact.standing for fact in case(root, "f2").facts]
    assert standings == ["accepted", "accepted", "rejected", "proposed"]
    page.goto(f"{tab.origin}/truth/ferry/queue")
    assert cards.count() == 1


@pytest.mark.slow
def test_edits_outlive_the_page_and_leaving_warns(browser, client, root):
    tab = Tab(browser, client)
    page = tab.open("/truth/ferry/case?id=f1")
    page.locator("#question").fill("BackgroundCache?")
    second = tab.context.new_page()
    second.goto(f"{tab.origin}/truth/ferry/case?id=f1")
    asks(second, "BackgroundCache?")
    second.close()
    page.get_by_role("link", name="next").click()
    page.wait_for_url("**id=f2")
    page.get_by_role("link", name="previous").click()
    page.wait_for_url("**id=f1")
    asks(page, "BackgroundCache?")
    assert tab.warned == 0
    page.locator("#question").press("End")
    page.get_by_role("link", name="Ragstone", exact=True).click()
    page.wait_for_url("**/runs")
    assert tab.warned == 1
    assert read(root).info.number == 1
    page.goto(f"{tab.origin}/truth/ferry")
    page.locator("tr", has_text="f1").get_by_text("edited").wait_for()
    page.get_by_role("button", name="Discard all").click()
    assert told(page) == "No unsaved edits."
    page.get_by_role("button", name="Undo").click()
    assert told(page) == "1 case edited, not saved."
    tab.close()


@pytest.mark.slow
def test_two_people_at_once_lose_nothing(browser, client, root):
    ada, grace = Tab(browser, client), Tab(browser, client)
    for tab, question, answer in ((ada, "Ada asks?", None), (grace, "Grace asks?", "At 21:40 sharp.")):
        page = tab.open("/truth/ferry/case?id=f1")
        page.locator("#question").fill(question)
        if answer:
            page.get_by_label("Reference answer 1").fill(answer)
    ada.page.get_by_label("Write fact").click()
    ada.page.keyboard.type("Bicycles travel free of charge")
    save(grace, "Grace", "hers")
    page = ada.page
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.get_by_text("v2 was saved after your base version v1").wait_for()
    review(page)
    assert page.locator(".conflicts > li").count() == 1
    assert page.evaluate(CHECKS) == []
    page.screenshot(path=SHOTS / "merge-1280-light.png", full_page=True)
    page.get_by_label("author").fill("Ada")
    page.get_by_role("radio", name="Yours").check()
    page.get_by_role("button", name="Save v3").click()
    page.get_by_text("Saved as version 3").first.wait_for()
    merged = case(root, "f1")
    assert merged.question == "Ada asks?"
    assert merged.references == ["At 21:40 sharp."]
    assert [fact.text for fact in merged.facts][1] == "Bicycles travel free of charge"
    assert read(root).info.parent == 2
    ada.close()
    grace.close()


@pytest.mark.slow
def test_a_version_that_comes_between_review_and_save(browser, client, root):
    ada, grace = Tab(browser, client), Tab(browser, client)
    for tab, name in ((ada, "f1"), (grace, "f2")):
        tab.open(f"/truth/ferry/case?id={name}").locator("#question").fill(f"Edited {name}?")
    review(ada.page)
    save(grace, "Grace", "hers")
    ada.page.get_by_label("author").fill("Ada")
    ada.page.get_by_role("button", name="Save v2").click()
    ada.page.get_by_role("alert").get_by_text("Version 2 was saved in the meantime").wait_for()
    ada.problems.clear()  # the browser tells of the status 409
    ada.page.get_by_role("button", name="Save v3").click()
    ada.page.get_by_text("Saved as version 3").first.wait_for()
    assert [case(root, name).question for name in ("f1", "f2")] == ["Edited f1?", "Edited f2?"]
    ada.close()
    grace.close()


@pytest.mark.slow
def test_a_draft_goes_on_from_where_it_began(browser, client, root):
    tab = Tab(browser, client)
    tab.open("/truth/ferry/case?id=f1").locator("#question").fill("Mine?")
    truths.save(root, "ferry", [*truths.ferry(), *truths.many(1)], "Grace", "", 1)
    page = tab.open("/truth/ferry/case?id=f2")
    page.wait_for_url("**v=1")
    assert "newest: v2" in page.locator(".kind").inner_text().lower()
    page.locator("#question").fill("Mine too?")
    save(tab)
    assert [found.question for found in read(root).cases[:2]] == ["Mine?", "Mine too?"]
    assert len(read(root).cases) == 4
    tab.close()


@pytest.mark.slow
def test_a_case_that_is_newer_than_the_draft(browser, client, root):
    tab = Tab(browser, client)
    tab.open("/truth/ferry/case?id=f1").locator("#question").fill("Mine?")
    truths.save(root, "ferry", [*truths.ferry(), *truths.many(1)], "Grace", "", 1)
    page = tab.open("/truth/ferry/case?id=c0")
    page.get_by_text("This case was added in v2").wait_for()
    assert page.locator("#question").get_attribute("readonly") is not None
    page.get_by_role("button", name="Discard all").click()
    page.locator("#question:not([readonly])").wait_for()
    tab.problems.clear()  # the browser tells of the status 404
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["__proto__", "constructor", "a/b?c#d.json", "..", " "])
def test_ids_that_mean_something_elsewhere(browser, serve, tmp_path, name):
    truths.save(tmp_path, "odd", [replace(case, id=name) for case in truths.ferry()[1:2]])
    tab = Tab(browser, serve(tmp_path))
    page = tab.open("/truth/odd")
    assert page.locator(".edited").count() == 0
    tab.follow(page.locator("table.cases tbody th a"))
    page.locator("#question").fill("Edited?")
    tab.follow(page.get_by_role("link", name="odd", exact=True))
    page.locator("tr .edited").wait_for()
    tab.follow(page.get_by_role("link", name="Review 3 proposed"))
    page.get_by_text("3 of 3 on this page to review.").wait_for()
    page.keyboard.press("a")
    save(tab)
    saved = read(tmp_path, "odd").cases[0]
    assert (saved.id, saved.question, saved.facts[1].standing) == (name, "Edited?", "accepted")
    tab.close()


@pytest.mark.slow
def test_cases_come_and_go(tab, root):
    page = tab.open("/truth/ferry/new")
    page.locator("#question").fill("Is there a café?")
    page.get_by_label("Add reference answer").click()
    page.keyboard.type("Yes.")
    page.goto(f"{tab.origin}/truth/ferry/case?id=f3")
    page.get_by_role("button", name="Remove this case").click()
    page.get_by_role("button", name="Restore this case").click()
    assert told(page) == "1 case edited, not saved."
    page.get_by_role("button", name="Remove this case").click()
    page.get_by_role("link", name="ferry", exact=True).click()
    page.locator("tr.removed", has_text="f3").wait_for()
    tab.follow(page.get_by_role("link", name="case-4: Is there a café?"))
    assert page.get_by_label("Reference answer 1").input_value() == "Yes."
    save(tab)
    assert [found.id for found in read(root).cases] == ["f1", "f2", "case-4"]
    assert case(root, "case-4").question == "Is there a café?"


@pytest.mark.slow
def test_hostile_texts_are_edited_and_stay_what_they_are(browser, serve, tmp_path):
    truths.save(tmp_path, "hostile", truths.hostile())
    tab = Tab(browser, serve(tmp_path))
    tab.page.add_init_script("window.alert = () => { throw new Error('an alert') }")
    page = tab.open(f"/truth/hostile/case?{urlencode({'id': f'id0 {EVIL}'})}")
    verdicts(page, ["found in passage 1", "not checked"])
    assert page.locator("#facts .warn").count() == 2
    assert page.evaluate(CHECKS) == []
    select(page, 1, "It has two masts.")
    page.get_by_role("button", name="Create fact").click()
    page.get_by_label("Accept fact 2").click()
    review(page)
    assert page.evaluate(CHECKS) == []
    page.go_back()
    save(tab)
    saved = read(tmp_path, "hostile").cases[0]
    before = truths.hostile()[0]
    assert (saved.id, saved.question, saved.references) == (before.id, before.question, before.references)
    assert [fact.text for fact in saved.facts] == [before.facts[0].text, before.facts[1].text, "It has two masts."]
    assert saved.facts[2].source == EVIL
    for path in ("/truth", "/truth/hostile", "/truth/hostile/queue", "/truth/hostile/diff"):
        page = tab.open(path)
        assert page.evaluate(CHECKS) == []
        assert "\u202e" not in page.locator("body").inner_text()
    tab.close()


@pytest.mark.slow
def test_long_and_many_texts_are_kept(browser, client, root):
    tab = Tab(browser, client)
    page = tab.open("/truth/ferry/case?id=f1")
    page.get_by_label("Reference answer 1").fill("long " * 40_000)
    save(tab)
    assert len(case(root, "f1").references[0]) == len("long " * 40_000) - 1
    tab.close()


@pytest.mark.slow
def test_what_no_longer_fits_is_said_and_saved(browser, client, root):
    tab = Tab(browser, client)
    tab.page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full') }")
    page = tab.open("/truth/ferry/case?id=f1")
    page.locator("#question").fill("No room?")
    page.get_by_text("The browser storage is full").wait_for()
    page.get_by_label("Add reference answer").click()
    page.keyboard.type("Another.")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+z")
    assert page.locator("#question").input_value() == "No room?"
    save(tab)
    assert (case(root, "f1").question, case(root, "f1").references) == ("No room?", ["At 21:40.", "Another."])
    tab.close()


@pytest.mark.slow
def test_a_viewer_that_was_started_anew(browser, client):
    tab = Tab(browser, client)
    page = tab.open("/truth/ferry/case?id=f1")
    page.evaluate("document.querySelector('#draft [name=token]').value = 'stale'")
    page.get_by_label("Fact 1", exact=True).fill("Bicycles travel free of charge")
    page.get_by_text("check failed").wait_for()
    assert "restarted" in page.locator("#said").inner_text()
    tab.follow(page.get_by_role("button", name="Review and save"))
    assert "Your edits are kept in the browser" in page.locator("main").inner_text()
    page.go_back()
    page.reload()
    page.locator("#facts textarea").wait_for()
    assert page.get_by_label("Fact 1", exact=True).input_value() == "Bicycles travel free of charge"
    assert told(page) == "1 case edited, not saved."
    tab.problems.clear()  # the browser tells of the status 403
    tab.close()


@pytest.mark.slow
def test_read_only_shows_and_offers_nothing(browser, serve, root):
    tab = Tab(browser, serve(root, read_only=True))
    for path in ("/truth", "/truth/ferry", "/truth/ferry/case?id=f2", "/truth/ferry/queue"):
        page = tab.open(path)
        assert page.evaluate(CHECKS) == []
        assert page.locator("textarea, form[method=post]").count() == 0
    tab.close()


@pytest.mark.slow
def test_pages_are_read_without_scripts(browser, client):
    tab = Tab(browser, client, java_script_enabled=False)
    for path in ("/truth", "/truth/ferry", "/truth/ferry/case?id=f2", "/truth/ferry/queue", "/truth/ferry/v1"):
        tab.page.goto(f"{tab.origin}{path}")
        assert tab.page.locator("h1").inner_text()
    tab.page.goto(f"{tab.origin}/truth/ferry/case?id=f2")
    assert "Editing requires JavaScript" in tab.page.locator("main").inner_text()
    assert "different meaning" in tab.page.locator("#facts").inner_text()
    tab.close()


@pytest.mark.slow
def test_from_a_run_to_new_scores(browser, serve, tmp_path):
    scored = runs.harbour("worse", tmp_path)
    tab = Tab(browser, serve(tmp_path))
    page = tab.open(f"/runs/{scored.id}")
    tab.follow(page.get_by_role("link", name="Create ground truth from this run"))
    page.get_by_label("name", exact=True).fill("harbour")
    page.get_by_label("author").fill("Ada")
    page.get_by_role("button", name="Create ground truth").click()
    page.wait_for_url("**/truth/harbour")
    page = tab.open(f"/runs/{scored.id}/samples/8")
    tab.follow(page.get_by_role("link", name="Edit it in harbour"))
    page.get_by_label("Write fact").click()
    page.keyboard.type("Whales are fish")
    # The case has no passages of its own, and that no chunk of the run says it proves nothing.
    page.locator("#facts .verdict", has_text="no passages").wait_for()
    save(tab)
    tab.follow(page.get_by_role("link", name="Rescore runs"))
    assert page.evaluate(CHECKS) == []
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Rescore selected runs").click()
    page.get_by_role("link", name="Compare old and new").wait_for(timeout=30_000)
    page.screenshot(path=SHOTS / "rescored-1280-light.png", full_page=True)
    tab.follow(page.get_by_role("link", name="Compare old and new"))
    assert "fact_recall" in page.locator("table.forest").first.inner_text()
    tab.close()


@pytest.fixture(scope="module")
def furnished(serve, tmp_path_factory):
    found = tmp_path_factory.mktemp("furnished")
    truths.save(found, "ferry", truths.ferry())
    changed = [replace(case, facts=case.facts[1:]) for case in truths.ferry()]
    truths.save(found, "ferry", changed, "Grace", "fewer facts", 1)
    scored = runs.harbour("worse", found)
    truths.save(found, "harbour", [case_from_sample(sample) for sample in scored.samples])
    return serve(found), scored


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_every_page_is_sound(browser, furnished, width, scheme):
    client, scored = furnished
    tab = Tab(browser, client, width, scheme)
    SHOTS.mkdir(exist_ok=True)
    pages = {
        "truths": "/truth",
        "truth": "/truth/ferry",
        "truth-old": "/truth/ferry/v1",
        "case": "/truth/ferry/case?id=f2",
        "case-run": f"/truth/harbour/case?id={next(iter(scored.samples)).id}",
        "case-new": "/truth/ferry/new",
        "queue": "/truth/ferry/queue",
        "truthdiff": "/truth/ferry/diff",
        "rescore": "/truth/harbour/rescore",
        "rescore-none": "/truth/ferry/rescore",
        "maketruth": f"/runs/{scored.id}/truth",
        "truth-nothing": "/truth/ferry?q=nothing-like-it",
    }
    found = {}
    for name, path in pages.items():
        page = tab.open(path)
        if name == "case":
            page.locator("#question").fill("What does a ticket cost now?")
            right = "selector => document.querySelector(selector).getBoundingClientRect().right"
            assert page.evaluate(right, ".reading") == pytest.approx(page.evaluate(right, ".desk"), abs=8)
        page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=True)
        if problems := page.evaluate(CHECKS):
            found[name] = problems[:5]
    assert found == {}
    tab.close()
