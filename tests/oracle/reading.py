"""Reading a request as a model would: which prompt it is, and what data stands between the prompt's tags.

Written from how the tags look, without the code that makes them, so that each checks the other.
"""

from __future__ import annotations

import json
import re
from string import ascii_uppercase
from typing import Any

# Which data each prompt shows.
SLOTS = {
    "claims": {"question", "text"},
    "triplets": {"question", "text"},
    "claims_and_entities": {"question", "text"},
    "verdicts": {"question", "claims", "text"},
    "context_verdicts": {"question", "claims", "chunks"},
    "questions": {"answer", "count"},
    "needed_sentences": {"question", "sentences"},
    "usefulness": {"question", "answer", "chunks"},
    "answer_match": {"question", "references", "answer"},
    "stance": {"question", "answer"},
    "relevance_grade": {"question", "passage"},
    "grade": {"answer"},
    "own_reference": {"question"},
    "pair": {"question", "answer_a", "answer_b"},
    "citations": {"question", "answer", "passages"},
    "new_question": {"kind", "manner", "titles", "passages", "asked"},
    "answer_from_passages": {"question", "titles", "passages"},
    "answer_from_memory": {"question"},
    "standalone_question": {"history", "question"},
    "simulated_user": {"persona", "goal", "messages"},
    "token_support": {"evidence", "claim"},
    "token_contradiction": {"evidence", "claim"},
    "token_match": {"question", "reference", "answer"},
    "token_pair": {"question", "answer_a", "answer_b"},
    "token_part": {"evidence", "claim"},
    "nuggets": {"question", "answer", "nuggets"},
    "new_nuggets": {"question", "known", "passages"},
    "nugget_importance": {"question", "nuggets"},
    "checklist": {"answer", "items"},
    "pass_fail": {"answer"},
    "decision": {"answer"},
}
# Prompts that are answered by one token.
ONE_TOKEN = {"token_support", "token_contradiction", "token_match", "token_pair", "token_part"}
# Which data some prompts show only where it is asked for.
ALSO = {
    "grade": {"question", "contexts", "reference"},
    "own_reference": {"contexts"},
    "pair": {"contexts", "reference"},
    "token_pair": {"contexts", "reference"},
    "checklist": {"question", "contexts", "reference"},
    "pass_fail": {"question", "contexts", "reference"},
    "decision": {"question", "contexts"},
}
# What a decision is about is the user's own, so it is part of the instructions.
_DECISION = re.compile(r"\n\n(.*)\n\nChoose one of these")
_OPENING = re.compile(r"^<(\w+)( [a-z]+|)(?: (\d+))?>$", re.MULTILINE)


def recognise(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of the prompt and its data, from the last message that has any."""
    messages = body["messages"]
    assert messages[0]["role"] == "system", "a prompt begins with what the model is told"
    for message in reversed(messages):
        if message["role"] == "user" and (data := read_data(message["content"])):
            if body.get("max_tokens") == 1:
                return _name_question(message["content"], data), data
            name = _name_prompt(_reply_keys(body), data)
            asked = _DECISION.search(messages[0]["content"]) if name == "decision" else None
            return name, {**data, **({"ask": asked[1]} if asked else {})}
    raise AssertionError("no message has data between tags")


def read_data(message: str) -> dict[str, Any]:
    """What stands between tags of one code, or of none; an opening tag of another code is part of the data."""
    opening = _OPENING.search(message)
    code = opening[2] if opening else None
    found: dict[str, Any] = {}
    while opening and opening[2] == code:
        name, _, count = opening.groups()
        body, closing, message = message[opening.end() + 1 :].partition(f"</{name}{code}>")
        assert closing, f"the data of <{name}{code}> does not end"
        body = body.removesuffix("\n")
        found[name] = body if count is None else _read_items(body, str(code).strip(), int(count))
        opening = re.compile(rf"^<(\w+)({code})(?: (\d+))?>$", re.MULTILINE).search(message)
    return found


def _name_question(message: str, data: dict[str, Any]) -> str:
    """Which question is to be answered by one token, from its last line."""
    last = message.rstrip().rpartition("\n")[2]
    words = {
        "unknown": "token_contradiction",
        "true": "token_support",
        "match": "token_match",
        "better": "token_pair",
        "part": "token_part",
    }
    name = next(prompt for word, prompt in words.items() if re.search(rf"\b{word}\b", last))
    assert SLOTS[name] <= set(data) <= SLOTS[name] | ALSO.get(name, set()), f"{name} shows {sorted(data)}"
    return name


def _read_items(body: str, code: str, count: int) -> list[str]:
    """The items of a list, which must be numbered from 1, or lettered from A, to as many as the tag says."""
    pieces = re.split(rf"^\[(\d+|[A-Z]+) {code}\] ", body, flags=re.MULTILINE)
    labels, items = pieces[1::2], [item.removesuffix("\n") for item in pieces[2::2]]
    numbers = [str(number) for number in range(1, count + 1)]
    assert labels in (numbers, list(ascii_uppercase[:count])), f"items {labels} of {count}"
    return items


def _reply_keys(body: dict[str, Any]) -> set[str]:
    """What the reply must have: by its schema, by the first example, or by what the instructions name in quotes."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema:
        return set(schema["properties"])
    for message in body["messages"]:
        if message["role"] == "assistant":
            return set(json.loads(message["content"]))
    return set(re.findall(r'"(\w+)":', body["messages"][0]["content"]))


def _name_prompt(keys: set[str], data: dict[str, Any]) -> str:
    if "verdicts" in keys:
        name = "context_verdicts" if "chunks" in data else "verdicts"
    elif "answerable" in keys:
        name = "answer_from_passages" if "passages" in data else "answer_from_memory"
    elif "claims" in keys:
        name = "claims_and_entities" if "entities" in keys else "claims"
    else:
        known = {
            "triplets": "triplets",
            "questions": "questions",
            "needed": "needed_sentences",
            "useful": "usefulness",
            "matches": "answer_match",
            "declines": "stance",
            "trust": "relevance_grade",
            "grade": "grade",
            "winner": "pair",
            "leaves": "simulated_user",
            "history": "new_question",
            "citations": "citations",
            "answer": "own_reference",
            "labels": "nuggets",
            "nuggets": "new_nuggets",
            "ranked": "nugget_importance",
            "items": "checklist",
            "verdict": "pass_fail",
            "choice": "decision",
            "question": "standalone_question",
        }
        name = next((prompt for key, prompt in known.items() if key in keys), "")
    assert name, f"no prompt asks for {sorted(keys)}"
    assert set(data) - ALSO.get(name, set()) == SLOTS[name], f"{name} shows {sorted(data)}"
    return name
