"""The addresses of ground truth."""

from urllib.parse import quote

from ragstone.web.navigation import case_address, truth_address, version_address
from tests.web import truths


def test_names_may_be_of_any_script(serve, tmp_path):
    truths.save(tmp_path, "Fähre.1", truths.ferry())
    client = serve(tmp_path)
    address = client.json("/truth.json")["truths"][0]["address"]
    assert address == f"/truth/{quote('Fähre.1')}"
    assert client.json(f"{address}.json")["truth"]["name"] == "Fähre.1"


def test_ids_are_quoted_and_empty_values_left_out():
    assert case_address("a b", "x&y/?", None, run="") == "/truth/a%20b/case?id=x%26y%2F%3F"
    assert version_address("ferry", 3) == "/truth/ferry/v3"
    assert truth_address("ferry", "diff", **{"from": 1, "to": 2}) == "/truth/ferry/diff?from=1&to=2"
