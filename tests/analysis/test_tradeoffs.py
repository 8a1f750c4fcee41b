"""Quality against cost: the points of runs, and their picture."""

import re

import ragstone
from ragstone.analysis.leaderboard import find_tradeoffs
from ragstone.report.html.charts import tradeoff
from ragstone.report.html.comparison_page import comparison_html


def make_run(root, seconds, price=None):
    more = {} if price is None else {"cost_usd": price}
    rows = [
        {"id": f"q{n}", "question": f"Q{n}?", "answer": "a b"[: 1 + 2 * (n % 2)], "references": ["a"]}
        | {"latency_s": seconds + n / 10, **more}
        for n in range(12)
    ]
    metrics = ["token_f1", "system.latency", "system.cost", "system.output_tokens"]
    return ragstone.evaluate(rows, metrics, root)


def test_panels_of_two_runs(tmp_path):
    runs = [make_run(tmp_path, 1.0, 0.01), make_run(tmp_path, 2.0)]
    latency, price = find_tradeoffs(runs, ("A", "B"))
    assert (latency.cost, latency.quality, latency.axis) == ("system.latency", "token_f1", "seconds per answer")
    first, second = latency.points
    assert (first.name, round(first.x, 3), round(second.x, 3)) == ("A", 1.55, 2.55)
    assert first.x_low < first.x < first.x_high
    assert first.y_low < first.y < first.y_high
    # A run without a price has no point.
    assert [point.name for point in price.points] == ["A"]
    drawn = str(tradeoff(latency.as_dict()))
    assert drawn.count("<circle") == 2
    assert drawn.count('class="interval"') == 4
    assert not re.search("nan|None", drawn)
    page = comparison_html(ragstone.compare_runs(*runs))
    assert "Quality and cost" in page
    assert "token_f1 against dollars per 1,000 answers" in page


def test_no_cost_no_panel(tmp_path):
    rows = [{"question": f"Q{n}?", "answer": "a", "references": ["a"]} for n in range(6)]
    run = ragstone.evaluate(rows, "token_f1", tmp_path)
    assert find_tradeoffs([run, run], ("A", "B")) == []
    assert "Quality and cost" not in comparison_html(ragstone.compare_runs(run, run))
