"""Steps on the page of a sample."""

import json

import pytest

import ragstone

SCRIPT = "<script>alert(1)</script>"
ROW = {
    "id": "a",
    "question": "Where was the director of Inception born?",
    "answer": "In London.",
    "references": ["London."],
    "facts": ["directed by Nolan", "born in London"],
    "steps": [
        {
            "tool": "search",
            "query": f"Inception director {SCRIPT}",
            "contexts": ["It was directed by Nolan."],
            "seconds": 0.25,
        },
        {"tool": "plan"},
        {"tool": "search", "query": "Nolan", "contexts": ["It was directed by Nolan.", "He was born in London."]},
        {"tool": "search", "query": "Nolan again", "contexts": ["He was born in London."]},
        {"tool": SCRIPT, "contexts": []},
    ],
    "expected_steps": [{"tool": "search", "query": "Nolan"}, {"tool": "never", "query": SCRIPT}],
}


@pytest.fixture(scope="module")
def agent(serve, tmp_path_factory):
    root = tmp_path_factory.mktemp("agent")
    many = [{"tool": "s", "query": "q" * 50, "contexts": [f"c{number % 10}"]} for number in range(1000)]
    rows = [ROW, {"id": "none", "question": "q", "steps": []}, {"id": "many", "question": "q", "steps": many}]
    file = root / "agent.jsonl"
    file.write_text("\n".join(map(json.dumps, [*rows, {"id": "plain", "question": "q", "contexts": ["c"]}])))
    return serve(root), ragstone.evaluate(file, ["fact_recall", "steps"], root)


def html(viewer, path):
    viewer.page(path)  # well-formed
    return viewer.ask(path)[1].decode()


def test_steps_with_new_chunks_and_first_facts(agent):
    viewer, run = agent
    steps = viewer.json(f"/runs/{run.id}/samples/1.json")["steps"]
    assert [(s["chunks"], s["new"], s["ranks"], s["facts"]) for s in steps["rows"]] == [
        (1, 1, [1], [1]),
        (None, 0, [], []),
        (2, 1, [1, 2], [2]),
        (1, 0, [2], []),
        (0, 0, [], []),
    ]
    assert steps["missed"] == [f"never: {SCRIPT}"]


def test_the_page_shows_them_as_text(agent):
    viewer, run = agent
    page = html(viewer, f"/runs/{run.id}/samples/1")
    assert "Inception director" in page
    assert SCRIPT not in page
    assert "none new" in page
    assert "first with F2" in page
    assert "does not retrieve" in page


def test_no_steps_and_a_thousand(agent):
    viewer, run = agent
    assert "No steps were made" in html(viewer, f"/runs/{run.id}/samples/2")
    many = html(viewer, f"/runs/{run.id}/samples/3")
    assert "800 more steps are not shown" in many
    plain = html(viewer, f"/runs/{run.id}/samples/4")
    assert "steps-h" not in plain
