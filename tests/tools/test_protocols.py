"""The dry-run tool answers every request of a local model with fixed values."""

import asyncio

import pytest

from ragstone.data.verdict import strongest
from ragstone.tools.protocols import DryRunTool, Prompted


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["neutral", "contradiction", "entailment"], "entailment"),
        (["neutral", "contradiction"], "contradiction"),
        (["neutral"], "neutral"),
        ([], "neutral"),
    ],
)
def test_strongest(verdicts, expected):
    assert strongest(verdicts) == expected


def test_dry_run_values_have_the_shape_of_real_ones():
    tool = DryRunTool("local/minilm#1")
    assert tool.signature == "local/minilm#1"
    assert asyncio.run(tool.embed(["a", "b"])).shape == (2, 1)
    assert [vectors.shape for vectors, _ in asyncio.run(tool.embed_tokens(["a", "b"]))] == [(1, 1), (1, 1)]
    assert asyncio.run(tool.log_probabilities([("", "a")])) == [[-1.0]]
    assert asyncio.run(tool.rate(["a", "b"])) == [0.5, 0.5]
    assert asyncio.run(tool.match("q", ["r1", "r2"], "a")) == [0.0, 0.0]
    assert asyncio.run(tool.fraction([("e", "t")])) == [0.0]
    assert [(item.supported, item.contradicted) for item in asyncio.run(tool.support([("e", "c")]))] == [(0.0, 0.0)]


def test_a_tool_with_prompts_is_recognised():
    class Asking:
        def prompt_hash(self, name):
            return name

    assert isinstance(Asking(), Prompted)
    assert not isinstance(DryRunTool("x"), Prompted)
