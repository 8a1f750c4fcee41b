"""Laws that the shipped judge obeys on sentences it was not trained on: descriptions of packages, and Python's reference.

`python -m benchmarks laws --texts FOLDER` checks them on more texts.
"""

import asyncio
import re
from importlib.metadata import distributions
from pydoc_data.topics import topics

import pytest
from benchmarks import laws

from ragstone.models.local_judge import Judgements, open_local_judge
from ragstone.models.store import Store
from ragstone.tools.local_judges import LocalChecker

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(Store().find("local-judge") is None, reason="the weights are not here")


@pytest.fixture(scope="module")
def texts():
    """Sentences by package or topic."""
    read = {item.metadata["Name"]: item.metadata.get_payload() or "" for item in distributions()}
    read |= {name: re.sub(r"\n *(?=\S)", " ", text) for name, text in topics.items()}
    by_package = {name: [one for one in laws.statements_of(text) if _is_plain(one)] for name, text in read.items()}
    return {name: found for name, found in sorted(by_package.items()) if len(found) > 5}


def _is_plain(sentence):
    """Markup of unknown kinds is not prose."""
    return not re.search(r"[`|<>\[\]{}=_*#\\]", sentence)


@pytest.fixture(scope="module")
def checker():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
        judge = open_local_judge()
    return LocalChecker(Judgements(judge), judge.card, "")


def shares(law, texts, checker, count):
    trials = asyncio.run(law(texts, checker, count, 1))
    # Few sentences of packages name two parties.
    assert len(trials) > 5, "few texts are installed"
    failed = [trial for trial in trials if not trial.held]
    return len(failed) / len(trials), failed[:5]


@pytest.mark.slow
def test_a_text_supports_what_it_contains(texts, checker):
    share, failed = shares(laws.contained, texts, checker, 400)
    assert share <= 0.001, failed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "most"),
    [
        (laws.unrelated, 0.01),
        (laws.unrelated_added, 0.0),
        (laws.negated, 0.0),
        (laws.layout, 0.02),
        (laws.roles_swapped, 0.5),
    ],
)
def test_law(law, most, texts, checker):
    share, failed = shares(law, texts, checker, 2)
    assert share <= most, failed
