"""Ground truth: create, check, correct, store and apply cases with references and facts."""
