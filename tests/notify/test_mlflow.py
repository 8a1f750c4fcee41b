"""MLflow by a module that takes down what it is told; `docs/reports.md` says how it was tried with the real one."""

import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import pytest

from ragstone.errors import MissingExtraError
from ragstone.notify.exporters import find_mlflow, log_run, metric_name
from ragstone.notify.notify import Listeners, read_records, send_notifications


@pytest.fixture
def mlflow(monkeypatch):
    module = ModuleType("mlflow")
    module.told = {"artifacts": []}

    @contextmanager
    def start_run(run_name):
        module.told["name"] = run_name
        yield SimpleNamespace(info=SimpleNamespace(run_id="m1"))
        module.told["ended"] = True

    module.start_run = start_run
    module.set_tags = lambda tags: module.told.update(tags=tags)
    module.log_params = lambda params: module.told.update(params=params)
    module.log_metrics = lambda metrics: module.told.update(metrics=metrics)
    module.log_artifact = lambda path, artifact_path: module.told["artifacts"].append((path, artifact_path))
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return module


def test_means_parameters_and_files_are_logged(run, mlflow):
    assert log_run(run) == "m1"
    told = mlflow.told
    assert (told["name"], told["ended"]) == (run.name, True)
    row = run.summary()["recall@5"]
    assert told["metrics"]["recall_at_5"] == row.mean
    assert told["metrics"]["recall_at_5_ci_low"] == row.ci_low
    assert told["metrics"]["recall_at_5_n"] == row.n_ok
    assert told["params"]["ragstone.rows"] == "25"
    assert told["tags"]["ragstone.run_id"] == run.id
    names = [path.rsplit("/", 1)[1] for path, _ in told["artifacts"]]
    assert names == ["run.json", "summary.parquet", "scores.parquet"]


@pytest.mark.parametrize(
    ("metric", "name"),
    [("recall@5", "recall_at_5"), ("ragas.faithfulness", "ragas.faithfulness"), ("x(mode=a, k=2)", "x_mode_a_ k_2")],
)
def test_names_are_those_that_mlflow_takes(metric, name):
    assert metric_name(metric) == name


def test_trouble_is_noted_and_no_failure(run, mlflow):
    def refuse(metrics):
        raise RuntimeError("http://user:hunter22@host says no")

    mlflow.log_metrics = refuse
    notes = []
    send_notifications(run, Listeners(mlflow=True), notes.append)
    [note] = notes
    assert "MLflow" in note
    assert "RuntimeError" in note
    [record] = read_records(run)
    assert (record["kind"], record["delivered"], record["error"]) == ("mlflow", False, "RuntimeError")


def test_without_the_package_one_is_told_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"ragstone\[mlflow\]"):
        find_mlflow()
