"""Texts taken apart into claims by rules: for the local judge, which cannot write."""

from __future__ import annotations

from collections.abc import Collection

from ragstone.data.types import Claim
from ragstone.errors import Skip
from ragstone.evidence.tools import Content
from ragstone.text.names import has_capitals, names
from ragstone.text.statements import statements

_NO_NAMES = Skip("names are found by their capital letters, which this script does not have; name a model with --judge")


class LocalExtractor:
    """Claims are sentences, taken apart where that is safe; names are words with a capital letter, and numbers."""

    # Goes up when other claims come out.
    signature = "rules/1"

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims that a text makes."""
        return [Claim(statement) for statement in statements(question, text)]

    async def content(self, question: str, text: str, wanted: Collection[str]) -> Content:
        """The claims and the names in a text."""
        found = await self.claims(question, text)
        if "reference_entities" not in wanted:
            return Content(found, [])
        if text.strip() and not has_capitals(text):
            # The piece is skipped with this reason.
            return Content(found, _NO_NAMES)  # type: ignore[arg-type]
        return Content(found, names(text))
