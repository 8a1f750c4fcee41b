"""Pages as HTML and JSON, and the small charts."""

import json
from dataclasses import dataclass

import numpy as np

from ragstone.report.html.page import hue
from ragstone.web.render import page_html, page_json, static_file, trend

ERROR = {"page": "error", "status": 400, "title": "title", "twin": "", "read_only": True}


def test_data_is_escaped_and_marks_are_visible():
    html = page_html("error.html", {**ERROR, "words": "<b>\u202e\ud800"}).decode()
    assert "&lt;b&gt;" in html
    assert "\u202e" not in html


def test_json_has_no_nan_and_no_numpy():
    @dataclass
    class Row:
        value: float

    data = {1: [float("nan"), np.float64(0.5), np.int64(3)], "row": Row(float("inf")), "set": {"a"}}
    assert json.loads(page_json(data)) == {"1": [None, 0.5, 3], "row": {"value": None}, "set": ["a"]}


def test_a_trend_skips_missing_values():
    drawn = str(trend([0.5, None, 0.7], here=2))
    assert drawn.count("<circle") == 2
    assert "from 0.500 to 0.700" in drawn
    assert "no values" in str(trend([None]))


def test_colours_repeat_and_only_our_files_are_served():
    assert (hue(1), hue(9)) == ("hue0", "hue0")
    assert static_file("viewer.js")[1] == "text/javascript"
    assert static_file("../app.py") is None
