"""Reading a reply: the object that the model meant, or why there is none."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ragstone.llm.failures import LLMReplyError

T = TypeVar("T", bound=BaseModel)


def read_reply(text: str, kind: type[T], finish_reason: str = "stop") -> T:
    """The object in a reply, or an LLMReplyError that says why there is none."""
    if finish_reason == "length":
        raise LLMReplyError("cut off", text)
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise LLMReplyError(f"not JSON: {error.errors()[0]['msg']}", text) from error
