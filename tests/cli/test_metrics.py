"""The catalogue."""

import json


def test_a_metric_says_how_to_compute_it(cli):
    assert "run DATA -m token_f1" in cli("metrics", "token_f1").out


def test_json_has_the_same_metrics_as_the_table(cli):
    cards = json.loads(cli("metrics", "dial", "--json").out)
    table = cli("metrics", "dial").out
    assert cards
    assert all(card["name"] in table for card in cards)
