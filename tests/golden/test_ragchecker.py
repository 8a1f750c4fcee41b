"""Against RAGChecker: the example of its repository, `examples/checking_outputs.json`, with its claims and verdicts.

Its `examples/run.sh` says how it was made. Means are in percent with one decimal, values of rows are fractions.
"""

import json

import pytest

import ragstone
import ragstone.metrics
from ragstone.data.dataset import view_column
from ragstone.formats import read_dataset
from ragstone.registry import CATALOGUE
from tests.shared_data import shared_data

EXAMPLE = shared_data("ragchecker_example") / "checking_outputs.json"
EXPECTED = json.loads(EXAMPLE.read_text())
MEANS = {name: value for group in EXPECTED["metrics"].values() for name, value in group.items()}


@pytest.fixture(scope="module")
def run():
    return ragstone.evaluate(str(EXAMPLE), "ragchecker")


def test_the_example_has_all_eleven():
    assert len(MEANS) == 11
    assert (MEANS["f1"], MEANS["claim_recall"], MEANS["noise_sensitivity_in_relevant"]) == (68.3, 61.4, 19.1)


@pytest.mark.parametrize("name", MEANS)
def test_rows_by_the_functions_alone(name):
    spec = CATALOGUE.metric(f"ragchecker.{name}").spec
    table = read_dataset(str(EXAMPLE)).table
    columns = [view_column(need, table[need]) for need in spec.needs]
    values = [spec.function(*row) for row in zip(*columns, strict=True)]
    assert values == pytest.approx([result["metrics"][name] for result in EXPECTED["results"]], abs=1e-12)


@pytest.mark.parametrize("name", MEANS)
def test_means_of_a_run(run, name):
    row = run.summary()[f"ragchecker.{name}"]
    assert (row.n_ok, row.n_skipped, row.n_failed) == (2, 0, 0)
    assert round(row.mean * 100, 1) == MEANS[name]


def test_no_model_was_asked(run):
    assert run.info["totals"]["calls"] == 0
    assert run.info["judge"] is None


def test_the_file_comes_out_as_the_tool_wrote_it(cli, tmp_path):
    printed = cli("run", EXAMPLE, "--as", "ragchecker", "-o", tmp_path, "--quiet")
    assert printed.code == 0
    assert json.loads(printed.out) == {f"{group}_metrics": means for group, means in EXPECTED["metrics"].items()}
    (written,) = tmp_path.glob("runs/*/ragchecker/checking_outputs.json")
    assert json.loads(written.read_text()) == EXPECTED
