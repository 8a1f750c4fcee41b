"""Runs looked at as wholes: what went wrong in which sample, and which part of the system limits quality."""
