"""What the tests with a judge share: the world's samples as a file, a cache of one's own, and the scores of a run."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.oracle.expected import SKIPPED, expected

SETS = ["ragchecker", "ragas"]


def judging(server, **more):
    """The options that name the oracle as judge and embedder."""
    return {"judge": "openai/oracle", "embedder": "openai/oracle", "base_url": server.base_url, **more}


def flags(server, *more):
    """The same on the command line."""
    address = ["--base-url", server.base_url]
    return ["-m", ",".join(SETS), "--judge", "openai/oracle", "--embedder", "openai/oracle", *address, *map(str, more)]


def rows(samples):
    return [sample.row() for sample in samples]


def write(samples, path):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(samples)))
    return path


def only_run(root):
    [folder] = (Path(root) / "runs").iterdir()
    return folder


def cells(folder):
    """All cells of a stored run by sample and metric."""
    table = pq.read_table(Path(folder) / "scores.parquet").to_pylist()
    return {(row["sample_id"], row["metric"]): row for row in table}


def calls(folder):
    return pq.read_table(Path(folder) / "calls.parquet").to_pylist()


def check_scores(folder, samples):
    """Every metric of every sample is what the world says, and there is nothing else."""
    found = cells(folder)
    wanted = {(sample.id, name): value for sample in samples for name, value in expected(sample).items()}
    assert set(found) == set(wanted)
    for place, value in wanted.items():
        cell = found[place]
        if value == SKIPPED:
            assert (cell["status"], cell["value"]) == ("skipped", None), (place, cell)
            assert cell["reason"], place
        else:
            assert cell["status"] == "ok", (place, cell)
            assert cell["value"] == pytest.approx(value, abs=1e-9), place
