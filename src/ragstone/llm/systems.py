"""A user's RAG system or generator: a function, a command, a chain or an endpoint, called through the gateway like a model.

system = open_system("rag.py:answer", gateway)
answer = await system.answer("When does the last boat leave?")
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import unquote, urlsplit

from ragstone.data.codec import load_json
from ragstone.data.types import Chunk, Turn
from ragstone.errors import UsageError
from ragstone.llm.answers import Answer, read_answer, write_answer
from ragstone.llm.base import LLM, LLMError, LLMReplyError, Message, Reply, Request
from ragstone.llm.endpoints import Endpoint, find_endpoint
from ragstone.llm.gateway import Gateway
from ragstone.llm.user_code import UNKNOWN_VERSION, load_name, split_file_name, version_of

__all__ = ["Answer", "System", "SystemSpec", "open_system"]

# A name (`rag.py:answer`, `cmd:./rag`, `openai/gpt-4o-mini`, an address), a function, or a chain.
SystemSpec = str | Callable[..., Any] | Any
_COMMAND = re.compile(r"cmd:\s*(?P<line>.*)", re.DOTALL)
# The guess of a quote.
_TYPICAL_ANSWER = "According to the documents it is what the question asks for, in a sentence or two of usual length."

RETRIEVAL_RESPONSE = "application/x.aidial-rag.retrieval-response+json"


class System:
    """A user's system behind the gateway."""

    def __init__(self, llm: LLM, exchange: _JSONExchange | _ChatExchange, suffix: str = "") -> None:
        self.name = llm.name
        # Whether passages can be passed to it, and whether the cost of a call is known beforehand.
        self.takes_contexts, self.is_priced = exchange.takes_contexts, exchange.priced
        self._llm, self._exchange, self._suffix = llm, exchange, suffix

    @property
    def signature(self) -> str:
        """The string that identifies the system: its name, code version and prompt."""
        return f"{self._llm.signature}{self._suffix}"

    def require_contexts(self) -> None:
        """Raise if passages cannot be passed to the system."""
        if not self.takes_contexts:
            raise UsageError(
                f"{self.name} takes only a question, but this command passes passages to it. "
                "Add a parameter `contexts` to the function, or a slot {contexts} to the template."
            )

    async def answer(
        self,
        question: str,
        contexts: Sequence[Chunk] | None = None,
        documents: Sequence[str] = (),
        repeat: int = 0,
        history: Sequence[Turn] = (),
    ) -> Answer:
        """Return the system's answer, or raise an LLMError. `history` are the earlier turns of a conversation."""
        said = [turn for turn in history if turn.role in ("user", "assistant")]
        request = self._exchange.ask(question, contexts, documents, repeat, said)
        reply = await self._llm.complete(request)
        try:
            return self._exchange.read(reply, self.name)
        except (LLMError, ValueError):
            if not reply.cached:
                raise
        return self._exchange.read(await self._llm.complete(replace(request, ask_again=True)), self.name)


class _JSONExchange:
    """Questions and answers as JSON, for functions, commands and chains."""

    priced = False

    def __init__(self, takes_contexts: bool) -> None:
        self.takes_contexts = takes_contexts

    def ask(
        self,
        question: str,
        contexts: Sequence[Chunk] | None,
        documents: Sequence[str],
        repeat: int,
        history: Sequence[Turn] = (),
    ) -> Request:
        known = ({name: part for name, part in asdict(chunk).items() if part is not None} for chunk in contexts or ())
        asked: dict[str, Any] = {
            "question": question,
            "contexts": None if contexts is None else list(known),
            "documents": list(documents),
        }
        if history:
            asked["history"] = [{"role": turn.role, "text": turn.text} for turn in history]
        content = json.dumps(asked, ensure_ascii=False)
        return Request(
            (Message("user", content),), prompt="system", repeat=repeat, guess=write_answer(Answer(_TYPICAL_ANSWER))
        )

    def read(self, reply: Reply, name: str) -> Answer:
        return read_answer(load_json(reply.text), name)


class _ChatExchange:
    """A chat model or an application behind a chat endpoint, asked with a template."""

    priced = True

    def __init__(self, template: _Template, sends_documents: bool) -> None:
        self.takes_contexts = template.takes_contexts
        self._template = template
        self._sends_documents = sends_documents

    def ask(
        self,
        question: str,
        contexts: Sequence[Chunk] | None,
        documents: Sequence[str],
        repeat: int,
        history: Sequence[Turn] = (),
    ) -> Request:
        earlier = (Message("user" if turn.role == "user" else "assistant", turn.text) for turn in history)
        text = self._template.render(question, None if contexts is None else [chunk.text for chunk in contexts])
        attached = tuple(documents) if self._sends_documents else ()
        return Request(
            (*earlier, Message("user", text, attached)),
            prompt="system",
            prompt_hash=self._template.hash,
            repeat=repeat,
            guess=_TYPICAL_ANSWER,
        )

    def read(self, reply: Reply, name: str) -> Answer:  # noqa: ARG002  (the protocol)
        # The retrieved chunks in order, or None if no attachment contains any.
        chunks: list[Chunk] | None = None
        for attachment in reply.attachments:
            if str(attachment.get("type", "")).partition(";")[0].strip().lower() == RETRIEVAL_RESPONSE:
                chunks = [*(chunks or []), *_read_response(attachment)]
        return Answer(reply.text, chunks)


def open_system(
    spec: SystemSpec,
    gateway: Gateway,
    template: str | os.PathLike[str] | None = None,
    version: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> System:
    """Open a function, a chain, `file.py:name`, `cmd:…`, a model name or the address of an endpoint.

    `template` is a file with the prompt for models. `version` identifies the state of a system whose code is not visible.
    `parameters` are passed by name: keyword arguments of a function, words or variables of a command, fields of the
    requests to an endpoint. One that the name of the system or its template has in braces is only put there.
    """
    if not isinstance(spec, str):
        return _open_object(spec, gateway, None, version, parameters)
    (name, path), rest = _fill_names((spec, None if template is None else os.fspath(template)), parameters or {})
    if in_file := split_file_name(name.strip()):
        loaded = load_name(*in_file, "system")
        return _open_object(loaded.value, gateway, loaded.label, version or loaded.version, rest)
    if (line := _command_line(spec)) is not None:
        from ragstone.llm.providers.command import CommandSystem  # noqa: PLC0415

        command = CommandSystem(line, gateway.timeout_s, parameters)
        return System(
            gateway.open_llm(command, version or ""), _JSONExchange(takes_contexts=True), _version_suffix(version)
        )
    chosen = _Template(path)
    endpoint = find_system_endpoint(name)
    version = f"{version or ''}{_parameters_mark(rest)}"
    if endpoint is None:
        llm = gateway.open_llm(name, version, rest)
    else:
        llm = gateway.open_endpoint(replace(endpoint, body=rest), version)
    exchange = _ChatExchange(chosen, sends_documents=llm.name.startswith("dial/"))
    return System(llm, exchange, f",template={chosen.hash}{_version_suffix(version)}")


_NAME = re.compile(r"\{(\w+)\}")


def _fill_names(
    texts: tuple[str, str | None], parameters: Mapping[str, Any]
) -> tuple[tuple[str, str | None], dict[str, Any]]:
    """The name of a system and its template with parameters in place of `{their names}`, and the other parameters."""
    used = {name for text in texts for name in _NAME.findall(text or "") if name in parameters}

    def fill(slot: re.Match[str]) -> str:
        return str(parameters[slot[1]]) if slot[1] in used else slot[0]

    spec, template = texts
    filled = (_NAME.sub(fill, spec), None if template is None else _NAME.sub(fill, template))
    return filled, {name: value for name, value in parameters.items() if name not in used}


def _parameters_mark(parameters: Mapping[str, Any]) -> str:
    """A hash of parameters for signatures and cache keys; empty if there are none."""
    if not parameters:
        return ""
    content = json.dumps(parameters, sort_keys=True, default=str)
    return f"-p{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}"


def _version_suffix(version: str | None) -> str:
    return f",version={version}" if version else ""


def _command_line(spec: str) -> str | None:
    """Return the command of `cmd:…`. A text with spaces is a command too, since names and addresses have none."""
    if match := _COMMAND.fullmatch(spec.strip()):
        return match["line"]
    return spec.strip() if len(spec.split()) > 1 else None


def _open_object(
    value: Any, gateway: Gateway, label: str | None, version: str | None, parameters: Mapping[str, Any] | None = None
) -> System:
    from ragstone.llm.providers.python_function import CallableSystem, as_function, bind_parameters  # noqa: PLC0415

    chain = as_function(value)
    if chain is None and not callable(value):
        raise UsageError(
            f"{label or 'the system'} is {type(value).__name__}: a system is a function, a LangChain runnable, "
            "a LlamaIndex query engine, or a name such as rag.py:answer, cmd:./rag or openai/gpt-4o-mini"
        )
    name = label or getattr(value, "__qualname__", type(value).__qualname__)
    state = version or (UNKNOWN_VERSION if chain is not None else version_of(value))
    if state == UNKNOWN_VERSION:
        # Two chains of one class may differ, so this chain has its own cache.
        state = f"unseen-{secrets.token_hex(4)}"
    function = chain or value
    if parameters:
        function = bind_parameters(function, parameters, str(name))
        state = f"{state}{_parameters_mark(parameters)}"
    system = CallableSystem(function, f"function/{name}", state, gateway.timeout_s)
    return System(gateway.open_llm(system), _JSONExchange(system.takes_contexts))


_SLOT = re.compile(r"\{(question|contexts)\}")
_CHINESE = re.compile("[\u4e00-\u9fff]")


class _Template:
    """A text with `{question}` and optionally `{contexts}`. Braces in the data are not replaced."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._own = None if path is None else _read(os.fspath(path))
        self.takes_contexts = self._own is None or "{contexts}" in self._own
        # The packaged template exists in two languages, and both count.
        text = self._own if self._own is not None else _packaged("english") + _packaged("chinese")
        self.hash = hashlib.sha256(text.encode()).hexdigest()[:16]

    def render(self, question: str, contexts: Sequence[str] | None) -> str:
        """Return the prompt. Without passages, the packaged template is the bare question."""
        if self._own is None and contexts is None:
            return question
        text = self._own
        if text is None:
            text = _packaged("chinese" if _CHINESE.search(question) else "english")
        passages = "\n\n".join(f"[{number}] {passage}" for number, passage in enumerate(contexts or (), start=1))
        data = {"question": question, "contexts": passages or "(none)"}
        return _SLOT.sub(lambda slot: data[slot[1]], text).strip()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    if "{question}" not in text:
        raise UsageError(f"{path}: the template has no slot {{question}}.")
    return text


@cache
def _packaged(name: str) -> str:
    return (resources.files("ragstone.llm.templates") / f"{name}.md").read_text(encoding="utf-8")


_DEPLOYMENT = re.compile(r"(?P<root>.*)/openai/deployments/(?P<name>[^/]+)")
_LAST = re.compile(r"/chat/completions/?$")
_UNNAMED = "default"


def find_system_endpoint(spec: str) -> Endpoint | None:
    """Return the endpoint at `http://host:8000/v1#model` or of a DIAL deployment; None if the text is not an address."""
    parts = urlsplit(spec.strip())
    if parts.scheme not in ("http", "https"):
        return None
    path = _LAST.sub("", parts.path).rstrip("/")
    bare = parts._replace(path=path, fragment="")
    if match := _DEPLOYMENT.fullmatch(path):
        return find_endpoint("dial", unquote(match["name"]), bare._replace(path=match["root"]).geturl())
    return find_endpoint("endpoint", unquote(parts.fragment) or _UNNAMED, bare.geturl())


def _read_response(attachment: Mapping[str, Any]) -> list[Chunk]:
    data = attachment.get("data")
    if not data:
        raise LLMReplyError("the retrieved chunks are given by URL; only inline data is supported")
    try:
        chunks = load_json(data)["chunks"]
        # An image chunk has no text but keeps its rank.
        return [_read_dial_chunk(chunk) for chunk in chunks]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise LLMReplyError(f"the attachment of type {RETRIEVAL_RESPONSE} does not contain a list of chunks") from None


def _read_dial_chunk(chunk: Mapping[str, Any]) -> Chunk:
    source = chunk.get("source") or {}
    url = source.get("url") or chunk.get("attachment_url")
    return Chunk(str(chunk.get("text") or ""), source=str(source.get("display_name") or url) if url or source else None)
