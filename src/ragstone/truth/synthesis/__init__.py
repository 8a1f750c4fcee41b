"""Questions made from documents: planned, written by a language model, held against their source, kept or rejected with a reason."""

from ragstone.truth.synthesis.making import Synthesis, synthesise

__all__ = ["Synthesis", "synthesise"]
