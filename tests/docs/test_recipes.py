"""The recipes run with the real packages, in an environment of their own, and print what the page shows."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.separate_environment import run_separately

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
RECIPES = dict(re.findall(r"^## (\w+)\n.*?^```python\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE))
SHOWN = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)[-1]
LONGEST = 12


def test_each_framework_has_a_short_recipe():
    assert list(RECIPES) == ["LangChain", "LlamaIndex", "Haystack", "DSPy"]
    for name, code in RECIPES.items():
        recipe = [line for line in code.partition("# The recipe.\n")[2].splitlines() if line.strip()]
        assert 5 <= len(recipe) <= LONGEST, name


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_recipes_print_what_the_page_shows(name, tmp_path):
    done = run_separately(RECIPES[name], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == SHOWN


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("langchain_core") is None, reason="langchain-core is not installed")
def test_the_recipe_for_langchain_runs_here(tmp_path, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    done = subprocess.run([sys.executable, "-c", RECIPES["LangChain"]], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == SHOWN
