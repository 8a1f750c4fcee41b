"""Ground truth: where it comes from, how it is checked, kept in versions and put right."""
