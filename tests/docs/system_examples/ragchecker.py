"""Writes the files of the example in docs/systems/ragchecker.md, and checks their scores."""

import json
from pathlib import Path

import ragstone

E, N = "Entailment", "Neutral"
result = {
    "query_id": "1",
    "query": "When does the last boat leave?",
    "gt_answer": "It leaves at 21:40 from pier 2.",
    "response": "It leaves at 21:40 and dogs pay half.",
    "retrieved_context": [{"doc_id": "a", "text": "Last boat: 21:40."}, {"doc_id": "b", "text": "Dogs pay half."}],
    "response_claims": [["boat", "leaves at", "21:40"], ["dogs", "pay", "half"]],
    "gt_answer_claims": [["boat", "leaves at", "21:40"], ["boat", "leaves from", "pier 2"]],
    "answer2response": [E, N],
    "response2answer": [E, N],
    "retrieved2response": [[E, N], [N, E]],
    "retrieved2answer": [[E, N], [N, N]],
}
Path("checking_outputs.json").write_text(json.dumps({"results": [result]}))
scores = ragstone.evaluate("checking_outputs.json", "ragchecker").summary()
assert scores["ragchecker.f1"].mean == 0.5
assert scores["ragchecker.faithfulness"].mean == 1.0
assert scores["ragchecker.noise_sensitivity_in_irrelevant"].mean == 0.5  # dogs, from a chunk that does not help
