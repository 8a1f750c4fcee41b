"""The seam to a user's own system: a RAG or a generator, as a callable, a command, a chain or an endpoint.

    system = open_system("rag.py:answer", gateway)
    answer = await system.answer("When does the last boat leave?")

Whatever it is, it is asked like a model: through the gateway's cache, budget, limits, retries and recording.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.llm.answers import Answer, read_answer, write_answer
from ragstone.llm.base import LLM, Message, Reply, Request
from ragstone.llm.gateway import Gateway
from ragstone.llm.loading import UNKNOWN_VERSION, load_name, split_file_name, version_of
from ragstone.llm.retrieved import read_attachments
from ragstone.llm.system_endpoints import find_system_endpoint
from ragstone.llm.templating import Template

__all__ = ["Answer", "System", "SystemSpec", "open_system"]

# A name (`rag.py:answer`, `cmd:./rag`, `openai/gpt-4o-mini`, an address), a function, or a chain.
SystemSpec = str | Callable[..., Any] | Any
_COMMAND = re.compile(r"cmd:\s*(?P<line>.*)", re.DOTALL)
# What a quote takes an answer to be.
_LIKE_AN_ANSWER = "According to the documents it is what the question asks for, in a sentence or two of usual length."


class _Manner(Protocol):
    """How a system is asked, and how its reply is read."""

    takes_contexts: bool
    # What a price is known for.
    priced: bool

    def ask(self, question: str, contexts: Sequence[Chunk] | None, documents: Sequence[str], repeat: int) -> Request:
        """The request for one question."""
        ...

    def read(self, reply: Reply, name: str) -> Answer:
        """The answer in a reply."""
        ...


class System:
    """A user's system behind the gateway."""

    def __init__(self, llm: LLM, manner: _Manner, more: str = "") -> None:
        self._llm = llm
        self._manner = manner
        self._more = more

    @property
    def name(self) -> str:
        """The system's name as people know it; it is stored, so it holds no key and no password."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """What identifies the system: its name, its code where that can be seen, its prompt."""
        return f"{self._llm.signature}{self._more}"

    @property
    def takes_contexts(self) -> bool:
        """Whether passages can be handed to it, or it retrieves its own."""
        return self._manner.takes_contexts

    @property
    def is_priced(self) -> bool:
        """Whether what a call costs can be told beforehand."""
        return self._manner.priced

    def require_contexts(self) -> None:
        """Complain about a system that cannot be given passages."""
        if not self.takes_contexts:
            raise UsageError(
                f"{self.name} takes a question only, and here it must answer from given passages. "
                "Give the function a parameter `contexts`, or the template a slot {contexts}."
            )

    async def answer(
        self,
        question: str,
        contexts: Sequence[Chunk] | None = None,
        documents: Sequence[str] = (),
        repeat: int = 0,
    ) -> Answer:
        """What the system answers, or an LLMError that says why it does not."""
        request = self._manner.ask(question, contexts, documents, repeat)
        return self._manner.read(await self._llm.complete(request), self.name)


class _Carried:
    """Question and answer travel as JSON: to functions, commands and chains."""

    priced = False

    def __init__(self, takes_contexts: bool) -> None:
        self.takes_contexts = takes_contexts

    def ask(self, question: str, contexts: Sequence[Chunk] | None, documents: Sequence[str], repeat: int) -> Request:
        asked = {
            "question": question,
            "contexts": None if contexts is None else [_lean(chunk) for chunk in contexts],
            "documents": list(documents),
        }
        content = json.dumps(asked, ensure_ascii=False)
        return Request(
            (Message("user", content),), prompt="system", repeat=repeat, guess=write_answer(Answer(_LIKE_AN_ANSWER))
        )

    def read(self, reply: Reply, name: str) -> Answer:
        return read_answer(json.loads(reply.text), name)


class _Chat:
    """A chat model or an application behind a chat endpoint, asked with a template."""

    priced = True

    def __init__(self, template: Template, sends_documents: bool) -> None:
        self.takes_contexts = template.takes_contexts
        self._template = template
        self._sends_documents = sends_documents

    def ask(self, question: str, contexts: Sequence[Chunk] | None, documents: Sequence[str], repeat: int) -> Request:
        text = self._template.render(question, None if contexts is None else [chunk.text for chunk in contexts])
        attached = tuple(documents) if self._sends_documents else ()
        return Request(
            (Message("user", text, attached),),
            prompt="system",
            prompt_hash=self._template.hash,
            repeat=repeat,
            guess=_LIKE_AN_ANSWER,
        )

    def read(self, reply: Reply, name: str) -> Answer:  # noqa: ARG002  (one form for both manners)
        return Answer(reply.text, read_attachments(reply.attachments))


def open_system(
    spec: SystemSpec,
    gateway: Gateway,
    template: str | os.PathLike[str] | None = None,
    version: str | None = None,
) -> System:
    """A system from a function, a chain, `file.py:name`, `cmd:…`, a model's name or an endpoint's address.

    `template` is a file with the text that models are asked with; `version` tells one state of a system from the next
    where its code cannot be seen.
    """
    if not isinstance(spec, str):
        return _open_object(spec, gateway, None, version)
    if found := split_file_name(spec.strip()):
        loaded = load_name(found.path, found.name, "system")
        return _open_object(loaded.value, gateway, loaded.label, version or loaded.version)
    if (line := _command_line(spec)) is not None:
        from ragstone.llm.providers.command import CommandSystem  # noqa: PLC0415

        command = CommandSystem(line, gateway.timeout_s)
        return System(gateway.open_llm(command, version or ""), _Carried(takes_contexts=True), _told(version))
    chosen = Template(template)
    endpoint = find_system_endpoint(spec)
    state = version or ""
    llm = gateway.open_llm(spec, state) if endpoint is None else gateway.open_endpoint(endpoint, state)
    manner = _Chat(chosen, sends_documents=llm.name.startswith("dial/"))
    return System(llm, manner, f",template={chosen.hash}{_told(version)}")


def _told(version: str | None) -> str:
    return f",version={version}" if version else ""


def _command_line(spec: str) -> str | None:
    """The command of `cmd:…`; names of models and addresses have no spaces, so that a line with some is one too."""
    if found := _COMMAND.fullmatch(spec.strip()):
        return found["line"]
    return spec.strip() if len(spec.split()) > 1 else None


def _open_object(value: Any, gateway: Gateway, label: str | None, version: str | None) -> System:
    from ragstone.llm.providers.callable import CallableSystem  # noqa: PLC0415
    from ragstone.llm.providers.chains import as_function, is_chain  # noqa: PLC0415

    chain = is_chain(value)
    if not chain and not callable(value):
        raise UsageError(
            f"{label or 'the system'} is {type(value).__name__}: a system is a function, a LangChain runnable, "
            "a LlamaIndex query engine, or a name such as rag.py:answer, cmd:./rag or openai/gpt-4o-mini"
        )
    name = label or getattr(value, "__qualname__", type(value).__qualname__)
    known = version or (UNKNOWN_VERSION if chain else version_of(value))
    if known == UNKNOWN_VERSION:
        # Two chains of one class may be quite different: nothing that this one answers is taken for another's.
        known = f"unseen-{secrets.token_hex(4)}"
    function = as_function(value) if chain else value
    system = CallableSystem(function, f"function/{name}", known, gateway.timeout_s)
    return System(gateway.open_llm(system), _Carried(system.takes_contexts))


def _lean(chunk: Chunk) -> dict[str, Any]:
    return {name: part for name, part in asdict(chunk).items() if part is not None}
