"""The published schemas: one per command with --json, valid, and strict enough to fail. The fixture `cli` checks every printed JSON."""

import json

import pytest
from jsonschema import Draft202012Validator

from ragstone.cli.app import app
from tests.json_schemas import FOLDER, add_document, check_json, close, new_schema, schema_path


def _commands():
    for name, command in app.commands.items():
        inner = getattr(command, "commands", None) or {"": command}
        for word, one in inner.items():
            if any(param.name == "json" for param in one.params):
                yield f"{name} {word}".strip()


COMMANDS = sorted(_commands())


def test_every_command_with_json_has_a_schema_and_the_two_options():
    assert {path.name for path in FOLDER.iterdir()} == {schema_path(command).name for command in COMMANDS}
    assert len(COMMANDS) >= 40
    for command in COMMANDS:
        found = app
        for word in command.split():
            found = found.commands[word]
        assert {"fields", "top"} <= {param.name for param in found.params}


@pytest.mark.parametrize("command", COMMANDS)
def test_schemas_are_valid_and_described(command):
    schema = json.loads(schema_path(command).read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"ragstone {command} --json"
    # Readers must ignore fields that they do not know: the published form allows them.
    assert '"additionalProperties": false' not in schema_path(command).read_text()


RUNS = [{"name": "a", "rows": 1, "metrics": 2, "data": "a.jsonl", "finished": "2024-05-01 10:00", "id": "x"}]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rows": "one"}, "is not of type"),
        ({"rows": None}, "is not of type"),
        ({"new": 1}, "was unexpected"),
        ({"name": ...}, "is a required property"),
    ],
)
def test_a_change_of_the_json_is_noticed(change, problem):
    check_json("runs", RUNS)
    changed = {name: value for name, value in {**RUNS[0], **change}.items() if value is not ...}
    with pytest.raises(AssertionError, match=problem):
        check_json("runs", [changed])


def test_a_command_without_a_schema_is_noticed():
    with pytest.raises(AssertionError, match="docs/schemas has no schema of `ragstone nothing --json`"):
        check_json("nothing", {})


def test_schemas_are_widened_by_documents():
    first = {"id": "a", "mean": 1, "params": {"x": 1}, "rows": []}
    schema = add_document(new_schema("x"), first, "x")
    for more in (
        first | {"mean": None},
        first | {"mean": 0.5, "rows": [{"a": 1}]},
        {"id": "b", "mean": 1.0, "rows": []},
    ):
        schema = add_document(schema, more, "x")
        Draft202012Validator(close(schema)).validate(more)
    assert schema["required"] == ["id", "mean", "rows"]
    assert schema["properties"]["mean"]["type"] == ["null", "number"]
    assert schema["properties"]["params"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    # Another result of the same command.
    schema = add_document(schema, {"calls": 3, "cost": 0.1}, "x")
    assert [[*form["properties"]] for form in schema["anyOf"]] == [["id", "mean", "params", "rows"], ["calls", "cost"]]
