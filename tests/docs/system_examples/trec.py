"""Writes the files of the example in docs/systems/trec.md, and checks their scores."""

from pathlib import Path

import ragstone

Path("test.qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d9 0\n")
Path("test.run").write_text(
    "q1 Q0 d2 1 9.5 mine\nq1 Q0 d1 2 8.1 mine\nq1 Q0 d7 3 7.7 mine\nq2 Q0 d9 1 5.0 mine\nq2 Q0 d8 2 4.0 mine\n"
)
scores = ragstone.evaluate(["test.qrels", "test.run"], ["map", "mrr", "precision@5"]).summary()
assert scores["map"].mean == 1 / 2 / 2  # q2 has nothing relevant: skipped
assert scores["mrr"].mean == 1 / 2
