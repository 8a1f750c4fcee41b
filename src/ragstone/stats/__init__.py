"""Intervals and tests: pure functions over arrays."""
