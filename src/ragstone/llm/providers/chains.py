"""LangChain's runnables and LlamaIndex's query engines as functions; neither is imported, both are known by their methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_QUESTION = ("question", "input", "query")
_CONTEXTS = ("contexts", "context", "passages")


def is_chain(value: Any) -> bool:
    """Whether this is a runnable or a query engine, or has its methods."""
    return any(callable(getattr(value, name, None)) for name in ("ainvoke", "invoke", "aquery", "query"))


def as_function(chain: Any) -> Callable[..., Any]:
    """A function from a question, and for runnables that take them passages, to what the chain returns."""
    if callable(getattr(chain, "ainvoke", None)) or callable(getattr(chain, "invoke", None)):
        return _runnable(chain)
    return _query_engine(chain)


def _query_engine(engine: Any) -> Callable[..., Any]:
    if callable(getattr(engine, "aquery", None)):

        async def ask(question: str) -> Any:
            return await engine.aquery(question)

        return ask

    def ask_plainly(question: str) -> Any:
        return engine.query(question)

    return ask_plainly


def _runnable(chain: Any) -> Callable[..., Any]:
    wanted = _inputs(chain)
    question = next((name for name in _QUESTION if name in wanted), None)
    place = next((name for name in _CONTEXTS if name in wanted), None)

    def shaped(text: str, contexts: list[str] | None) -> Any:
        if question is None:
            return text
        passages = {} if place is None else {place: "\n\n".join(contexts or [])}
        return {question: text, **passages}

    async def invoke(text: str, contexts: list[str] | None) -> Any:
        if callable(getattr(chain, "ainvoke", None)):
            return await chain.ainvoke(shaped(text, contexts))
        from ragstone.llm.threads import run_in_thread  # noqa: PLC0415

        return await run_in_thread(chain.invoke, shaped(text, contexts))

    async def ask(question: str) -> Any:
        return await invoke(question, None)

    async def ask_with(question: str, contexts: list[str] | None = None) -> Any:
        return await invoke(question, contexts)

    return ask if place is None else ask_with


def _inputs(chain: Any) -> Mapping[str, Any]:
    """The names that a runnable wants in a mapping; none where it takes a text."""
    describe = getattr(chain, "get_input_jsonschema", None)
    try:
        schema = describe() if callable(describe) else {}
    except Exception:  # noqa: BLE001  (some runnables cannot describe themselves; those take a text)
        return {}
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}
