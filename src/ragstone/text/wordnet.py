"""Synonyms from an installed WordNet: nltk's data or Debian's files. Nothing is downloaded or imported.

The files are Princeton's (wndb(5WN)). A word's synonyms are the members of all synsets of its base forms, which are found as
in nltk's `morphy`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

_PARTS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
_VERSION = re.compile(rb"WordNet (\d+(?:\.\d+)*) Copyright")


class WordNet:
    """The synonyms of English words. The files are read at the first lookup."""

    def __init__(self, folder: Any) -> None:
        self._folder = folder  # a path, or one in a ZIP archive

    def read(self, name: str) -> bytes:
        """A file; nothing if there is no list of exceptions."""
        file = self._folder / name
        content: bytes = file.read_bytes() if file.is_file() or not name.endswith(".exc") else b""
        return content

    @cached_property
    def signature(self) -> str:
        """The version, such as `wordnet/3.0`."""
        version = _VERSION.search(self.read("data.adv")[:4000])
        return f"wordnet/{version[1].decode() if version else 'unknown'}"

    def synonyms(self, word: str) -> frozenset[str]:
        """The single words that share a meaning with this one, including itself if it is known; in their original spelling."""
        names = {name for part in self._parts for name in part.synonyms(word)}
        return frozenset(name for name in names if "_" not in name)

    @cached_property
    def _parts(self) -> list[_Part]:
        return [_Part(self, name, endings) for name, endings in _PARTS.items()]


class _Part:
    """One part of speech: an index from words to the offsets of their synsets in the data."""

    def __init__(self, files: WordNet, name: str, endings: str) -> None:
        self._data = files.read(f"data.{name}")
        # Lines that begin with a space are the licence.
        lines = [line for line in files.read(f"index.{name}").splitlines() if not line.startswith(b" ")]
        self._index = {line[: line.find(b" ")].decode(): line for line in lines}
        exceptions = [line.split() for line in files.read(f"{name}.exc").decode().splitlines() if line.strip()]
        self._exceptions = {word: forms for word, *forms in exceptions}
        self._endings = [pair.split(":") for pair in endings.split()]

    def synonyms(self, word: str) -> Iterator[str]:
        for form in self._base_forms(word):
            fields = self._index[form].split()
            for place in fields[-int(fields[2]) :]:
                yield from self._members(int(place))

    def _base_forms(self, word: str) -> list[str]:
        forms = self._exceptions.get(word)
        if forms is None:
            forms = [word[: len(word) - len(old)] + new for old, new in self._endings if word.endswith(old)]
        return [form for form in dict.fromkeys([word, *forms]) if form in self._index]

    def _members(self, place: int) -> list[str]:
        fields = self._data[place : self._data.index(b"|", place)].decode().split()
        names = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return [name.partition("(")[0] for name in names]  # adjectives may have a position mark, as in galore(ip)


def find_wordnet() -> WordNet | None:
    """The installed WordNet: from WNSEARCHDIR, nltk or Debian; None if there is none."""
    for folder in _folders():
        if all((folder / f"{kind}.{name}").is_file() for name in _PARTS for kind in ("index", "data")):
            return _open(folder)
        archive = folder.with_suffix(".zip")
        if archive.name == "wordnet.zip" and archive.is_file():
            return _open(archive)
    return None


def _folders() -> Iterator[Path]:
    if named := os.environ.get("WNSEARCHDIR"):
        yield Path(named)
    nltk = [Path(root) for root in os.environ.get("NLTK_DATA", "").split(os.pathsep) if root]
    nltk.append(Path("~/nltk_data").expanduser())
    nltk += [Path(sys.prefix, *inner, "nltk_data") for inner in ((), ("share",), ("lib",))]
    nltk += [Path(root, "nltk_data") for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    for root in nltk:
        yield root / "corpora" / "wordnet"
    if home := os.environ.get("WNHOME"):
        yield Path(home) / "dict"
    yield Path("/usr/share/wordnet")


@cache
def _open(path: Path) -> WordNet:
    if path.suffix != ".zip":
        return WordNet(path)
    import zipfile  # noqa: PLC0415  (few have it packed)

    return WordNet(zipfile.Path(path, "wordnet/"))
