"""A user's own file of metrics."""

import re
import sys

import pytest

from ragstone.errors import DefinitionError, UsageError
from ragstone.registry.declare import import_all, import_metrics_file

GOOD = """
from __future__ import annotations
from ragstone.registry import metric

@metric("mine.shout")
def shout(answer: str, mark: str = "!") -> float:
    "The answer shouts."
    return float(mark in answer)
"""


def write(folder, text, name="my_metrics.py"):
    file = folder / name
    file.write_text(text)
    return file


def refused(file, kind, message):
    start = re.escape(f"metrics file '{file}'")
    with pytest.raises(kind, match=f"^{start}{message}"):
        import_metrics_file(file)


def test_a_file_registers_its_metrics(catalogue, tmp_path):
    import_metrics_file(write(tmp_path, GOOD))
    assert catalogue.metric("mine.shout").spec.meaning == "The answer shouts."


def test_a_file_may_be_imported_twice(catalogue, tmp_path):
    import_metrics_file(write(tmp_path, GOOD))
    import_metrics_file(str(write(tmp_path, GOOD.replace("mark in", "mark not in"))))
    assert catalogue.metric("shout").spec.function("hey!") == 0.0


def test_a_missing_file(tmp_path):
    refused(tmp_path / "none.py", UsageError, " does not exist$")
    refused(tmp_path, UsageError, " does not exist$")


def test_not_a_python_file(tmp_path):
    refused(write(tmp_path, "hello", "notes.txt"), UsageError, " is not a Python file$")


def test_a_syntax_error(tmp_path):
    refused(write(tmp_path, "x = 1\ndef (:\n"), DefinitionError, ", line 2: SyntaxError: ")


def test_an_error_in_the_file(tmp_path, monkeypatch):
    file = write(tmp_path, "x = 1\ny = 0\nx / y\n")
    refused(file, DefinitionError, ", line 3: ZeroDivisionError: division by zero$")
    monkeypatch.chdir(tmp_path)
    refused(file.name, DefinitionError, ", line 3: ZeroDivisionError: division by zero$")


def test_an_error_deeper_down_names_the_line_of_the_users_file(tmp_path):
    file = write(tmp_path, "import json\ndef load():\n    return json.loads('{')\nload()\n")
    refused(file, DefinitionError, ", line 3: JSONDecodeError: ")


def test_a_wrong_declaration_keeps_its_own_words(catalogue, tmp_path):
    file = write(tmp_path, GOOD.replace("mine.shout", "Shout"))
    with pytest.raises(DefinitionError, match=r"^'Shout' is not a good name"):
        import_metrics_file(file)


def test_every_module_of_a_package_is_imported(tmp_path, monkeypatch):
    package = tmp_path / "ragstone_some_package"
    package.mkdir()
    for name in ("__init__.py", "first.py", "second.py"):
        write(package, "", name)
    monkeypatch.syspath_prepend(tmp_path)
    import_all(package.name, [str(package)])
    assert {f"{package.name}.first", f"{package.name}.second"} <= sys.modules.keys()
