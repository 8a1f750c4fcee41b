"""Finds ground truth that is probably wrong."""
