"""The recipes run with the real packages, in an environment of their own, and print what the page shows."""

import importlib.util
import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.separate_environment import run_separately

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
RECIPES = dict(re.findall(r"^## (\w+)\n.*?^```python\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE))
SHOWN = re.findall(r"print:\n\n```\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)[-1]
LONGEST = 12


def test_each_framework_has_a_short_recipe():
    assert list(RECIPES) == ["OpenAI", "LangChain", "LlamaIndex", "Haystack", "DSPy"]
    for name, code in RECIPES.items():
        recipe = [line for line in code.partition("# The recipe.\n")[2].splitlines() if line.strip()]
        assert 5 <= len(recipe) <= LONGEST, name


class FakeOpenAI(BaseHTTPRequestHandler):
    """Embeds texts by their letters, and answers with the first of the given texts."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Authorization"] == "Bearer not-a-key"
        if self.path == "/v1/embeddings":
            vectors = [[text.lower().count(letter) for letter in "abdefglmnoprstv"] for text in body["input"]]
            reply = {"data": [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]}
        else:
            assert self.path == "/v1/chat/completions"
            message = {"role": "assistant", "content": body["messages"][0]["content"].splitlines()[1]}
            reply = {"id": "1", "choices": [{"index": 0, "finish_reason": "stop", "message": message}], "created": 0}
        text = json.dumps({"object": "list", "model": body["model"], **reply}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Prints nothing."""


@pytest.fixture
def server():
    """The address of an OpenAI-compatible server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeOpenAI) as started:
        threading.Thread(target=started.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{started.server_port}/v1"
        started.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_recipes_print_what_the_page_shows(name, tmp_path, server):
    done = run_separately(RECIPES[name], tmp_path, OPENAI_BASE_URL=server, OPENAI_API_KEY="not-a-key")
    assert done.returncode == 0, done.stderr
    assert done.stdout == SHOWN


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("langchain_core") is None, reason="langchain-core is not installed")
def test_the_recipe_for_langchain_runs_here(tmp_path, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    done = subprocess.run([sys.executable, "-c", RECIPES["LangChain"]], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == SHOWN
