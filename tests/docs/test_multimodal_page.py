"""The page on images, tables and pages: its row is read, and its example says what the page says."""

import json
from importlib import resources
from pathlib import Path

from click.testing import CliRunner
from tests.docs.test_docs import blocks

import ragstone
from ragstone.cli.app import app
from ragstone.formats import read_dataset
from ragstone.llm.vision import find_vision
from ragstone.storage.images import Located, read_picture

PAGE = Path(__file__).parents[2] / "docs" / "multimodal.md"
EXAMPLE = resources.files("ragstone.examples") / "harbour"


def test_the_row_is_read():
    image, table = read_dataset([json.loads(blocks(PAGE, "json")[0])])[0].contexts
    assert (image.image, image.label) == ("fares.png", "fares.pdf, p. 3")
    assert table.text == "| Ticket | Return |\n|---|---|\n| Adult | 23.50 |"


def test_the_example_has_a_chart():
    assert len((EXAMPLE / "fares.png").read_bytes()) < 2_000
    picture = read_picture(Located("fares.png", str(EXAMPLE)))
    assert find_vision("openai/gpt-4o").tokens(picture.width, picture.height) == 85 + 170
    assert "85 + 170 tokens" in PAGE.read_text()


def test_the_example_runs(tmp_path):
    run = ragstone.evaluate(
        str(EXAMPLE / "images.jsonl"), ["recall@5", "unresolved_citations", "k_precision"], tmp_path
    )
    cells = {(cell["sample_id"], cell["metric"]): (cell["value"], cell["reason"]) for cell in run.scores.to_pylist()}
    samples = [f"i{number}" for number in range(1, 6)]
    assert [cells[name, "unresolved_citations"][0] for name in samples] == [0.0] * 5, "all cite a source with its page"
    assert [cells[name, "recall@5"][0] for name in samples] == [1.0] * 5
    reason = "1 of 2 retrieved chunks is an image without a text, and this metric does not see images"
    assert [cells[name, "k_precision"][1] for name in samples] == [None, None, reason, None, None]
    assert reason.partition(", and")[0] in PAGE.read_text()
    shown = CliRunner().invoke(app, ["explain", run.path, "i3"]).output
    assert "fares.pdf, p. 3  image: fares.png" in shown
    data = json.loads(CliRunner().invoke(app, ["explain", run.path, "i3", "--json"]).output)
    assert {"image": "fares.png", "page": "3"}.items() <= data["sample"]["contexts"][0].items()
