"""The choice of two runs to compare."""

from tests.report import runs


def test_the_newest_pair_on_the_same_data_is_proposed(viewer, worse, better):
    found = viewer.when_ready("/compare.json", lambda data: not data["waiting"])
    assert found["chosen"] == [worse.id, better.id]
    assert [pair["address"] for pair in found["pairs"]] == [f"/compare/{worse.id}/{better.id}"]
    options = [one["value"] for one in viewer.page("/compare").find("option")]
    assert options.count(worse.id) == options.count(better.id) == 2


def test_the_chosen_order_is_kept(viewer, worse, better):
    answer, _ = viewer.ask(f"/compare?a={better.id}&b={worse.id}")
    assert (answer.status, answer.headers["location"]) == (303, f"/compare/{better.id}/{worse.id}")
    assert "two different runs" in viewer.page(f"/compare?a={worse.id}&b={worse.id}", 400).text()
    viewer.json("/compare.json?a=..%2Fx&b=y", 404)


def test_one_run_is_too_few(serve, tmp_path):
    client = serve(tmp_path)
    assert "No runs yet" in client.page("/compare").text()
    runs.harbour("worse", tmp_path, ["token_f1"])
    page = client.page("/compare")
    assert "Only one run yet" in page.text()
    assert "ragstone run" in page.text()
