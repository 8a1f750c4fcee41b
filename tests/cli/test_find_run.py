"""Ways to name a run."""

from importlib import resources

import pytest

import ragstone

HARBOUR = resources.files("ragstone.examples") / "harbour"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two runs of the example."""
    folder = tmp_path_factory.mktemp("store")
    for name in ("better", "worse"):
        ragstone.evaluate(str(HARBOUR / f"{name}.jsonl"), "quick", folder, name=f"harbour-{name}")
    return folder


@pytest.fixture
def there(store, monkeypatch):
    monkeypatch.setenv("RAGSTONE_ROOT", str(store))
    return store


def test_a_run_about_which_there_is_nothing_to_say(cli, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"question": "q", "answer": "a", "references": ["a"]}\n')
    assert "diagnosis" not in cli("run", tmp_path / "a.jsonl", "-o", tmp_path).out


@pytest.mark.parametrize("how", ["path", "id", "name", "last"])
def test_ways_to_name_a_run(cli, there, how):
    newest = ragstone.open_run(sorted((there / "runs").iterdir())[-1])
    wanted = {"path": newest.path, "id": newest.id, "name": "harbour-worse", "last": "last"}[how]
    printed = cli("diagnose", wanted)
    assert printed.code == 0
    assert printed.out.startswith("diagnosis of harbour-worse\n")


def test_a_run_that_there_is_not(cli, there, tmp_path):
    printed = cli("diagnose", "harbor-worse")
    assert (printed.code, printed.out) == (2, "")
    assert "unknown run 'harbor-worse'. Did you mean harbour-worse" in printed.err
    printed = cli("diagnose", "last", "-o", tmp_path)
    assert printed.code == 1
    assert "there is no run 'last'" in printed.err


def test_an_unfinished_run(cli, there, tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    assert "is unfinished" in cli("diagnose", tmp_path).err


def test_a_file_of_data_is_not_a_run(cli, there, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v1.csv").write_text("question,answer\na,b\n")
    printed = cli("compare", "v1.csv", "v2.csv", "-o", "ragstone-store")
    assert "'v1.csv' is a file of data, not a run" in printed.err
    assert "`ragstone run v1.csv --name v1`" in printed.err


def test_the_names_of_the_runs_are_listed(cli, there):
    printed = " ".join(cli("compare", "xyz", "zyx").err.split())
    assert "The runs, newest first, are: harbour-worse, harbour-better. `ragstone run --name` gives" in printed
