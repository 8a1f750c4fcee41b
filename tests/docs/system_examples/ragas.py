"""Writes the files of the example in docs/systems/ragas.md, and checks their scores."""

import json
from pathlib import Path

import ragstone
from ragstone.testing import FakeLLM

row = {
    "user_input": "When does the last boat leave, and who may travel?",
    "response": "The last boat leaves at 21:40. Dogs pay half.",
    "retrieved_contexts": ["The last boat leaves at 21:40.", "The café is closed.", "Dogs travel free."],
    "retrieved_context_ids": ["t1", "c4", "d2"],
    "reference": "The last boat leaves at 21:40.",
    "reference_context_ids": ["t1", "d2"],
}
Path("ragas.jsonl").write_text(json.dumps(row))
judge = FakeLLM(
    [
        '{"claims": ["The last boat leaves at 21:40.", "Dogs pay half."]}',
        '{"verdicts": [{"claim": 1, "supported_by": ["A"], "contradicted_by": []}, '
        '{"claim": 2, "supported_by": [], "contradicted_by": ["C"]}]}',
    ]
)
metrics = ["ragas.faithfulness", "precision(over=retrieved)", "recall", "ragas.rouge_score"]
scores = ragstone.evaluate("ragas.jsonl", metrics, judge=judge).summary()
assert [round(line.mean, 3) for line in scores] == [0.5, 0.667, 1.0, 0.824]
