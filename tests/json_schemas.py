"""The published schemas of `--json` in docs/schemas: every JSON that a test prints is checked against them.

After a change of the JSON, `RAGSTONE_WRITE_SCHEMAS=1 pytest -n 0 TESTS` widens the schemas by what these tests print. Look at the difference,
and remove by hand what no longer comes.
"""

import json
import os
from functools import lru_cache
from pathlib import Path

import click
from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"
WRITES = bool(os.environ.get("RAGSTONE_WRITE_SCHEMAS"))
TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
# Objects whose keys come from data: each key has a value of the same kind.
MAPS = {
    *(
        "params",
        "parameters",
        "left_out",
        "signals",
        "signals_in_conversations",
        "signals_left_out",
        "masked",
        "documents",
    ),
    *(
        "relevance",
        "written_reasons",
        "statuses",
        "undecided",
        "refused",
        "prompts",
        "present",
        "impossible",
        "weights",
    ),
    *("core", "optional", "keys", "not_measured", "unlabelled", "liked_where_rated", "local_verdicts", "local_means"),
    *("scores", "skipped", "failed", "facts", "settings"),
}
# Anything: what users and tools have written.
OPEN = {"metadata", "evidence", "values", "tools", "counts", "before", "after", "coverage"}
# These have the name of one above, and fields of their own.
RECORDS = {
    *(
        ("compare", "before"),
        ("compare", "after"),
        ("compare", "settings"),
        ("explain", "counts"),
        ("metrics", "evidence"),
    ),
    *(("metrics", "tools"), ("sweep", "evidence"), ("agree", "coverage"), ("agree", "evidence"), ("train", "evidence")),
    *(
        ("judge-check", "coverage"),
        ("judge-check", "evidence"),
        ("truth rescore", "before"),
        ("truth rescore", "after"),
    ),
}
# Documents with fewer of their fields in common are different results, such as a quote.
SAME = 0.34


def schema_path(command):
    return FOLDER / f"{command.replace(' ', '-')}.json"


@lru_cache
def read_schema(command):
    return json.loads(schema_path(command).read_text())


@lru_cache
def _validator(command):
    return Draft202012Validator(close(read_schema(command)))


def check_json(command, value):
    """Fails if a command prints what its schema does not describe; with RAGSTONE_WRITE_SCHEMAS=1, widens the schema."""
    if WRITES:
        path = schema_path(command)
        schema = json.loads(path.read_text()) if path.exists() else new_schema(command)
        path.write_text(json.dumps(add_document(schema, value, command), indent=1, ensure_ascii=False) + "\n")
        read_schema.cache_clear()
        _validator.cache_clear()
    how = "RAGSTONE_WRITE_SCHEMAS=1 pytest -n 0 THIS_TEST widens it; look at the difference"
    assert schema_path(command).exists(), f"docs/schemas has no schema of `ragstone {command} --json`: {how}"
    error = next(_validator(command).iter_errors(value), None)
    assert error is None, f"{schema_path(command).name} at {error.json_path}: {error.message[:300]}. {how}"


def command_of_context():
    """The command that is running, such as `truth collect`; None if it prints only a part of its JSON."""
    context, names = click.get_current_context(), []
    if context.params.get("fields") or context.params.get("top"):
        return None
    while context.parent is not None:
        names.insert(0, context.command.name)
        context = context.parent
    return " ".join(names)


def new_schema(command):
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ragstone {command} --json",
    }


def add_document(schema, value, command):
    """The schema of a command, widened by one document. Results without common fields are alternatives."""
    head = {name: schema[name] for name in ("$schema", "title", "description") if name in schema}
    forms = schema.get("anyOf") or [{name: inner for name, inner in schema.items() if name not in head}]
    forms = [form for form in forms if form]
    fitting = [form for form in forms if _is_like(form, value)]
    if fitting:
        fitting[0].update(widen(fitting[0], value, command))
    else:
        forms.append(widen({}, value, command))
    return {**head, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}


def _is_like(form, value):
    if not isinstance(value, dict):
        return form["type"] == TYPES[type(value)]
    ours = {*form.get("properties", ())}
    return form["type"] == "object" and len(ours & {*value}) >= SAME * len(ours | {*value})


def widen(schema, value, command, name=""):
    """The schema that also describes this value. An empty schema describes nothing yet."""
    is_open = name in OPEN and (command, name) not in RECORDS
    if is_open or schema == {"description": "any value"}:
        return {"description": "any value"}
    types = {*_types(schema), TYPES[type(value)]}
    types -= {"integer"} if "number" in types else set()
    schema = {**schema, "type": sorted(types) if len(types) > 1 else types.pop()}
    if isinstance(value, list):
        items = schema.get("items", {})
        for item in value:
            items = widen(items, item, command, name)
        schema["items"] = items
    if isinstance(value, dict):
        if "additionalProperties" in schema or not value or (name in MAPS and (command, name) not in RECORDS):
            return _widen_map(schema, value, command)
        known = schema.get("properties")
        required = [*value] if known is None else [one for one in schema.get("required", ()) if one in value]
        inner = {one: widen((known or {}).get(one, {}), value[one], command, one) for one in value}
        schema |= {"properties": {**(known or {}), **inner}, "required": required}
    return schema


def _widen_map(schema, value, command):
    inner = schema.get("additionalProperties", {})
    for item in value.values():
        inner = widen(inner, item, command)
    for old in schema.pop("properties", {}).values():
        inner = inner or old
    schema.pop("required", None)
    return {**schema, "additionalProperties": inner}


def _types(schema):
    types = schema.get("type", [])
    return types if isinstance(types, list) else [types]


def close(schema):
    """The schema without further fields: programs must ignore them, but the tests must not."""
    if isinstance(schema, list):
        return [close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close(inner) for name, inner in schema.items()}
    is_object = "properties" in schema and "type" in schema and "additionalProperties" not in schema
    return {**closed, "additionalProperties": False} if is_object else closed
