"""Pages that people write, with blocks that are made from the code between two comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

MADE = "<!-- Made by `make docs` from the code. Do not edit. -->\n"
_BLOCK = re.compile(r"<!-- made: (\w+) -->\n.*?<!-- end -->", flags=re.DOTALL)


def filled(page: Path, blocks: Mapping[str, Iterable[str]]) -> str:
    """The page with each `<!-- made: NAME -->` … `<!-- end -->` filled; every block must be there once."""
    text = page.read_text(encoding="utf-8")
    found = _BLOCK.findall(text)
    if sorted(found) != sorted(blocks):
        raise ValueError(f"{page.name} has the blocks {sorted(found)}, not {sorted(blocks)}")
    made = {name: "\n".join(lines).strip() for name, lines in blocks.items()}
    return _BLOCK.sub(lambda block: f"<!-- made: {block[1]} -->\n\n{made[block[1]]}\n\n<!-- end -->", text)
