"""Images, pages and tables of chunks, and images in messages, in the forms in which other tools write them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ragstone.storage.images import MOST_BYTES

_IMAGES = ("image", "image_url", "image_path", "image_uri", "image_base64")
# A label is as printed on the page; LangChain counts `page` from 0 and has the label in addition.
_PAGES = ("page_label", "page_number", "page")
# The keys that lead to an image: of OpenAI, Anthropic, Gemini, OpenInference and OpenTelemetry.
_INNER = ("url", "uri", "image_url", "source", "image", "path")
_MEDIA = ("media_type", "mime_type", "mimeType")
_DATA = ("data", "content", "bytes", "base64")
_KINDS = {"image", "image_url", "input_image", "blob", "uri"}
_DEEPEST = 6
_SHOWN = 200


def further_parts(*sources: Any) -> dict[str, str]:
    """The image and the page of a chunk, each from the first mapping that has one."""
    found: dict[str, str] = {}
    for source in (one for one in sources if isinstance(one, Mapping)):
        if "image" not in found and (image := next(filter(None, (image_in(source.get(key)) for key in _IMAGES)), None)):
            found["image"] = image
        if "page" not in found and (page := next(filter(None, (page_in(source.get(key)) for key in _PAGES)), None)):
            found["page"] = page
    return found


def page_in(value: Any) -> str | None:
    """A page as a text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_one = isinstance(value, str | int) and not isinstance(value, bool)
    return (str(value).strip()[:_SHOWN] or None) if is_one else None


def image_in(value: Any, depth: int = 0) -> str | None:
    """The path, address or data URI in a text or in a part of a message; data that is too large is cut, with a mark."""
    if isinstance(value, str) and value.strip():
        return _limited(value.strip())
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    content = next((value[key] for key in _DATA if isinstance(value.get(key), str | bytes)), None)
    if content:
        media = next((value[key] for key in _MEDIA if isinstance(value.get(key), str)), "image/png")
        if isinstance(content, bytes):
            content = b64encode(content).decode()
        return _limited(content if content.startswith("data:") else f"data:{media};base64,{content}")
    return next(filter(None, (image_in(value.get(key), depth + 1) for key in _INNER)), None)


def _limited(image: str) -> str:
    if len(image) <= (MOST_BYTES * 4 // 3 + _SHOWN if image.startswith("data:") else 10 * _SHOWN):
        return image
    return f"{image[:_SHOWN]}… ({len(image):,} characters)"


def images_of(content: Any) -> list[str]:
    """The images among the parts of a message."""
    return [image for part in content if (image := _part_image(part))] if isinstance(content, list) else []


def _part_image(part: Any) -> str | None:
    inner = part.get("message_content", part) if isinstance(part, Mapping) else None
    if not isinstance(inner, Mapping):
        return None
    inner = next((inner[key] for key in ("inline_data", "inlineData") if isinstance(inner.get(key), Mapping)), inner)
    media = next((str(inner[key]) for key in _MEDIA if inner.get(key)), "")
    is_one = str(inner.get("type")) in _KINDS or media.startswith("image/")
    is_other = inner.get("modality", "image") != "image" or not (not media or media.startswith("image/"))
    return image_in(inner) if is_one and not is_other else None


def images_inside(value: Any, depth: int = 0) -> Iterator[str]:
    """The images in messages of any form: lists and mappings around parts of messages."""
    if isinstance(value, list):
        yield from images_of(value)
    items = value if isinstance(value, list) else value.values() if isinstance(value, Mapping) else ()
    for item in items if depth < 3 * _DEEPEST else ():
        if isinstance(item, list) or (isinstance(item, Mapping) and not _part_image(item)):
            yield from images_inside(item, depth + 1)


def table_text(table: Any) -> str | None:
    """A table as Markdown with its headings: from rows of which the first has the headings, records, or columns.

    A text is a table in Markdown or HTML already. None if the value is not a table.
    """
    if isinstance(table, str):
        return table.strip() or None
    rows = list(_rows(table))
    if not rows or not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        return None
    width = max(map(len, rows), default=0)
    lines = [f"| {' | '.join([*map(_cell, row), *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])


def _rows(table: Any) -> Iterator[Any]:
    if isinstance(table, Mapping):
        heads = next((table[key] for key in ("columns", "headers", "header", "heads") if key in table), None)
        body = next((table[key] for key in ("rows", "data", "values") if key in table), None)
        if isinstance(heads, list | tuple) and isinstance(body, list | tuple):
            table = [heads, *body] if not any(isinstance(row, Mapping) for row in body) else body
        elif table and all(isinstance(column, list | tuple) for column in table.values()):
            table = [list(table), *zip_longest(*table.values(), fillvalue="")]
        elif isinstance(body, list | tuple):
            table = body
    if isinstance(table, list | tuple) and table and all(isinstance(row, Mapping) for row in table):
        heads = list(dict.fromkeys(key for row in table for key in row))
        table = [heads, *([row.get(head, "") for head in heads] for row in table)]
    yield from table if isinstance(table, list | tuple) else ()


def _cell(value: Any) -> str:
    return " ".join(("" if value is None else str(value)).split()).replace("|", "\\|")
