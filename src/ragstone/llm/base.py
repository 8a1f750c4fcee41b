"""One call to a language model: what is asked, what comes back, and the one method that all models and wrappers have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant"]
# How the reply is asked for: in words only, as any JSON object, or as JSON that a schema describes.
ReplyFormat = Literal["text", "json_object", "json_schema"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str
    # Addresses of documents that the question is about; DIAL's applications take them beside the text.
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked. Everything here that can change the reply is part of the cache's key."""

    messages: tuple[Message, ...]
    # The name and hash of the prompt file, for the table of calls.
    prompt: str = ""
    prompt_hash: str = ""
    reply_format: ReplyFormat = "text"
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    # The number of the repeat when the same is asked several times; 0 is the first.
    repeat: int = 0
    logprobs: bool = False
    # Whether only the model itself will do: a reply of an earlier run turned out to be of no use.
    fresh: bool = field(default=False, compare=False)
    # What the reply will look like, roughly: only a quote looks at it, and it is never sent.
    guess: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and what it took."""

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    # `stop`, `length` (cut off), `content_filter`, or whatever else the server says.
    finish_reason: str = "stop"
    # Natural-log probability of each token of the reply, where the server offers it.
    logprobs: tuple[tuple[str, float], ...] | None = None
    # For each token of the reply those that the model might have said in its place, with theirs.
    alternatives: tuple[tuple[tuple[str, float], ...], ...] | None = None
    cost_usd: float | None = None
    latency_s: float = 0.0
    attempts: int = 1
    cached: bool = False
    # What came beside the text: DIAL's applications send what they retrieved this way.
    attachments: tuple[Mapping[str, Any], ...] = ()


@runtime_checkable
class LLM(Protocol):
    """A language model, or a wrapper around one."""

    @property
    def name(self) -> str:
        """The model's name as people know it; it is stored, so it holds no key and no password."""
        ...

    @property
    def signature(self) -> str:
        """What identifies the model in the signature of a score."""
        ...

    async def complete(self, request: Request) -> Reply:
        """The model's reply, or an LLMError."""
        ...

    async def close(self) -> None:
        """Give back connections; called once, at the end of a run."""
        ...
