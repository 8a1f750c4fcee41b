"""Writes questions from documents with a language model, and checks them against their source."""
