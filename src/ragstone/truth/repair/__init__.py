"""Ground truth that is likely wrong, found from what is stored: each suspect with its evidence, for a person to decide."""
