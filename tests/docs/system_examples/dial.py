"""Writes the files of the example in docs/systems/dial.md, and checks their scores."""

import pyarrow as pa
import pyarrow.parquet as pq

import ragstone

question = {"question": ["When was the acquisition of Emakina completed?"], "documents": [["epam-10k.pdf"]]}
fact = "On November 30, 2021, the Company completed the acquisition of the remaining 1.31% of Emakina Group SA"
pq.write_table(pa.table({**question, "facts": [[fact]], "answer": ["On November 30, 2021."]}), "ground_truth.parquet")
chunks = {
    "a": ["The Company could pay up to $8.1 million.", f"In cash. {fact}’s outstanding shares. The following table"],
    "b": ["for $143.4 million in cash. On November 30, 2021, the Company", fact.partition("the Company ")[2]],
}
for name, context in chunks.items():
    answers = {**question, "context": [context], "answer": ["On November 30, 2021."]}
    pq.write_table(pa.table(answers), f"{name}.parquet")
a, b = (ragstone.evaluate(["ground_truth.parquet", f"{name}.parquet"], "dial") for name in chunks)
assert (a.summary()["fact_recall"].mean, b.summary()["fact_recall"].mean) == (1.0, 0.0)
assert a.evidence("fact_ranks")["value"].to_pylist() == [[2]]
assert a.evidence("chunk_relevance")["value"].to_pylist() == [[0, 1]]
