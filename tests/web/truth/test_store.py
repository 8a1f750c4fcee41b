"""The ground truth under a root: symlinks, names, buckets."""

import os

from tests.web import truths


def test_links_cannot_leave_the_root(serve, tmp_path, root):
    (tmp_path / "truth").mkdir()
    os.symlink(root / "truth" / "ferry", tmp_path / "truth" / "elsewhere")
    client = serve(tmp_path)
    assert client.json("/truth.json")["truths"] == []
    assert client.ask("/truth/elsewhere")[0].status == 404


def test_ground_truth_in_a_bucket(serve, bucket):
    root = f"{bucket.url}/evals"
    truths.save(root, "ferry", truths.ferry())
    client = serve(root)
    assert client.json("/truth.json")["truths"][0]["newest"]["cases"] == 3
    fields = truths.form(client.secret("/truth/ferry"), truths.QUESTION)
    assert client.post("/truth/ferry/save", fields)[0].status == 303
    assert (
        client.post("/truth/ferry/save", truths.form(fields["token"], {"f2": {"question": "Else?"}}))[0].status == 409
    )
    assert client.json("/truth/ferry/diff.json")["counts"]["changed"] == 1
    assert truths.read(root).cases[0].question == "When does it leave?"
