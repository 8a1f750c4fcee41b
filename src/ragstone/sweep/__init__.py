"""Sweeps: many settings of one system on the same questions."""
