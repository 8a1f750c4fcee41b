"""Every block of Python in the documentation runs in some test; here are those that need a few names first."""

import json
import re

import pyarrow as pa
import pytest
from tests.docs.test_docs import ANSWERS, PAGES, ROOT, blocks

import ragstone
from ragstone.testing import FakeLLM

# Pages whose blocks run in another file of this folder.
ELSEWHERE = {
    "test_coding_agents_page.py": "coding-agents",
    "test_contributing.py": "CONTRIBUTING",
    "test_docs.py": "README index evidence comparing gates facts citations cost agents own-metrics",
    "test_guides.py": "better fix no-truth no-key gate production",
    "test_judges.py": "own-checker",
    "test_python_page.py": "python",
    "test_recipes.py": "recipes",
    "test_nuggets_page.py": "nuggets",
    "test_sweep_page.py": "sweep",
    "test_watch_page.py": "watch",
    "test_systems_pages.py": "unitxt ragas ragchecker ares rgb erag trec dial nlg-evaluators llm-judges auepora crag alce trec-rag",
}
HERE = [
    "runs",
    "systems",
    "architecture",
    "scale",
    "conversations",
    "reports",
    "judges",
    "leaks",
]


def test_every_page_with_python_is_run():
    known = {*HERE, *" ".join(ELSEWHERE.values()).split()}
    absent = sorted(page.stem for page in PAGES if blocks(page, "python") and page.stem not in known)
    assert not absent, f"run the Python of {', '.join(absent)} in a test of tests/docs, and list the page here"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Runs the blocks of a page with these names, and returns all names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text(ANSWERS)

    def run(name, replaced=("", ""), **names):
        for code in blocks(ROOT / "docs" / f"{name}.md", "python"):
            exec(compile(code.replace(*replaced) if replaced[0] else code, name, "exec"), names)
        return names

    return run


def test_files_of_a_run(page):
    row = {
        "question": "When?",
        "answer": "At nine.",
        "contexts": [{"text": "At nine.", "id": "a"}],
        "facts": ["At nine."],
    }
    stored = ragstone.evaluate([{**row, "relevance": ["a"]}], ["recall", "fact_recall"], "ragstone-store")
    assert page("runs", ("20261115-101500-1a2b", stored.id))["run"].id == stored.id


def test_own_system(page):
    found = page("systems", my_chain=lambda question: ("At 21:40.", ["The last boat leaves at 21:40."]))["found"]
    assert [sample.answer for sample in found] == ["At 21:40."]


def test_needs_of_a_metric(page, capsys):
    page("architecture")
    assert "fact_matches" in capsys.readouterr().out


def test_batches_of_dask(page, monkeypatch):
    calls = []
    table = pa.table({"id": ["a"], "answer": ["At nine."], "references": [["nine"]]})
    # The first block starts a cluster that writes to a bucket: only its arguments are checked here.
    monkeypatch.setattr(ragstone, "evaluate", lambda *data, **options: calls.append((data, options)))
    [batch] = page("scale", ragstone=ragstone, table=table)["scores"]
    assert batch.num_rows >= 1
    assert calls == [(("answers.parquet",), {"out": "s3://bucket/evals", "backend": "ray:64"})]


@pytest.mark.slow
def test_a_conversation(page, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    assert page("conversations")["run"].summary()["ragchecker.faithfulness"].n_ok == 1


def test_signed_webhooks_and_pytest(page):
    names = page("reports")
    assert not names["is_genuine"]("secret", {"X-Ragstone-Timestamp": "0", "X-Ragstone-Signature": "sha256=0"}, b"")
    assert callable(names["test_answers"])


def test_judges(page):
    names = page("judges")
    assert json.loads(names["judge"](["prompt"])[0]) == {"claims": []}
    assert isinstance(names["model"], FakeLLM)


def test_phrases_of_refusals(monkeypatch):
    """The second block of the page on own metrics; the first runs in test_docs.py."""
    from ragstone.text import refusal_phrases

    added = []
    monkeypatch.setattr(refusal_phrases, "add_refusal_phrases", added.extend)
    exec(compile(blocks(ROOT / "docs/own-metrics.md", "python")[1], "own-metrics", "exec"), {})
    assert added
    assert not [phrase for phrase in added if re.search(r"\s{2}", phrase)]


def test_leaks(page, capsys):
    page("leaks")
    assert capsys.readouterr().out == "[1.0]\n[1.0]\n"
