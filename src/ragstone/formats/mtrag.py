"""MTRAG (Katsis et al. 2025): the turns of a conversation, retrieved contexts and target answers, one row per task."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import RowFormat, name_pairs
from ragstone.formats.common_fields import unpack
from ragstone.formats.conversations import read_chunks, read_turns, split_last
from ragstone.formats.values import Unfit, kind_of

_ANSWERABLE = {"ANSWERABLE": True, "PARTIAL": True, "UNANSWERABLE": False}
_UNDERSPECIFIED = "CONVERSATIONAL"


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """The last user message is the question; `predictions`, where a file has them, are answers."""
    row = {key: value for key, value in row.items() if value is not None}
    turns = read_turns(row.pop("input", None))
    question, history = split_last(turns)
    targets = [target["text"] for target in read_texts(row.pop("targets", None))]
    predictions = read_texts(row.pop("predictions", None))
    conversation = row.pop("conversation_id", None)
    sample = {
        "question": question or Unfit("has no message of the user", "write [{speaker: user, text: …}]"),
        "history": history,
        "references": targets or None,
        "answer": row.pop("answer", predictions[0]["text"] if predictions else None),
        "contexts": read_chunks(row.pop("contexts", None)),
        "answerable": _answerable(row.get("Answerability")),
        "conversation": conversation,
    }
    if row.get("task_id") is None and conversation is not None:
        sample["id"] = f"{conversation}#{row.get('turn', sum(turn['role'] == 'user' for turn in turns))}"
    return row | {name: value for name, value in sample.items() if value is not None}


def read_texts(value: Any) -> list[dict[str, Any]]:
    """The texts of a list of {text} or of texts."""
    items = unpack(value)
    items = items if isinstance(items, list | tuple) else [] if items is None else [items]
    texts = [item.get("text") if isinstance(item, dict) else item for item in items]
    return [{"text": text} for text in texts if isinstance(text, str)]


def _answerable(value: Any) -> Any:
    labels = unpack(value)
    label = labels[0] if isinstance(labels, list | tuple) and labels else labels
    if label is None or label == _UNDERSPECIFIED:
        return None
    return _ANSWERABLE.get(str(label).upper(), Unfit(f"has the label {label!r}, {kind_of(label)}"))


FORMAT = RowFormat(
    name="mtrag",
    title="MTRAG tasks: input of {speaker, text}, contexts and targets",
    columns=name_pairs(
        "task_id:id id question answer contexts references answerable history rewritten_question metadata"
    ),
    marks=[frozenset({"input", "targets"}), frozenset({"conversation_id", "task_id", "input"})],
    convert=_convert,
    names={"question": "input", "history": "input", "references": "targets", "answerable": "Answerability"},
)
