"""Measurements: how fast, how large, and beside whom. `python -m benchmarks` runs them all."""
