"""ragstone fuse: TREC runs and stored runs as one run."""

import json

import pytest

import ragstone

ONE = "1 Q0 a 1 9 x\n1 Q0 b 2 5 x\n1 Q0 c 3 1 x\n2 Q0 a 1 1 x\n"
TWO = "1 Q0 b 1 0.9 y\n1 Q0 d 2 0.1 y\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "one.run").write_text(ONE)
    (tmp_path / "two.run").write_text(TWO)
    return str(tmp_path / "one.run"), str(tmp_path / "two.run"), str(tmp_path / "fused.run")


def ranked(path):
    with open(path) as file:
        return [(query, name, int(rank), tag) for query, _, name, rank, _, tag in map(str.split, file)]


def test_two_runs_as_one(cli, files):
    one, two, to = files
    result = cli("fuse", one, two, "-o", to)
    assert ranked(to) == [
        ("1", "b", 1, "ragstone-rrf"),
        ("1", "a", 2, "ragstone-rrf"),
        ("1", "d", 3, "ragstone-rrf"),
        ("1", "c", 4, "ragstone-rrf"),
        ("2", "a", 1, "ragstone-rrf"),
    ]
    assert "5 results of 2 queries from 2 runs" in result.out
    assert "1 of 2 queries are not in all runs" in result.err


def test_the_result_is_a_run_that_trec_reads(cli, files, tmp_path):
    one, two, to = files
    cli("fuse", one, two, "-o", to, "--method", "combmnz", "--keep", "2")
    assert [name for query, name, *_ in ranked(to) if query == "1"] == ["b", "a"]
    (tmp_path / "qrels").write_text("1 0 b 1\n2 0 a 1\n")
    assert "1.0000" in cli("trec", str(tmp_path / "qrels"), to, "mrr").out


def test_stored_runs_and_samples(cli, files, tmp_path):
    rows = [{"id": "1", "question": "q", "contexts": [{"text": "x", "id": "d"}, {"text": "y", "id": "b"}]}]
    data = tmp_path / "samples.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))
    run = ragstone.evaluate(str(data), ["exact_match", "steps.count"], tmp_path / "store")
    cli("fuse", str(data), run.path, files[1], "-o", files[2], "--root", str(tmp_path / "store"))
    assert [name for _, name, *_ in ranked(files[2])] == ["d", "b"]  # d is first in two of three


def test_samples_with_texts(cli, files, tmp_path):
    chunks = [{"text": "x", "id": "d", "score": 0.5}, {"text": "y", "id": "b"}]
    row = {"id": "1", "question": "q", "answer": "of one system", "facts": ["y"], "contexts": chunks}
    other = {**row, "contexts": [{"text": "z", "id": "e"}, {"text": "y", "id": "b"}]}
    for name, one in (("a", row), ("b", other)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(one))
    done = cli("fuse", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "-o", str(tmp_path / "fused.jsonl"))
    assert done.code == 0, done.err
    fused = json.loads((tmp_path / "fused.jsonl").read_text())
    assert [chunk["text"] for chunk in fused["contexts"]] == ["y", "z", "x"]
    assert fused["facts"][0]["text"] == "y"
    assert "answer" not in fused
    done = cli("fuse", str(tmp_path / "a.jsonl"), files[1], "-o", str(tmp_path / "fused.csv"))
    assert done.code == 2
    assert "without texts" in done.err


@pytest.mark.parametrize(
    ("rows", "arguments", "words"),
    [
        ([{"id": "1", "contexts": ["no id"]}], (), "a chunk has no id"),
        ([{"id": "1", "contexts": [{"text": "x", "id": "a"}]}], ("--method", "combsum"), "a chunk has no score"),
        ([{"id": "1 2", "contexts": [{"text": "x", "id": "a"}]}], (), "contains white space"),
        ([{"id": "1", "contexts": [{"text": "x", "id": "a"}]}], ("--method", "best"), "choose from rrf"),
    ],
)
def test_what_cannot_be_fused(cli, files, tmp_path, rows, arguments, words):
    data = tmp_path / "samples.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))
    result = cli("fuse", str(data), files[1], "-o", files[2], *arguments)
    assert result.code == 2
    assert words in result.err
    assert not (tmp_path / "fused.run").exists()


def test_one_run_is_not_enough(cli, files):
    assert "at least two runs" in cli("fuse", files[0], "-o", files[2]).err
