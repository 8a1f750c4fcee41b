"""MLflow's evaluation sets: inputs, outputs and expectations, each a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.formats.base import Draft, RowFormat, name_pairs
from ragstone.formats.common_fields import one_text, unpack
from ragstone.formats.conversations import Sessions, read_turns, split_last
from ragstone.formats.messages import find_text
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.trace_values import mapping_of
from ragstone.formats.values import Unfit, kind_of

_ASKED = ("question", "query", "input", "messages", "prompt")
_SAID = ("response", "answer", "output", "content", "choices", "messages", "text")
_RETRIEVED = ("retrieved_context", "contexts", "documents")
_EXPECTED_CHUNKS = "expected_retrieved_context"


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    row = {key: value for key, value in row.items() if value is not None}
    inputs = _mapping(row.pop("inputs", None), "question")
    outputs = _mapping(row.pop("outputs", None), "response")
    expected = _mapping(row.pop("expectations", None), "expected_response")
    metadata = _mapping(row.pop("metadata", None), "metadata")
    asked, said = list(inputs), list(outputs)
    history = split_last(read_turns(inputs.get("messages")))[1]
    sample = {
        "history": history,
        "question": _take_text(inputs, _ASKED, "user"),
        "contexts": _chunks(next((outputs.pop(key) for key in _RETRIEVED if key in outputs), None)),
        "answer": _take_text(outputs, _SAID, "assistant"),
        "references": one_text(expected.pop("expected_response", None)),
        "facts": _facts(expected.pop("expected_facts", None)),
        **_expected_chunks(expected.pop(_EXPECTED_CHUNKS, None)),
    }
    if asked and sample["question"] is None:
        sample["question"] = Unfit(f"has no question; its keys are {', '.join(asked)}", _hint(_ASKED))
    if said and sample["answer"] is None and sample["contexts"] is None:
        sample["answer"] = Unfit(f"has no answer; its keys are {', '.join(said)}", _hint(_SAID))
    if history:
        inputs.pop("messages")
    row |= {name: value for name, value in sample.items() if value is not None}
    # The rest is metadata; a part whose name is taken gets its column as a prefix.
    for column, parts in (("inputs", inputs), ("outputs", outputs), ("expectations", expected)):
        for key, value in parts.items():
            metadata[f"{column}.{key}" if key in metadata or key in row else key] = value
    return row | {"metadata": metadata}


def _hint(names: tuple[str, ...]) -> str:
    return f"name it {', '.join(names[:3])} or {names[3]}"


def _mapping(value: Any, single: str) -> dict[str, Any]:
    """The parts of a column; a bare value is its only part."""
    value = unpack(value)
    parts = value if isinstance(value, Mapping) else {single: value}
    return {key: item for key, item in parts.items() if item is not None}


def _take_text(parts: dict[str, Any], keys: tuple[str, ...], role: str) -> Any:
    """The text under the first key that has one; the key is removed if its value is only that text."""
    for key in keys:
        value = parts.get(key)
        text = value if isinstance(value, str | int | float) else find_text({key: value}, role)
        if text is not None:
            message = {"role": role, "content": text}
            if value in (text, [message], [{"message": message}]):
                del parts[key]
            return text
    return None


def _chunks(value: Any) -> Any:
    value = unpack(value)
    return [_chunk(item) for item in value] if isinstance(value, list | tuple) else value


def _chunk(item: Any) -> Any:
    """A document of MLflow or LangChain; its URI is the id, because expectations name documents by URI."""
    if not isinstance(item, Mapping):
        return item
    about = mapping_of(item.get("metadata"))
    uri = item.get("doc_uri") or about.get("doc_uri") or item.get("id")
    text = next((item[key] for key in ("content", "page_content", "text") if item.get(key) is not None), None)
    if text is None and uri is None:
        return item
    return {"text": text or "", "id": uri, "score": item.get("score")}


def _facts(value: Any) -> Any:
    items = unpack(value)
    value = [items] if isinstance(items, str) and items else items
    if not isinstance(value, list | tuple):
        return value
    return [{"text": item, "kind": "statement"} if isinstance(item, str) else item for item in value]


def _expected_chunks(value: Any) -> dict[str, Any]:
    """Expected documents: by URI, and by text if present."""
    chunks = _chunks(value)
    if chunks is None:
        return {}
    if not isinstance(chunks, list):
        return {"relevance": Unfit(f"must be a list, got {kind_of(chunks)}", "write [{doc_uri, content}]")}
    items = [item if isinstance(item, Mapping) else {"text": item} for item in chunks]
    uris = [item["id"] for item in items if item.get("id") is not None]
    texts = [item["text"] for item in items if item.get("text")]
    return {"relevance": uris or None, "reference_contexts": texts or None}


class MLflowFormat(RowFormat):
    """Rows of one session are a conversation: the earlier ones are the history of the later ones."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Inputs and outputs; LangSmith's runs have them too, with a `run_type`."""
        return super().recognises(sources) and not sources[0].keys() & {"run_type"}

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """Each row, with the history of its session if it has none of its own."""
        sessions = Sessions()
        for draft in super().read(sources, report):
            about = mapping_of(draft.values.get("metadata"))
            before = sessions.add(next((about[key] for key in _SESSIONS if about.get(key)), None), draft.values)
            if before and draft.values.get("history") is None:
                draft.values["history"] = before
            yield draft


_SESSIONS = ("mlflow.trace.session", "session_id", "session")
_NAMES = {
    **name_pairs("question:inputs answer:outputs history:inputs contexts:outputs"),
    **name_pairs("references:expectations.expected_response facts:expectations.expected_facts"),
    **dict.fromkeys(("relevance", "reference_contexts"), f"expectations.{_EXPECTED_CHUNKS}"),
}
FORMAT = MLflowFormat(
    name="mlflow",
    title="MLflow evaluation sets",
    columns=name_pairs("dataset_record_id:id request_id:id id metadata") | {name: name for name in _NAMES},
    marks=[frozenset({"inputs", "outputs"}), frozenset({"inputs", "expectations"})],
    convert=_convert,
    names=_NAMES,
)
