"""A real kernel: its loop is running, results show themselves, and the progress bar needs no widgets."""

import os
import sys

import pytest

nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

EVALUATE = """
import asyncio, time, ragstone
from ragstone.testing import FakeLLM
assert asyncio.get_running_loop().is_running()
rows = [{"id": f"s{n}", "question": f"q{n}", "answer": "At nine.", "references": ["nine"]} for n in range(20)]

def reply(request):
    time.sleep(0.05)
    return RuntimeError("the judge is away")

judge = FakeLLM(reply)
run = ragstone.evaluate(rows, ["token_f1", "answer_match"], judge=ragstone.Judge(judge, exam=False, cache=False, concurrency=1))
run
"""


class Client(nbclient.NotebookClient):
    """Keeps every output, replaced ones too."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.seen.append((msg["msg_type"], msg["content"]["data"]["text/html"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def executed():
    cells = [EVALUATE, "run.missing", "run.worst(2)", "ragstone.gate(run, min={'token_f1': 0.5})"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = Client(notebook, timeout=120, kernel_name="python3")
    client.seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        client.execute()
    return client


def result(executed, cell):
    [output] = [one for one in executed.nb.cells[cell].outputs if one.output_type == "execute_result"]
    return output.data


def test_results_show_themselves(executed):
    for cell in range(4):
        data = result(executed, cell)
        assert '<div class="ragstone">' in data["text/html"]
        assert len(data["text/plain"].splitlines()) <= 8
    assert "the judge is away" in result(executed, 1)["text/plain"]


def test_the_bar_moves_in_one_output(executed):
    kinds = [kind for kind, _ in executed.seen]
    assert kinds[0] == "display_data"
    assert set(kinds[1:]) == {"update_display_data"}
    assert any('<progress value="1' in html for _, html in executed.seen), executed.seen
    shown = [one for one in executed.nb.cells[0].outputs if one.output_type == "display_data"]
    assert [one.data["text/plain"] for one in shown] == ["20 rows evaluated"]


def test_nothing_else_is_printed(executed):
    """But the note on the judge that failed."""
    [printed] = [one.text for cell in executed.nb.cells for one in cell.outputs if one.output_type == "stream"]
    assert printed.startswith("note: 100% of the cells failed")
    assert printed.count("\n") == 1
