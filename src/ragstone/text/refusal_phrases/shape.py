"""What there is to say about a language."""

from __future__ import annotations

from typing import NamedTuple


class Phrases(NamedTuple):
    """The phrases of one language."""

    # A clause in which one of these is found declines.
    declines: tuple[str, ...]
    # What may stand before the point of a clause: apologies, conjunctions, "based on the documents".
    leads: tuple[str, ...]
    # A clause that begins so adds nothing to the answer: advice, offers, what the documents are about.
    harmless: tuple[str, ...]
    # Without one of these no pattern of `declines` can match: a quick look that spares the long one.
    cues: str
    # What declines only after a clause about the documents: "They describe the fares. | They do not mention dogs."
    echoes: tuple[str, ...] = ()
    # After a comma a new clause begins with these: words of contrast and consequence, and words that join.
    breaks: str = ""
    joins: str = ""
