"""Every prompt is a Markdown file of its own, with a version; its hash goes into the signature of scores."""

from ragstone.llm.prompts.book import Prompt, PromptBook

__all__ = ["Prompt", "PromptBook"]
