"""Markdown is rendered on the pages of pairs, facts, proposed facts and changes of a ground truth, and in downloads."""

import json
from dataclasses import replace

import pytest

import ragstone
from ragstone.data.types import Chunk
from ragstone.truth.model import Case, TruthFact
from tests.web import truths
from tests.web.made_runs import MARKDOWN, text_rows


@pytest.fixture(scope="module")
def gate(serve, tmp_path_factory):
    """A viewer over three runs and two versions of a ground truth with Markdown, and the runs."""
    root = tmp_path_factory.mktemp("gate")
    made = []
    for hour in ("09", "10", "11"):
        file = root / f"{hour}.jsonl"
        row = {**text_rows()[0], "answer": MARKDOWN.replace("`09:", f"`{hour}:")}
        file.write_text(json.dumps(row))
        made.append(ragstone.evaluate(file, ["token_f1", "fact_recall"], root, name=hour))
    fact = TruthFact("The **west gate** opens at `09:00`.", "citation", "gate.md", "judge", "proposed", 0.8)
    case = Case("m", "When?", [MARKDOWN], [fact], passages=[Chunk(MARKDOWN, "gate")])
    truths.save(root, "gate", [case])
    truths.save(root, "gate", [replace(case, references=[MARKDOWN.replace("Sunday", "Friday")])], "Grace", "later", 1)
    return serve(root), made


def html(client, path):
    answer, body = client.ask(path)
    assert answer.status == 200
    return body.decode()


def test_the_answers_of_three_runs_are_rendered_with_their_changes(gate):
    client, (first, second, third) = gate
    path = f"/compare/{first.id}/{second.id}/samples/1"
    client.when_ready(f"{path}.json", lambda found: found["ready"])
    page = html(client, f"{path}?with={third.id}")
    assert "<strong>west gate</strong>" in page
    for hour, kind in (("09", "gone"), ("10", "new"), ("11", "new")):
        assert f'<code><mark class="{kind}">{hour}</mark>:00</code>' in page
    assert "not in A" in page
    assert '<td dir="auto">Monday</td>' in page


def test_facts_queue_and_changes_are_rendered(gate):
    client, (first, *_) = gate
    facts = html(client, f"/runs/{first.id}/samples/1/facts")
    assert '<strong><mark class="fact hue0">west gate</mark></strong>' in facts
    assert 'id="raw"' in facts
    queue = html(client, "/truth/gate/queue")
    assert (
        '<div class="said"><div class="views"><div class="prose md" dir="ltr"><p dir="auto">The <strong>west' in queue
    )
    changes = html(client, "/truth/gate/diff?full=1")
    assert "<strong><del>Sunday</del></strong>" in changes
    assert "<strong><ins>Friday</ins></strong>" in changes


def test_downloads_are_rendered_once(gate):
    client, (first, *_) = gate
    for path in (f"/runs/{first.id}/page.html", f"/runs/{first.id}/samples/1/page.html"):
        page = html(client, path)
        assert "<strong>west gate</strong>" in page
        assert 'class="views"' not in page
        assert "https://example.org/x" in page
        assert 'href="https://example.org' not in page
