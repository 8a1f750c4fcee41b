"""Plan (names to an ordered graph), execute (batches through the graph), finish (a stored run)."""

# Importing both packages fills the catalogue: a plan then finds all metrics and all evidence.
import ragstone.evidence_functions
import ragstone.metrics  # noqa: F401
