"""A damaged run is listed as damaged, and no page or command ends in an internal error."""

from __future__ import annotations

import os
import random
import re
import shutil
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import ragstone
from ragstone.cli.app import app
from ragstone.errors import RagstoneError
from ragstone.web.app import make_app
from ragstone.web.library import Library

FILES = ("run.json", "samples.parquet", "scores.parquet", "summary.parquet", "calls.parquet", "evidence")


def cut(path):
    with open(path, "r+b") as stream:
        stream.truncate(os.path.getsize(path) // 2)


def noise(path):
    with open(path, "wb") as stream:
        stream.write(random.Random(1).randbytes(2000))


def other(path):
    if path.endswith(".json"):
        with open(path, "w") as stream:
            stream.write('{"layout": 1, "metrics": 3}')
    else:
        pq.write_table(pa.table({"a": [1, 2]}), path)


def folder(path):
    os.remove(path)
    os.mkdir(path)


def empty(path):
    open(path, "wb").close()


DAMAGES = {"cut": cut, "noise": noise, "other": other, "folder": folder, "empty": empty, "missing": os.remove}

# Each takes a second on a busy machine.
HOW = [name if name in ("cut", "other") else pytest.param(name, marks=pytest.mark.slow) for name in DAMAGES]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three runs, and the id of the one in the middle."""
    root = tmp_path_factory.mktemp("store")
    rows = [
        {"id": f"s{n}", "question": f"Question {n}?", "answer": f"Answer {n} [1].", "contexts": [f"Answer {n} is so."]}
        for n in range(4)
    ]
    rows = [{**row, "references": [row["answer"]]} for row in rows]
    for name in ("first", "middle", "last"):
        ragstone.evaluate(rows, metrics=["token_f1", "unresolved_citations"], out=root, name=name)
    return root, sorted(os.listdir(root / "runs"))


@pytest.fixture
def store(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "store")
    return tmp_path / "store", made[1]


def damage(store, file, how):
    root, (_, middle, _) = store
    path = root / "runs" / middle / file
    if path.is_dir():
        path = next(path.iterdir())
    DAMAGES[how](str(path))


def words(client, page):
    response = client.get(page)
    return response.status_code, " ".join(re.sub(r"<[^>]+>", " ", response.text).split())


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("how", HOW)
def test_pages_say_that_a_run_is_damaged(store, file, how):
    damage(store, file, how)
    root, (first, middle, last) = store
    library = Library(root)
    try:
        client = TestClient(make_app(library), base_url="http://127.0.0.1", raise_server_exceptions=False)
        for _ in range(100):
            status, text = words(client, "/runs")
            assert status == 200
            if "is damaged" in text:
                break
            time.sleep(0.05)
        assert "Damaged or unreadable runs" in text
        assert re.search(
            rf"{middle} cannot read \S+: the run is damaged .*Restore the run from a copy, or evaluate again", text
        )
        assert "first" in text and "last" in text  # noqa: PT018
        pages = [f"/runs/{middle}{end}" for end in ("", "/samples/1", "/samples/1/facts", "/truth")]
        pages += [f"/compare/{first}/{middle}", f"/compare/{middle}/{last}/samples/1"]
        for page in [*pages, *(f"{page}.json" for page in pages), f"/compare?runs={first}&runs={middle}&runs={last}"]:
            status, text = words(client, page)
            assert status < 500, (page, text)
            assert status != 409 or "is damaged" in text
        assert words(client, f"/runs/{first}")[0] == 200
    finally:
        library.close()


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("how", HOW)
def test_commands_explain_a_damaged_run_and_read_the_others(store, file, how):
    damage(store, file, how)
    root, (first, middle, _) = store
    commands = [["show", middle], ["compare", first, middle], ["diagnose", middle], ["explain", middle, "s1"]]
    for command in commands:
        error = CliRunner().invoke(app, [*command, "-o", str(root)]).exception
        assert error is None or isinstance(error, SystemExit | RagstoneError), (command, error)
        if isinstance(error, RagstoneError) and file != "evidence" and (file, how) != ("run.json", "missing"):
            assert "is damaged" in str(error)
    for name in ("first", "last", "latest"):
        result = CliRunner().invoke(app, ["show", name, "-o", str(root), "--json"])
        assert result.exit_code == 0, result.exception


def test_the_newest_run_is_not_replaced_by_an_older_one(store):
    root, (*_, last) = store
    cut(str(root / "runs" / last / "run.json"))
    result = CliRunner().invoke(app, ["show", "latest", "-o", str(root)])
    assert "is damaged" in str(result.exception)
    assert last in str(result.exception)
