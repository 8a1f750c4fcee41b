"""Sweeps in the viewer: the list, and the page that is also a file."""

import json
import shutil
from dataclasses import replace

import pytest

from ragstone.report.html.sweep_page import sweep_data
from ragstone.report.text import to_json
from ragstone.storage.places import open_place
from ragstone.sweep.results import read_results
from ragstone.sweep.sweep_folder import SweepFolder
from tests.sweep.made_results import HOSTILE, make_results


@pytest.fixture(scope="module")
def swept(tmp_path_factory, worse, better):
    """A store with a finished sweep whose runs are there, one that is not finished, and one that is damaged."""
    root = tmp_path_factory.mktemp("sweeps")
    for run, name in ((worse, "r1"), (better, "r2"), (worse, "a1"), (better, "a2")):
        shutil.copytree(run.path, root / "runs" / name)
    for name in ("20261116-1", "20261117-2", "20261118-3", "other"):
        (root / "sweeps" / name).mkdir(parents=True)
    (root / "sweeps" / "20261116-1" / "results.json").write_text(to_json(make_results().as_dict()))
    (root / "sweeps" / "20261117-2" / "sweep.json").write_text(json.dumps({"name": f"half {HOSTILE}"}))
    (root / "sweeps" / "20261118-3" / "results.json").write_text("{}")
    return root


@pytest.fixture(scope="module")
def client(serve, swept):
    return serve(swept)


def test_stored_results_are_read_as_they_were(swept):
    found = read_results(SweepFolder(open_place(swept) / "sweeps" / "20261116-1"))
    assert found == make_results()
    assert sweep_data(found)["rows"] == sweep_data(make_results())["rows"]


def test_the_list(client):
    listed = {one["id"]: one for one in client.json("/sweeps.json")["sweeps"]}
    assert set(listed) == {"20261116-1", "20261117-2", "20261118-3"}
    assert listed["20261116-1"]["headline"].startswith("k=4 is best")
    assert not listed["20261117-2"]["finished"]
    assert "does not have the results" in listed["20261118-3"]["broken"]
    page = client.page("/sweeps")
    assert "/sweeps/20261116-1" in page.links
    assert "/sweeps/20261117-2" not in page.links
    assert page.find("script")
    assert all(one.get("src") for one in page.find("script"))


def test_settings_lead_to_their_runs(client, better):
    page = client.page("/sweeps/20261116-1")
    assert {"/runs/r1", "/runs/r2", "/compare/r1/r2"} <= set(page.links)
    # The run of the stopped setting is not in the store.
    assert "/runs/r3" not in page.links
    assert client.json("/runs/r2.json")["run"]["rows"] == better.info.rows
    assert "Main effects" in page.text()
    assert all(one.get("src") for one in page.find("script"))


@pytest.mark.parametrize("name", ["20261117-2", "nothing", "..", "..%2Fruns", "other"])
def test_other_names_are_not_found(client, name):
    assert client.ask(f"/sweeps/{name}.json")[0].status == 404


def test_a_damaged_sweep_is_named(client):
    assert "does not have the results" in client.json("/sweeps/20261118-3.json", 500)["words"]


def test_without_sweeps(serve, tmp_path):
    page = serve(tmp_path).page("/sweeps")
    assert "No sweeps yet" in page.text()
    assert "ragstone sweep" in page.text()


def test_settings_are_not_proposed_for_comparison(client):
    found = client.when_ready("/compare.json", lambda data: not data["waiting"])
    assert len(found["runs"]) == 4
    assert [pair["address"] for pair in found["pairs"]] == ["/compare/a1/a2"]


def test_results_of_a_later_version_are_read(tmp_path):
    stored = {**make_results().as_dict(), "new": 1}
    folder = SweepFolder(open_place(tmp_path))
    (tmp_path / "results.json").write_text(to_json(stored))
    assert read_results(folder) == replace(make_results())
