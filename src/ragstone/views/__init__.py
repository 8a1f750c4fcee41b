"""Frozen views of a run, a comparison, a sample, a diagnosis and a series. Every output draws the same view."""
