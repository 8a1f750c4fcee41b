"""The JSON schema of a reply, in the strict and plain form that all servers understand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from ragstone.errors import DefinitionError


@cache
def strict_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema with every key required, no others allowed and nothing referred to, since small servers choke on it."""
    schema = kind.model_json_schema()
    plain: dict[str, Any] = _plain(schema, schema.get("$defs", {}), ())
    return {"title": kind.__name__, **plain}


def _plain(node: Any, parts: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_plain(item, parts, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in inside:
            raise DefinitionError(f"a reply cannot hold itself: {name} refers to {name}.")
        return _plain(parts[name], parts, (*inside, name))
    plain = {
        # Under `properties`, names are the model's own: a field may well be called `title`.
        key: {name: _plain(value, parts, inside) for name, value in entry.items()}
        if key == "properties"
        else _plain(entry, parts, inside)
        for key, entry in node.items()
        if key not in ("$defs", "title", "description", "default")
    }
    if plain.get("type") == "object":
        plain |= {"required": list(plain.get("properties", {})), "additionalProperties": False}
    return plain
