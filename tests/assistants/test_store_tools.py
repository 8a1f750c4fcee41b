import json
import os
import shutil

import pytest

from ragstone.assistants import store_tools
from ragstone.assistants.store_tools import StoreTools
from ragstone.errors import UnknownNameError, UsageError
from ragstone.storage.human_labels import HumanLabel, answer_key, write_label
from ragstone.storage.places import open_place
from tests.assistants.conftest import ORDER


@pytest.fixture
def tools(store):
    return StoreTools(str(store))


def test_the_runs(tools):
    assert [run["name"] for run in tools.list_runs()["runs"]][1:] == ["better", "worse"]
    assert len(tools.list_runs(top=-5)["runs"]) == 1


def test_a_run_with_its_headline_metrics_or_all(tools):
    shown = tools.show_run("worse")
    assert shown["run"]["rows"] == 25
    assert sum(shown["diagnosis"]["statuses"].values()) == 25
    assert {metric["metric"] for metric in shown["metrics"]} >= {"recall", "fact_recall"}
    assert all(metric["low"] <= metric["mean"] <= metric["high"] for metric in shown["metrics"])
    assert len(tools.show_run("worse", all_metrics=True)["metrics"]) >= len(shown["metrics"])


def test_the_worst_samples_can_be_explained(tools):
    worst = tools.worst_samples("worse", top=2)["samples"]
    assert len(worst) == 2
    explained = tools.explain_sample(worst[0]["word"], "worse")
    assert explained["sample"]["question"].startswith(worst[0]["question"][:40])
    assert explained["status"] == worst[0]["status"]
    assert tools.explain_sample(worst[0]["word"], "worse", "recall")["working"]["meaning"]


def test_a_comparison_is_that_of_the_command_line_in_small(tools, store, cli):
    compared = tools.compare_runs("worse", "better")
    printed = json.loads(cli("compare", "worse", "better", "--json", "-o", store).out)
    assert compared["headline"] == printed["headline"]
    assert compared["rows"] == printed["failing"]
    assert len(json.dumps(compared)) < len(json.dumps(printed)) / 3
    assert [change["metric"] for change in tools.compare_runs("worse", "better", ["token_f1"])["metrics"]] == [
        "token_f1"
    ]


def test_a_gate(tools):
    assert tools.check_gate("worse", minimum={"recall": 0.99})["outcome"] == "fails"
    assert tools.check_gate("better", maximum={"recall": 1.0})["outcome"] == "passes"
    against = tools.check_gate("worse", against="better", max_new_failures=0)
    assert (against["outcome"], against["against"]) == ("fails", "better")
    with pytest.raises(UsageError, match=r"needs a condition: minimum=.*maximum=.*against="):
        tools.check_gate("worse")


def test_large_runs_are_diagnosed_in_part_and_not_compared_row_by_row(store, monkeypatch):
    monkeypatch.setattr(store_tools, "MOST_DIAGNOSED", 10)
    monkeypatch.setattr(store_tools, "MOST_GATED", 10)
    tools = StoreTools(str(store))
    assert tools.show_run("worse")["diagnosis"]["looked_at"] == 10
    assert len(tools.worst_samples("worse", 50)["samples"]) <= 10
    with pytest.raises(UsageError, match="25 rows take too long here: ragstone gate"):
        tools.check_gate("worse", against="better")
    with pytest.raises(UsageError, match="25 rows take too long here: ragstone gate"):
        tools.check_gate(ORDER, against="better")
    assert tools.check_gate("worse", minimum={"recall": 0.99})["outcome"] == "fails"


def test_new_labels_change_the_diagnosis_of_a_running_server(store, tmp_path):
    shutil.copytree(store, tmp_path / "store")
    tools = StoreTools(str(tmp_path / "store"))
    worst = tools.worst_samples("worse", 1)["samples"][0]
    assert worst["status"] == "wrong"
    sample = tools.explain_sample(worst["word"], "worse")["sample"]
    key = answer_key(sample["question"], sample["answer"])
    write_label(open_place(str(tmp_path / "store")), HumanLabel(key=key, kind="answer", value="right", author="Ada"))
    assert worst["word"] not in [row["word"] for row in tools.worst_samples("worse", 50)["samples"]]


def test_no_path_leads_out_of_the_store(tools, store, tmp_path, monkeypatch):
    [run] = [run["id"] for run in tools.list_runs()["runs"] if run["name"] == "worse"]
    shutil.copytree(store / "runs" / run, tmp_path / "outside")
    monkeypatch.chdir(tmp_path)
    for wanted in ("outside", str(tmp_path / "outside"), f"../{tmp_path.name}/outside", f"file://{tmp_path}/outside"):
        with pytest.raises(UnknownNameError, match="paths are not accepted"):
            tools.show_run(wanted)


def test_a_link_out_of_the_store_is_not_followed(store, tmp_path):
    (tmp_path / "store" / "runs").mkdir(parents=True)
    for folder in sorted((store / "runs").iterdir()):
        os.symlink(folder, tmp_path / "store" / "runs" / folder.name)
    with pytest.raises(UsageError, match="no finished run"):
        StoreTools(str(tmp_path / "store")).show_run()


def test_nothing_is_written(tools, store):
    def files():
        return {path: path.stat().st_mtime_ns for path in sorted(store.rglob("*"))}

    before = files()
    tools.list_runs()
    tools.show_run()
    tools.worst_samples()
    tools.explain_sample("1", "worse")
    tools.compare_runs("worse", "better")
    tools.check_gate("worse", against="better")
    assert files() == before
