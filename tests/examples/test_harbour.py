"""The shipped harbour example is consistent with itself."""

import itertools
import json
import re
from collections import Counter
from difflib import SequenceMatcher
from importlib.resources import files

import pytest

HARBOUR = files("ragstone.examples") / "harbour"
VERSIONS = ("better", "worse")
DEPTH = {"better": 5, "worse": 4}
TRUTH_KEYS = (
    "id",
    "question",
    "references",
    "facts",
    "relevance",
    "answerable",
    "documents",
    "metadata",
)


def text(*names):
    return HARBOUR.joinpath(*names).read_text(encoding="utf-8")


def lines(name):
    return [json.loads(line) for line in text(name).splitlines()]


def fold(string):
    return " ".join(string.lower().split())


def tokens(string):
    return Counter(re.findall(r"\w+(?:[.:]\w+)*", string.lower()))


def shared(fact, chunk):
    """Whether the chunk holds the fact or a stretch of at least 40 characters of it."""
    matcher = SequenceMatcher(None, fact, chunk, autojunk=False)
    match = matcher.find_longest_match(0, len(fact), 0, len(chunk))
    return match.size >= min(40, len(fact))


def fact_recall(rows):
    """Share of all facts that stand wholly in at least one retrieved context."""
    found = [
        any(fold(fact["text"]) in fold(context["text"]) for context in row["contexts"])
        for row in rows
        for fact in row.get("facts", ())
    ]
    return sum(found) / len(found)


def token_recall(answer, references):
    """Share of a reference's tokens that the answer has, for the reference it covers best."""
    return max(
        sum((tokens(answer) & tokens(reference)).values()) / sum(tokens(reference).values()) for reference in references
    )


def mean_token_recall(rows):
    return sum(token_recall(row["answer"], row["references"]) for row in rows) / len(rows)


def covered_share(rows):
    """Share of answers that have all tokens of a reference."""
    return sum(token_recall(row["answer"], row["references"]) == 1 for row in rows) / len(rows)


@pytest.fixture(scope="module")
def documents():
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in (HARBOUR / "documents").iterdir()
        if entry.name.endswith(".md")
    }


@pytest.fixture(scope="module")
def chunks():
    return {row["id"]: row for row in lines("chunks.jsonl")}


@pytest.fixture(scope="module")
def truth():
    return lines("truth.jsonl")


@pytest.mark.parametrize("name", ["truth.jsonl", "chunks.jsonl", "better.jsonl", "worse.jsonl"])
def test_every_line_is_an_object(name):
    rows = lines(name)
    assert rows
    assert all(isinstance(row, dict) for row in rows)


def test_ids(truth):
    assert [row["id"] for row in truth] == [f"h{number:02}" for number in range(1, 26)]


@pytest.mark.parametrize("version", VERSIONS)
def test_versions_hold_the_truth(version, truth):
    rows = lines(f"{version}.jsonl")
    assert [{key: row[key] for key in TRUTH_KEYS if key in row} for row in rows] == truth
    for row in rows:
        assert set(row) - set(TRUTH_KEYS) == {"answer", "contexts"}
        assert row["answer"].strip()


def test_documents(documents):
    assert len(documents) == 9
    for name, document in documents.items():
        assert 150 <= len(document.split()) <= 400, name


def test_truth_rows(truth, documents):
    for row in truth:
        assert row["references"]
        assert all(row["references"])
        assert set(row["metadata"]) == {"topic", "difficulty"}
        assert row["metadata"]["difficulty"] in {"easy", "medium", "hard"}
        assert set(row["documents"]) <= set(documents)
        if row["answerable"]:
            assert 1 <= len(row["facts"]) <= 3
            assert row["relevance"]
            assert set(row["relevance"].values()) <= {1, 2}
            assert set(row["documents"]) == {fact["source"] for fact in row["facts"]}
        else:
            assert "facts" not in row
            assert "relevance" not in row
    assert sum(not row["answerable"] for row in truth) == 2


def test_facts_stand_in_their_document(truth, documents):
    for row in truth:
        for fact in row.get("facts", ()):
            assert fact["kind"] == "citation"
            assert documents[fact["source"]].count(fact["text"]) == 1, (row["id"], fact["text"])


def test_chunks_stand_in_their_document(chunks, documents):
    assert len(chunks) == len(lines("chunks.jsonl"))
    for chunk in chunks.values():
        assert chunk["text"] in documents[chunk["source"]], chunk["id"]
        assert chunk["id"].split("#")[0] + ".md" == chunk["source"]
        assert 40 <= len(chunk["text"].split()) <= 120, chunk["id"]


def test_chunks_cover_the_documents(chunks, documents):
    for name, document in documents.items():
        parts = [chunk["text"] for chunk in chunks.values() if chunk["source"] == name]
        assert fold(" ".join(parts)) == fold(document), name


def test_relevant_chunks_hold_facts(truth, chunks):
    for row in truth:
        for chunk_id in row.get("relevance", ()):
            chunk = chunks[chunk_id]
            facts = [fact for fact in row["facts"] if fact["source"] == chunk["source"]]
            assert any(shared(fact["text"], chunk["text"]) for fact in facts), (row["id"], chunk_id)


def test_chunks_that_hold_facts_are_relevant(truth, chunks):
    for row in truth:
        for fact in row.get("facts", ()):
            holding = {chunk["id"] for chunk in chunks.values() if fact["text"] in chunk["text"]}
            assert holding <= set(row["relevance"]), row["id"]


def test_exactly_one_fact_is_split(truth, chunks):
    split = [
        (row, fact)
        for row in truth
        for fact in row.get("facts", ())
        if not any(fact["text"] in chunk["text"] for chunk in chunks.values())
    ]
    assert len(split) == 1
    row, fact = split[0]
    first, second = (chunks[chunk_id] for chunk_id in sorted(row["relevance"]))
    assert fact["text"] in first["text"] + " " + second["text"]


@pytest.mark.parametrize("version", VERSIONS)
def test_contexts_are_chunks(version, chunks):
    for row in lines(f"{version}.jsonl"):
        contexts = row["contexts"]
        ids = [context["id"] for context in contexts]
        assert len(ids) == len(set(ids)) == DEPTH[version], row["id"]
        for context in contexts:
            assert set(context) == {"text", "id", "score", "source"}
            assert {key: context[key] for key in ("id", "source", "text")} == chunks[context["id"]]
        scores = [context["score"] for context in contexts]
        assert all(high > low for high, low in itertools.pairwise(scores)), row["id"]


def test_faults_list_every_id(truth):
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text("FAULTS.md").splitlines()
        if line.startswith("| h")
    ]
    assert [cells[0] for cells in table] == [row["id"] for row in truth]
    assert all(len(cells) == 3 and all(cells) for cells in table)


def test_better_is_better():
    better, worse = lines("better.jsonl"), lines("worse.jsonl")
    assert fact_recall(better) > fact_recall(worse) + 0.15
    assert mean_token_recall(better) > mean_token_recall(worse) + 0.2
    assert covered_share(better) > covered_share(worse) + 0.2


def test_some_answers_are_exact():
    exact = [row["id"] for row in lines("better.jsonl") if row["answer"] in row["references"]]
    assert len(exact) == 5


def test_the_chat_rests_on_the_documents(documents):
    rows, chunks = lines("chat.jsonl"), {chunk["id"]: chunk["text"] for chunk in lines("chunks.jsonl")}
    assert len(rows) == 14
    assert len({row["metadata"]["conversation"] for row in rows}) == 5
    for row in rows:
        found = list(dict.fromkeys(chunk["id"] for step in row["steps"] for chunk in step["contexts"]))
        assert [chunk["id"] for chunk in row["contexts"]] == found
        assert all(chunk["text"] == chunks[chunk["id"]] for chunk in row["contexts"])
        assert row["relevance"].keys() <= chunks.keys()
        for fact in row["facts"]:
            # The splitter cut the fact of c3-1 in two.
            assert fold(fact["text"]) in fold(documents[fact["source"]]) or row["id"] == "c3-1"


def test_turns_of_the_chat_follow_each_other():
    said = {}
    for row in lines("chat.jsonl"):
        conversation = said.setdefault(row["metadata"]["conversation"], [])
        assert row.get("history", []) == conversation
        assert row["metadata"]["turn"] == len(conversation) // 2 + 1
        assert ("rewritten_question" in row) == bool(conversation)
        conversation += [{"role": "user", "text": row["question"]}, {"role": "assistant", "text": row["answer"]}]
