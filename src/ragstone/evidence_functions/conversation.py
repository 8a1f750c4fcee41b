"""Evidence from a conversation: the completed question, the words that it takes from earlier turns, and the turns as one text."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.data.types import Chunk, Turn
from ragstone.errors import Skip
from ragstone.registry import evidence
from ragstone.text.overlap import content_stems
from ragstone.tools.protocols import Extractor

# System messages and the output of tools are not said in the conversation.
SPEAKERS = ("user", "assistant")
_ASKING = content_stems(
    "i me my mine we us our you your one some any every all each other another such same can could will would shall "
    "should may might must need want like get gets got getting give take make go use let please tell say know if "
    "because while during without within per up out off again just only very more most much many too here now yes ok "
    "am i'm i've it's don't doesn't isn't can't won't them him hers theirs whether why both either neither else still"
)


@evidence(replaces="question", prompts=("standalone_question",))
async def standalone_question(question: str, history: list[Turn], extractor: Extractor) -> str:
    """The question, completed from the earlier turns: "and for children?" becomes a question that can be understood alone."""
    said = [turn for turn in history if turn.role in SPEAKERS and turn.text.strip()]
    if not said:
        raise Skip("no earlier turns")
    return (await extractor.standalone_question(question, said)).strip() or question


@evidence(transient=True, version=2)
def carried_words(question: str, standalone_question: str) -> list[str]:
    """The content words of the completed question that the question itself does not have, as stems.

    Words with which anything can be asked, such as "my", "can" and "get", are not the subject.
    """
    return sorted(content_stems(standalone_question) - content_stems(question) - _ASKING)


def history_text(history: Sequence[Turn], contexts: Sequence[Chunk] = ()) -> str:
    """The earlier turns and the chunks that were retrieved for them as one text; chunks in `contexts` are left out."""
    lines = [turn.text.strip() for turn in history if turn.role in SPEAKERS]
    known = {chunk.text.strip() for chunk in contexts}
    retrieved = [chunk.text.strip() for turn in history for chunk in turn.contexts or ()]
    return "\n".join(
        dict.fromkeys(line for line in [*lines, *(text for text in retrieved if text not in known)] if line)
    )
