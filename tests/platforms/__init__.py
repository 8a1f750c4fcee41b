"""Tests of the connections to other tools."""
