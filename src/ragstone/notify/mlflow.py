"""Logs means, parameters and files of a run to the MLflow server in MLFLOW_TRACKING_URI."""

from __future__ import annotations

import importlib
import re
from typing import Any

from ragstone.data.summary import ALL
from ragstone.errors import MissingExtraError
from ragstone.storage.runs import Run

_FILES = ("manifest", "summary", "scores")
_REFUSED = re.compile(r"[^\w\-. /:]")


def find_mlflow() -> Any:
    """The module; an error that names the extra if it is not installed."""
    try:
        return importlib.import_module("mlflow")
    except ImportError:
        raise MissingExtraError("logging to MLflow", "mlflow") from None


def log_run(run: Run) -> str:
    """Log a finished run and return its MLflow id. Samples and evidence are not logged."""
    mlflow = find_mlflow()
    with mlflow.start_run(run_name=run.name) as opened:
        mlflow.set_tags({"ragstone.run_id": run.id, "ragstone.version": str(run.info["versions"].get("ragstone"))})
        mlflow.log_params(_params(run))
        mlflow.log_metrics(metric_values(run))
        if run.folder.place.is_local:
            for name in _FILES:
                mlflow.log_artifact(getattr(run.folder, name).path, artifact_path="ragstone")
        return str(opened.info.run_id)


def metric_values(run: Run) -> dict[str, float]:
    """The mean, interval and number of cells of each metric.

    Names such as recall/n are not used: MLflow's file store cannot have a name that is also a folder.
    """
    values: dict[str, float] = {}
    for row in run.summary():
        name = metric_name(row.metric)
        if row.slice != ALL or row.mean is None:
            continue
        values[name] = row.mean
        values[f"{name}_n"] = float(row.n_ok)
        if row.ci_low is not None and row.ci_high is not None:
            values |= {f"{name}_ci_low": row.ci_low, f"{name}_ci_high": row.ci_high}
    return values


def metric_name(metric: str) -> str:
    """A valid MLflow name: `recall@5` becomes recall_at_5, other invalid characters become underscores."""
    return _REFUSED.sub("_", metric.replace("@", "_at_")).strip("_")


def _params(run: Run) -> dict[str, str]:
    judge = {f"ragstone.{name}": str(value) for name, value in run.info.judge.items()}
    data = run.info["dataset"]
    about = {"ragstone.dataset": str(data["fingerprint"]), "ragstone.rows": str(data["rows"])}
    return {**{str(name): str(value) for name, value in run.info.params.items()}, **judge, **about}
