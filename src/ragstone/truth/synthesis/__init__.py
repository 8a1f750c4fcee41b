"""Writes questions from documents with a language model, and checks them against their source."""

from ragstone.truth.synthesis.pipeline import Synthesis, synthesise

__all__ = ["Synthesis", "synthesise"]
