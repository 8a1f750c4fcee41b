"""Prompts as Markdown files with a version; their hashes are part of the signatures of scores."""

from ragstone.llm.prompts.book import Prompt, PromptBook

__all__ = ["Prompt", "PromptBook"]
