"""Checks that a tag can be released: it is the version, and changelog and citation have it with the same date.

python scripts/release.py v0.1.0
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print the faults; returns the exit code."""
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    faults = list(find_faults(tag, ROOT))
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    if not faults:
        sys.stdout.write(f"{tag} can be released\n")
    return 1 if faults else 0


def find_faults(tag: str, root: Path) -> Iterator[str]:
    """What keeps the tag from being released."""
    version = find(r'__version__ = "([^"]+)"', root / "src/ragstone/_version.py")
    if tag != f"v{version}":
        yield f"the tag is {tag!r}, the version {version}: src/ragstone/_version.py"
    dated = find(rf"^## {re.escape(version)} - (\d{{4}}-\d\d-\d\d)$", root / "CHANGELOG.md")
    if not dated:
        yield f"CHANGELOG.md has no heading '## {version} - DATE'"
    if find(r"^version: (.+)$", root / "CITATION.cff") != version:
        yield f"CITATION.cff is not about {version}"
    if find(r'^date-released: "(.+)"$', root / "CITATION.cff") != dated:
        yield "CITATION.cff and CHANGELOG.md have different dates"


def find(pattern: str, path: Path) -> str:
    """The first group of the first match; empty if there is none."""
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


if __name__ == "__main__":
    sys.exit(main())
