"""Plan (names to an ordered graph), execute (batches through the graph), finish (a stored run)."""
