"""From the name of a fact matcher to the matcher."""

from __future__ import annotations

from ragstone.errors import UnknownNameError
from ragstone.text.matchers import MATCHERS, Matcher, make_matcher

SEMANTIC = "semantic"


def open_matcher(name: str) -> Matcher:
    """The matcher of that name; the semantic one needs a model on this machine."""
    if name == SEMANTIC:
        from ragstone.models.embedders import open_encoder  # noqa: PLC0415  (only who names it)
        from ragstone.models.matcher import SemanticMatcher  # noqa: PLC0415

        return SemanticMatcher(open_encoder("local/minilm"))
    if name not in MATCHERS:
        known = [*MATCHERS, SEMANTIC]
        raise UnknownNameError("fact matcher", name, known, f"There are: {', '.join(known)}.")
    return make_matcher(name)
