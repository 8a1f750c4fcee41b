"""Writes the files of the example in docs/systems/unitxt.md, and checks their scores."""

import json
from pathlib import Path

import ragstone

rows = [
    {
        "question": "When does the last boat leave?",
        "answer": "The last boat leaves at 21:40.",
        "contexts": ["Dogs travel free.", "The last boat leaves at 21:40."],
        "context_ids": ["c7", "c2"],
        "reference_answers": ["at 21:40", "twenty to ten"],
        "reference_context_ids": ["c2"],
        "is_answerable_label": True,
    },
    {"question": "Who owns the pier?", "answer": "The town.", "context_ids": ["c7"], "reference_context_ids": []},
]
Path("task.json").write_text(json.dumps(rows))
scores = ragstone.evaluate("task.json", "unitxt").summary()
assert scores["token_recall"].mean == 1.0
assert scores["mrr"].mean == 0.5  # unitxt: 0.25, because the second row counts as 0
assert scores["mrr"].n_skipped == 1
