"""The oracle as a candidate that knows the right replies to the exam of judges."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.tools.judge_exam import load_items
from tests.oracle import judge as oracle
from tests.oracle import server
from tests.oracle.language import Statement


def knows_the_exam(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of the exam are read as what the exam says of them; all other texts as before."""
    items = load_items()
    verdicts = {(one.data["claim"], one.data["text"]): one.data["right"] for one in items if one.kind == "verdict"}
    for one in items:
        for claim, right in zip(one.data["claims"], one.data["right"], strict=True) if one.kind == "grid" else ():
            verdicts[claim, one.data["chunks"][right - 1]] = "entailment"
    matches = {(one.data["question"], one.data["answer"]): one.data["right"] for one in items if one.kind == "match"}
    better = {one.data["question"]: one.data["better"] for one in items if one.kind == "pair"}
    texts = {one.data["text"]: one.data["words"] for one in items if one.kind == "claims"}
    ours = {claim for claim, _ in verdicts} | {text for _, text in verdicts}
    ours |= {chunk for one in items if one.kind == "grid" for chunk in one.data["chunks"]}
    read, on, judged = oracle.read, oracle._on, server.judge

    def read_exam(text: str) -> list[Any]:
        return [text] if text in ours else read(text)

    def on_exam(claim: str, said: list[Any]) -> str:
        if claim not in ours:
            return on(claim, said)
        found = {verdicts.get((claim, text), "neutral") for text in said if not isinstance(text, Statement)}
        return next((word for word in ("entailment", "contradiction") if word in found), "neutral")

    def judge_exam(prompt: str, data: Any) -> Any:
        place = (data.get("question"), data.get("answer"))
        if prompt in ("answer_match", "token_match") and place in matches:
            right = matches[place]
            return ("yes" if right else "no") if prompt == "token_match" else {"matches": [1] if right else []}
        if prompt == "pair" and data["question"] in better:
            return {"reasoning": "", "winner": "A" if data["answer_a"] == better[data["question"]] else "B"}
        if prompt == "claims" and data["text"] in texts:
            return {"claims": [f"{part.rstrip('.')}." for part in data["text"].split(". ")]}
        return judged(prompt, data)

    monkeypatch.setattr(oracle, "read", read_exam)
    monkeypatch.setattr(oracle, "_on", on_exam)
    monkeypatch.setattr(server, "judge", judge_exam)
