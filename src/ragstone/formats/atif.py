"""ATIF, the Agent Trajectory Interchange Format of Harbor: one trajectory per file or per line, one sample per user message.

Calls of tools with their observations are the steps of a sample; earlier messages are its history. Tokens and price are
those of the steps that led to the answer. Trajectories of subagents are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from ragstone.data.usage import number_of
from ragstone.formats.base import RowFormat, name_pairs
from ragstone.formats.common_fields import unpack
from ragstone.formats.sources import Source
from ragstone.formats.tool_calls import Message, exchange_of
from ragstone.formats.values import Unfit, as_time

_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "cost_usd": "cost_usd"}
_ROLES = {"user": "user", "agent": "assistant"}


class AtifFormat(RowFormat):
    """Trajectories in one file or several."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether all sources have the names of a trajectory."""
        return all(any(mark <= source.keys() for mark in self.marks) for source in sources)


def _expand(row: dict[str, Any], made: Counter[str]) -> list[dict[str, Any]]:
    """The exchanges of a trajectory."""
    del made
    steps = unpack(row.get("steps"))
    known = [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []
    asked = [at for at, step in enumerate(known) if step.get("source") == "user" and _text(step.get("message")).strip()]
    if not asked:
        return [{"question": Unfit("has no message of a user", "a step of a user has source: user and a message")}]
    agent, name = unpack(row.get("agent")), row.get("session_id") or row.get("trajectory_id")
    about = {
        key: agent[key] for key in ("name", "version", "model_name") if isinstance(agent, Mapping) and agent.get(key)
    }
    metadata = {"agent": about.get("name"), "agent_version": about.get("version"), "model": about.get("model_name")}
    found = []
    for number, (start, end) in enumerate(pairwise([*asked, len(known)]), start=1):
        exchange = exchange_of([message for step in known[:end] for message in _messages(step)])
        totals = unpack(row.get("final_metrics")) if len(asked) == 1 else None
        values = {
            **metadata,
            **_usage(known[start:end], totals),
            **({"conversation": name, "turn": number} if name else {}),
        }
        exchange["id"] = name if len(asked) == 1 or not name else f"{name}#{number}"
        exchange["metadata"] = {key: value for key, value in values.items() if value is not None}
        found.append(exchange)
    return found


def _messages(step: Mapping[str, Any]) -> list[Message]:
    """A step as a message, and its observations as one of a tool."""
    calls = [
        (_name(call.get("tool_call_id")), _name(call.get("function_name")) or "tool", call.get("arguments"))
        for call in _mappings(step.get("tool_calls"))
    ]
    observation = unpack(step.get("observation"))
    results = [
        (_name(result.get("source_call_id")), None, _text(result.get("content")))
        for result in _mappings(observation.get("results") if isinstance(observation, Mapping) else None)
        if result.get("content") is not None
    ]
    said = Message(_ROLES.get(str(step.get("source")), ""), _text(step.get("message")), tuple(calls))
    return [said, Message("tool", "", results=tuple(results))] if results else [said]


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    items = unpack(value)
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _name(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and str(value).strip() else None


def _text(content: Any) -> str:
    """A text, or the texts among the parts of a message; images are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in _mappings(content) if isinstance(part.get("text"), str))


def _usage(steps: Sequence[Mapping[str, Any]], totals: Any) -> dict[str, Any]:
    """Tokens, price and seconds of the steps; the totals of the trajectory if no step has them."""
    metrics = [unpack(step.get("metrics")) for step in steps]
    found: dict[str, Any] = {}
    for theirs, ours in _USAGE.items():
        values = [number_of(one.get(theirs)) for one in metrics if isinstance(one, Mapping)]
        known = [value for value in values if value is not None]
        total = number_of(totals.get(f"total_{theirs}")) if isinstance(totals, Mapping) else None
        found[ours] = sum(known) if known else total
    times = [as_time(step.get("timestamp")) for step in steps]
    if len(times) > 1 and times[0] and times[-1]:
        seconds = (datetime.fromisoformat(times[-1]) - datetime.fromisoformat(times[0])).total_seconds()
        found["latency_s"] = seconds if seconds >= 0 else None
    return found


FORMAT = AtifFormat(
    name="atif",
    title="ATIF trajectories of agents (Harbor)",
    columns=name_pairs("id question answer history steps metadata"),
    marks=[frozenset({"schema_version", "agent", "steps"})],
    expand=_expand,
    names=dict.fromkeys(("question", "answer", "history", "steps"), "steps"),
)
