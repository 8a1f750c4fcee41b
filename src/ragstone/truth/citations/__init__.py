"""Checks that a citation is in its document."""
