"""Chunks that DIAL's applications send beside an answer, as attachments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.data.types import Chunk
from ragstone.llm.failures import LLMReplyError

RETRIEVAL_RESPONSE = "application/x.aidial-rag.retrieval-response+json"


def read_attachments(attachments: Iterable[Mapping[str, Any]]) -> list[Chunk] | None:
    """The retrieved chunks in their order; None where no attachment tells of any."""
    found: list[Chunk] | None = None
    for attachment in attachments:
        if str(attachment.get("type", "")).partition(";")[0].strip().lower() == RETRIEVAL_RESPONSE:
            found = [*(found or []), *_read_response(attachment)]
    return found


def _read_response(attachment: Mapping[str, Any]) -> list[Chunk]:
    data = attachment.get("data")
    if not data:
        raise LLMReplyError("the retrieved chunks came as an address, not as data; only data is read")
    try:
        chunks = json.loads(data)["chunks"]
        # A chunk of an image has no text, and still takes its place in the ranking.
        return [_read_chunk(chunk) for chunk in chunks]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise LLMReplyError(f"the attachment of type {RETRIEVAL_RESPONSE} holds no list of chunks") from None


def _read_chunk(chunk: Mapping[str, Any]) -> Chunk:
    source = chunk.get("source") or {}
    url = source.get("url") or chunk.get("attachment_url")
    return Chunk(str(chunk.get("text") or ""), source=str(source.get("display_name") or url) if url or source else None)
