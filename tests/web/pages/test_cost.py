"""Cost and consistency in the viewer: pictures of runs, the spread within questions, other answers of a sample."""

import pytest

import ragstone


@pytest.fixture(scope="module")
def costly(serve, tmp_path_factory):
    root = tmp_path_factory.mktemp("costly")
    runs = []
    for seconds in (1.0, 2.0, 3.0):
        rows = [
            {
                "id": f"q{question}-{repeat}",
                "question": f"When {question}?",
                "answer": "nine" if (question + repeat) % 3 else "ten o'clock",
                "references": ["nine"],
                "repeat_of": question,
                "latency_s": seconds + repeat / 10,
            }
            for question in range(8)
            for repeat in range(3)
        ]
        runs.append(ragstone.evaluate(rows, ["token_f1", "consistency.exact_match", "latency", "latency_p50"], root))
    return serve(root), runs


def test_the_comparison_and_the_leaderboard_draw_quality_against_latency(costly):
    client, runs = costly
    pair = f"/compare/{runs[0].id}/{runs[1].id}"
    found = client.when_ready(f"{pair}.json", lambda data: data["ready"])
    [panel] = found["tradeoffs"]
    assert [round(point["x"], 3) for point in panel["points"]] == [1.1, 2.1]
    assert "Quality and cost" in client.page(pair).text()
    query = "&".join(f"run={run.id}" for run in runs)
    board = client.when_ready(f"/compare.json?{query}", lambda data: data["ready"])
    assert [point["name"] for point in board["tradeoffs"][0]["points"]] == ["A", "B", "C"]
    assert "against seconds per answer" in client.page(f"/compare?{query}").text()


def test_the_run_shows_the_spread_within_questions(costly):
    client, runs = costly
    found = client.json(f"/runs/{runs[0].id}.json")
    assert found["consistency"]["questions"] == 8
    assert "24 answers to 8 questions" in client.page(f"/runs/{runs[0].id}").text()


def test_a_sample_shows_the_other_answers_and_no_quantiles(costly):
    client, runs = costly
    found = client.json(f"/runs/{runs[0].id}/samples/1.json")
    assert len(found["sample"]["other_answers"]) == 2
    assert "other_answers" not in found["sample"]["metadata"]
    assert {score["metric"] for score in found["scores"]} == {"token_f1", "consistency.exact_match", "system.latency"}
    assert "2 other answers to the same question" in client.page(f"/runs/{runs[0].id}/samples/1").text()
