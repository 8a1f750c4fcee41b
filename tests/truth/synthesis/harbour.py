"""Documents about the world's ships: two in Markdown with a section a ship, and a table."""

from __future__ import annotations

from ragstone.formats.documents import Document, Passage, Section, make_passages
from tests.oracle.language import Language, say
from tests.oracle.world import truth

PROSE: dict[str, dict[str, tuple[Language, tuple[str, ...]]]] = {
    "east.md": {
        "Maren": ("en", ("launched", "captain", "cargo")),
        "Corvina": ("en", ("port", "length", "captain")),
        "Möwe": ("de", ("launched", "cargo", "captain")),
    },
    "west.md": {
        "Pelican": ("en", ("cargo", "launched", "length")),
        "海燕": ("zh", ("captain", "port", "length")),
    },
    # The same ship as in the east: what is compared stands in two documents.
    "crew.md": {"Maren": ("en", ("port", "length"))},
}
TABLE_SHIPS = ("Thistledown", "Grey Heron", "Old Maren")
TABLE_HEADS = ("launched", "captain", "cargo")


def section(ship: str, language: Language, attributes: tuple[str, ...]) -> Section:
    """What is true of a ship, in the second wording."""
    told = [say(language, truth(language, ship, attribute), 1).text for attribute in attributes]
    return Section(("" if language == "zh" else " ").join(told), f"The {ship}")


def documents() -> list[Document]:
    """All of them."""
    found = [
        Document(source, [section(ship, *told) for ship, told in ships.items()]) for source, ships in PROSE.items()
    ]
    rows = [f"| ship | {' | '.join(TABLE_HEADS)} |", "|---|---|---|---|"]
    for ship in TABLE_SHIPS:
        values = [truth("en", ship, name).value for name in TABLE_HEADS]
        rows.append(f"| {ship} | {' | '.join(values)} |")
    return [*found, Document("register.md", [Section("\n".join(rows), "Register")])]


def passages() -> list[Passage]:
    """The passages of all documents: one a section."""
    return [passage for document in documents() for passage in make_passages(document)]
