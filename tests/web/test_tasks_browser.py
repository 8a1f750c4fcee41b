"""Ten tasks of a person in a real browser, each with the clicks or keys that it may take."""

import pytest

from ragstone.truth.model import case_from_sample
from ragstone.truth.store import TruthStore
from tests.report import runs
from tests.web.made_conversations import conversation_run
from tests.web.pages.test_system_strip import timed
from tests.web.test_browser import Tab

pytestmark = pytest.mark.slow


class Person:
    """A person in a window: clicks are counted."""

    def __init__(self, browser, client, path):
        self.tab = Tab(browser, client, 1440, permissions=["clipboard-read", "clipboard-write"])
        self.page = self.tab.open(path)
        self.clicks = 0

    def click(self, role, name, **more):
        self.clicks += 1
        return self.tab.follow(self.page.get_by_role(role, name=name, **more).first)

    def sees(self, locator):
        """Whether an element is in the window without scrolling."""
        box = self.page.locator(locator).first.bounding_box()
        return box is not None and box["y"] >= 0 and box["y"] + min(box["height"], 20) <= 900


@pytest.fixture(scope="module")
def store(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("tasks")
    worse, better = (runs.harbour(name, root) for name in ("worse", "better"))
    TruthStore(str(root)).save("harbour", [case_from_sample(one) for one in worse.samples], author="Ada", note="new")
    return serve(root), worse, better, conversation_run(root), timed(root, "timed", 1)


@pytest.fixture
def visit(browser, store):
    opened = []

    def start(path, client=store[0]):
        opened.append(Person(browser, client, path))
        return opened[-1]

    yield start
    for person in opened:
        person.tab.close()


def test_why_the_worst_row_fails(visit, store):
    person = visit("/runs")
    person.click("link", store[1].name, exact=True)
    person.click("link", "Open the worst sample")
    assert person.clicks <= 2
    assert person.sees(".why .chip.bad")
    assert person.page.locator("main q").first.inner_text()


def test_which_chunks_are_useless(visit, store):
    person = visit(f"/runs/{store[1].id}/samples/2")
    shown = person.page.locator(".chunks > li")
    useless = [one.inner_text() for one in shown.all() if "not relevant" in one.inner_text()]
    assert 0 < len(useless) < shown.count()
    assert person.sees(".chunks .chip.silent")
    assert person.clicks == 0


def test_is_the_new_version_better_and_where_is_it_worse(visit, store):
    client, worse, better, *_ = store
    person = visit("/runs")
    for run in (worse, better):
        person.page.locator(f"input[name=run][value='{run.id}']").click()
        person.clicks += 1
    person.click("button", "Compare")
    assert person.clicks <= 3
    headline = person.page.locator(".headline").first.inner_text()
    moved = client.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])["moved"]
    kinds = [row["kind"] for row in moved]
    for kind in ("fixed", "newly failing"):
        assert f"{kinds.count(kind)} {kind}" in " ".join(headline.split())
    assert person.page.locator("#rows").inner_text()


def test_ten_answers_are_labelled_by_keyboard(visit, store):
    client, worse, *_ = store
    person = visit(f"/runs/{worse.id}/samples/1?sort=row")
    keys = "1312011231"
    for count, key in enumerate(keys, 1):
        person.page.locator("body").press(key)
        person.page.wait_for_url(f"**/samples/{count + 1}?*")
    assert len(keys) <= 25
    found = client.json(f"/agreement/{worse.id}.json")["measured"]
    assert (found["rows"], found["people"][0]["skipped"]) == (9, 1)


def test_all_unsure_rows(visit, unsure):
    client, run = unsure
    person = visit(f"/runs/{run.id}", client)
    person.page.locator(".rowchips a", has_text="unsure").click()
    person.page.wait_for_url("**where=unsure*")
    shown = client.ready(run, "?where=unsure+>+0")["table"]["fitting"]
    assert person.page.locator("table.samples tbody tr").count() == shown > 0


def test_exactly_this_claim_is_sent(visit, store):
    client, _, _, talks, _ = store
    person = visit(f"/runs/{talks.id}/samples/1")
    person.page.get_by_role("link", name="Link to A1", exact=True).click()
    person.page.get_by_text("Link copied").wait_for(state="attached")
    copied = person.page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{client.origin}/runs/{talks.id}/samples/1#answer-1"


def test_a_fact_is_corrected(visit, store):
    person = visit(f"/runs/{store[1].id}/samples/2")
    person.click("link", "Edit it in harbour")
    person.page.locator("#facts textarea").first.fill("Vehicles must check in at the quay 20 minutes before departure")
    person.click("button", "Review and save")
    person.page.get_by_label("author").fill("Ada")
    person.page.get_by_label("note").fill("shorter")
    person.click("button", "Save v2")
    assert person.clicks <= 4
    person.page.wait_for_url("**/truth/harbour**")


def test_cost_and_latency_are_on_the_page(visit, store):
    person = visit(f"/runs/{store[4].id}")
    assert person.sees("dl.system")
    strip = person.page.locator("dl.system").inner_text()
    assert "6.5" in strip
    assert "$" in strip
    assert person.clicks == 0


def test_the_bad_turn_of_a_conversation(visit, store):
    person = visit(f"/runs/{store[3].id}")
    person.page.locator("#conversations a").first.click()
    person.page.wait_for_url("**/conversations/*")
    assert "wrong" in person.page.locator(".turn.chosen").inner_text()
    assert "second" in person.page.locator("h1").inner_text()


def test_what_to_fix_first(visit, store):
    person = visit(f"/runs/{store[1].id}")
    advice = person.page.locator("#verdict ol li").first
    assert advice.inner_text()
    assert person.sees("#verdict ol li")
    assert person.clicks == 0
