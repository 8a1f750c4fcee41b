"""Normalise, tokenise, find: no dependency on anything above."""
