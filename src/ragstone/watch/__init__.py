"""Watches production logs: draws requests by a stated design, evaluates them, and stores a series of runs."""
