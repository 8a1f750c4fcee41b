"""Stress tests of a generator on the user's own data: RGB's four abilities, and eRAG."""
