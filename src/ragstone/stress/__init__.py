"""Stress tests of a generator: RGB's four abilities and eRAG, on RGB's files or on the user's own samples."""
