"""Rescoring a stored run: evidence columns are restored as the type that their function declares."""

import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import ragstone
from ragstone.data.columns import Ragged
from ragstone.engine.rescore import rescore
from ragstone.evidence_functions.fact_matches import Counts
from ragstone.registry import evidence, metric
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder, unfinished_runs
from ragstone.text.matchers import CitationMatcher
from ragstone.web.pages.run_progress import progress_of

ROWS = [
    {"id": "a", "question": "?", "answer": "x", "facts": ["nine"], "contexts": ["at nine", "at ten"]},
    {"id": "b", "question": "?", "answer": "y", "facts": ["ten", "nine"], "contexts": ["at ten"]},
    {"id": "c", "question": "?", "answer": "z", "facts": ["six"], "contexts": ["at nine"]},
]


class OwnMatcher(CitationMatcher):
    """A tool that a rescored run cannot open again."""

    name = "own"
    signature = "own/1"


def run_and_rescore(metric_name, tmp_path):
    run = ragstone.evaluate(ROWS, [metric_name], tmp_path, matcher=OwnMatcher())
    again = rescore(run)
    return run.scores["value"].to_pylist(), again.scores["value"].to_pylist(), again


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize("column", [list, np.array])
def test_columnar_evidence_of_numbers_with_a_tool(tmp_path, column):
    @evidence(columnar=True)
    def found_facts(facts: pa.ListArray, contexts: pa.ListArray, matcher: CitationMatcher) -> int:
        pairs = zip(facts.to_pylist(), contexts.to_pylist(), strict=True)
        return column(
            [
                len(list(matcher.find([fact["text"] for fact in row], [chunk["text"] for chunk in chunks])))
                for row, chunks in pairs
            ]
        )

    @metric("found_share", bounds=(0, None))
    def found_share(found_facts: int) -> float:
        return float(found_facts)

    before, after, again = run_and_rescore("found_share", tmp_path)
    assert before == after == [1.0, 1.0, 0.0]
    assert again.evidence("found_facts")["value"].to_pylist() == [1, 1, 0]


@pytest.mark.usefixtures("catalogue")
def test_columnar_evidence_with_a_declared_column_type(tmp_path):
    @evidence(columnar=True)
    def text_lengths(contexts: pa.ListArray, matcher: CitationMatcher) -> Counts:
        return Counts.from_lists([[len(chunk["text"]) for chunk in row] for row in contexts.to_pylist()], np.int64)

    @metric("all_characters", bounds=(0, None), columnar=True)
    def all_characters(text_lengths: Counts) -> np.ndarray:
        assert isinstance(text_lengths, Counts)
        return text_lengths.sum()

    before, after, again = run_and_rescore("all_characters", tmp_path)
    assert before == after == [13.0, 6.0, 7.0]
    assert again.evidence("text_lengths")["value"].to_pylist() == [[7, 6], [6], [7]]


@pytest.mark.usefixtures("catalogue")
def test_columnar_evidence_of_plain_lists(tmp_path):
    @evidence(columnar=True)
    def lengths(contexts: pa.ListArray, matcher: CitationMatcher) -> list[int]:
        return Ragged.from_lists([[len(chunk["text"]) for chunk in row] for row in contexts.to_pylist()], np.int64)

    @metric("longest", bounds=(0, None))
    def longest(lengths: list[int]) -> float:
        return max(lengths)

    before, after, _ = run_and_rescore("longest", tmp_path)
    assert before == after == [7.0, 6.0, 7.0]


def test_fact_matches_are_restored_with_their_matcher(tmp_path):
    run = ragstone.evaluate(ROWS, ["fact_recall", "fact_mrr"], tmp_path, matcher=OwnMatcher())
    again = rescore(run)
    assert again.scores["value"].equals(run.scores["value"])
    assert again.evidence("fact_matches")["value"].equals(run.evidence("fact_matches")["value"])


@pytest.mark.slow
def test_a_killed_rescore_is_listed_and_the_next_one_removes_it(tmp_path):
    run = ragstone.evaluate(ROWS, ["token_f1"], tmp_path)
    script = (
        "import os, signal, ragstone\n"
        "import ragstone.engine.rescore as module\n"
        "from ragstone.storage.runs import open_run\n"
        "def die(*given): os.kill(os.getpid(), signal.SIGKILL)\n"
        "module.{} = die\n"
        "module.rescore(open_run({!r}))\n"
    )
    for moment in ("ingest", "finish_tables"):
        killed = subprocess.run([sys.executable, "-c", script.format(moment, run.path)], check=False)
        assert killed.returncode == -signal.SIGKILL
        folders = [place.name for place in (tmp_path / "runs").iterdir() if place.name != run.id]
        assert folders == [folder.id for folder in unfinished_runs(open_place(tmp_path))]
        assert len(folders) == 1
        assert progress_of(RunFolder(open_place(tmp_path / "runs" / folders[0])))["working"] is False
    again = rescore(run)
    assert {place.name for place in (tmp_path / "runs").iterdir()} == {run.id, again.id}
