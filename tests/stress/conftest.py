"""Stress tests and eRAG results of generators with known behaviour, computed once."""

import pytest

from ragstone.stress.erag import list_samples, run_erag
from ragstone.stress.run import Setting, prepare
from tests.stress.generators import RATES, copies, detects, refuses_above, retrieved, samples, stressed


@pytest.fixture(scope="package")
def prepared():
    """Four passages, two of which can hold the answer."""
    return prepare(samples(), Setting(passages=4, rates=RATES))


@pytest.fixture(scope="package")
def tested(prepared, tmp_path_factory):
    """The tests of generators that several look at, each run once."""
    home, found = tmp_path_factory.mktemp("stressed"), {}

    def test_of(name):
        if name not in found:
            generator = {"copies": copies, "refuses": refuses_above(0.5), "detects": detects}[name]
            more = {"metrics": ["token_f1", "refusal"]} if name == "copies" else {}
            found[name] = stressed(prepared, generator, home, **more)
        return found[name]

    return test_of


@pytest.fixture(scope="package")
def erag(tmp_path_factory):
    home = tmp_path_factory.mktemp("erag")
    return run_erag(list_samples(retrieved(), None), copies, home, blame=True, system_options={"cache": False})
