"""Backends that compute the parts of a run: several processes or a Ray cluster. The results are the same."""
