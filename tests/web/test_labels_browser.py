"""Labels in a real browser: 200 by keyboard, two people at once, a viewer that is killed, claims, undo, and no script at all."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import ragstone
from ragstone.storage.human_labels import answer_labels, read_human_labels
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from tests.analysis.test_label_use import rows
from tests.axe import barriers
from tests.web import made_runs
from tests.web.test_browser import CHECKS, Tab


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Process:
    """A viewer in a process of its own, which can be killed and started again at the same address."""

    def __init__(self, root):
        self.root, self.port = root, free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        command = [sys.executable, "-m", "ragstone", "view", str(self.root), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the viewer did not start")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def run(tmp_path):
    made = list(rows(wrong=range(0, 210, 3), count=210))
    return open_run(ragstone.evaluate(made, "ragchecker", str(tmp_path)).path)


def person(browser, viewer, run, name, row=1, query="?sort=row"):
    tab = Tab(browser, viewer)
    tab.page.add_init_script(f"localStorage.setItem('ragstone-author', '{name}')")
    tab.open(f"/runs/{run.id}/samples/{row}{query}")
    return tab


def press(page, key):
    """Label by key; the page goes on."""
    before = page.url
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before)
    page.locator("#labelling").wait_for()


@pytest.mark.slow
def test_40_labels_by_keyboard_by_two_people_with_a_viewer_that_is_killed(browser, run, tmp_path):
    viewer = Process(tmp_path)
    try:
        ana, bo = (person(browser, viewer, run, name) for name in ("Ana", "Bo"))
        keys = {}
        for number in range(1, 41):
            keys[number] = "123"[number % 3]
            if number == 21:
                viewer.kill()
                ana.page.keyboard.press(keys[number])
                ana.page.locator("#label-error", has_text="the viewer does not answer").wait_for()
                viewer.start()
                for one in (ana, bo):
                    one.page.reload()
            press(ana.page, keys[number])
            assert ana.page.url.endswith(f"/samples/{number + 1}?sort=row")
            if number % 10 == 0:
                press(bo.page, "1")
        viewer.kill()
        found = read_human_labels(open_place(tmp_path))
        assert found.damaged == ()
        assert [sum(one.author == name for one in found.labels) for name in ("Ana", "Bo")] == [40, 4]
        words = {"1": "right", "2": "partly", "3": "wrong"}
        by_row = answer_labels(run)
        for number, key in keys.items():
            [mine] = [one for one in by_row[number - 1] if one.author == "Ana"]
            assert mine.value == words[key]
        assert [row for row in by_row if any(one.author == "Bo" for one in by_row[row])] == list(range(4))
    finally:
        if viewer.process.poll() is None:
            viewer.kill()
        for one in (ana, bo):
            # The killed viewer did not answer: the browser says so.
            one.problems = [text for text in one.problems if "ERR_CONNECTION" not in text]
            one.close()


@pytest.fixture
def served(serve, run, tmp_path):
    return serve(tmp_path)


@pytest.mark.slow
def test_ten_labels_need_at_most_25_keys(browser, served, run):
    tab = person(browser, served, run, "Ana")
    for _ in range(10):
        press(tab.page, "1")
    tab.close()
    assert len(answer_labels(run)) == 10


@pytest.mark.slow
def test_skip_note_undo_and_status(browser, served, run):
    tab = person(browser, served, run, "Ana", 2)
    page = tab.page
    page.keyboard.press("e")
    page.keyboard.type("because 1 of 3 is off")
    page.keyboard.press("Enter")
    press(page, "3")
    assert answer_labels(run)[1][0].note == "because 1 of 3 is off"
    press(page, "0")
    assert page.url.endswith("/samples/4?sort=row")
    assert list(answer_labels(run)) == [1]
    press(page, "k")
    press(page, "k")
    assert "wrong" in page.locator(".why .chip").first.text_content()
    assert page.locator("#given").text_content() == "Ana: wrong, because 1 of 3 is off"
    press(page, "2")
    assert answer_labels(run)[1][0].value == "partly"
    press(page, "u")
    assert page.url.endswith("/samples/2?sort=row")
    assert answer_labels(run)[1][0].value == "wrong"
    page.get_by_text("your name and the next row").click()
    page.get_by_role("link", name="stay here").click()
    page.wait_for_url("**pick=stay*")
    page.keyboard.press("1")
    page.locator(".why .chip", has_text="fine, labelled by Ana").wait_for()
    assert page.url.endswith("pick=stay")
    assert page.evaluate(CHECKS) == []
    tab.close()


@pytest.mark.slow
def test_claims_by_keys(browser, served, run):
    tab = person(browser, served, run, "Ana", 1)
    page = tab.page
    page.keyboard.press("n")
    page.keyboard.press("x")
    assert page.evaluate("document.activeElement.textContent") == "supported"
    page.keyboard.press("Enter")
    page.locator(".claim-label .chip.bad", has_text="Ana: supported").wait_for()
    tab.wait()  # the page was loaded again: without its scripts it knows no keys
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("b")
    page.keyboard.press("b")
    page.keyboard.press("n")
    page.keyboard.press("y")
    page.locator(".claim-label .chip.good", has_text=re.compile("Ana: ")).first.wait_for()
    tab.close()


@pytest.mark.slow
def test_without_a_name_nothing_is_sent(browser, serve, run, tmp_path):
    served = serve(tmp_path)
    served.viewer._library.user = ""
    tab = Tab(browser, served)
    page = tab.open(f"/runs/{run.id}/samples/1?sort=row")
    assert page.locator("input[name=author]").is_visible()
    page.keyboard.press("1")
    assert page.evaluate("document.querySelector('input[name=author]:invalid') !== null")
    page.locator("input[name=author]").fill("Zoë")
    press_outside = page.locator("h1")
    press_outside.click()
    press(page, "1")
    # The name is kept in the browser.
    assert page.locator("input[name=author]").input_value() == "Zoë"
    assert answer_labels(run)[0][0].author == "Zoë"
    tab.close()


@pytest.mark.slow
def test_without_scripts_the_form_works(browser, served, run):
    tab = Tab(browser, served, java_script_enabled=False)
    page = tab.page
    page.goto(f"{served.origin}/runs/{run.id}/samples/1?sort=row")
    page.get_by_label("note").fill("by hand")
    page.get_by_role("button", name="wrong", exact=False).first.click()
    page.wait_for_url("**/samples/2?sort=row")
    assert [(one.value, one.note) for one in answer_labels(run)[0]] == [("wrong", "by hand")]
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_with_labels_are_accessible(browser, serve, tmp_path, scheme):
    made = made_runs.long_run(tmp_path, 12)
    served = serve(tmp_path)
    for width in (1440, 1024, 390):
        tab = Tab(browser, served, width, scheme)
        tab.page.add_init_script("localStorage.setItem('ragstone-author', 'Ana')")
        page = tab.open(f"/runs/{made.id}/samples/{(1440, 1024, 390).index(width) + 1}?sort=row")
        press(page, "13"[width == 390])
        for path in (page.url.removeprefix(served.origin), f"/agreement/{made.id}", "/agreement"):
            page = tab.open(path)
            assert page.evaluate(CHECKS) == [], (path, width)
            assert barriers(page) == [], (path, width)
        tab.close()
