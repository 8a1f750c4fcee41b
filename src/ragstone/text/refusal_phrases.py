"""Load and compile the phrases with which answers decline, from `refusal_phrases.toml`."""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

# The languages of a clause, by the letters that it contains.
_SCRIPTS = {
    "[a-z]": ("en", "de", "fr", "es", "it", "pt"),
    "[\u0400-\u04ff]": ("ru",),
    "[\u3040-\u30ff\u3400-\u9fff]": ("zh", "ja"),
    "[\u0600-\u06ff]": ("ar",),
    "[\u0900-\u097f]": ("hi",),
}
# Sentences end after two letters, so that "e.g. dogs" and "9.30 p.m." stay whole. The others end clauses.
_CLAUSE_ENDS = (
    r"(?<=[\w)\]\"'”’»%*][\w)\]\"'”’»%*][.!?…])[\"'”’»)\]*_]*\s+",
    r"(?<=[。！？；：;؛؟।॥，،\n])\s*",
    r"(?<=[がずでめ]、)",
    r":\**\s+|\s[–—-]\s|\n",
    r"\s+(?=(?:but|however|although|whereas)\b)",
)
_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u0652\u0670\u0640]")
_LINE_BREAK = re.compile(r"\n *")
# A cue with one of these is a pattern.
_SPECIAL = re.compile(r"[^\w ']")
_FRAGMENT = re.compile(r"\{([a-z_]+)\}")


class Phrases(NamedTuple):
    """The phrases of one language; `refusal_phrases.toml` describes the fields."""

    cues: str
    declines: list[str]
    leads: list[str]
    harmless: list[str]
    echoes: list[str]
    breaks: str
    joins: str


class ScriptPatterns:
    """The phrases of all languages that share a script."""

    def __init__(self, letters: str, languages: list[Phrases]) -> None:
        self._languages, self._compiled = languages, dict[str, re.Pattern[str]]()
        self.script = re.compile(letters)
        # Most clauses have no cue. Plain words are found many times faster than by one pattern of all cues.
        cues = {cue for phrases in languages for cue in fold(phrases.cues).split("|") if cue}
        self._words = sorted(cue for cue in cues if not _SPECIAL.search(cue))
        bound = sorted(cue[2:] for cue in cues if cue.startswith(r"\b"))
        others = sorted(cue for cue in cues if _SPECIAL.search(cue) and not cue.startswith(r"\b"))
        self._cues = _compile_any([rf"\b(?:{'|'.join(bound)})", *others] if bound else others)

    def has_cue(self, clause: str) -> bool:
        """Whether a clause has one of the words without which nothing is declined."""
        return any(map(clause.__contains__, self._words)) or self._cues.search(clause) is not None

    def of(self, kind: Literal["declines", "heads", "leads", "harmless", "echoes"]) -> re.Pattern[str]:
        """One kind of phrases, compiled when it is first needed: `heads` are the declines that only match at the start."""
        if kind not in self._compiled:
            field = "declines" if kind == "heads" else kind
            patterns = [pattern for phrases in self._languages for pattern in getattr(phrases, field)]
            if field == "declines":
                patterns = [pattern for pattern in patterns if pattern.startswith("^") is (kind == "heads")]
            self._compiled[kind] = _compile_any(patterns)
        return self._compiled[kind]


class RefusalPatterns(NamedTuple):
    """All compiled patterns."""

    scripts: list[ScriptPatterns]
    clause_ends: re.Pattern[str]
    joins: re.Pattern[str]
    answering: re.Pattern[str]
    contrast: re.Pattern[str]
    added: re.Pattern[str]  # the user's own phrases


def fold(text: str) -> str:
    """Lower-case a text, remove accents, Arabic vowel signs and tatweel, and collapse white space."""
    if text.isascii():
        return " ".join(text.lower().split())
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text.casefold()))
    return " ".join(unicodedata.normalize("NFC", bare).split())


# Goes up when the phrases of this package find other refusals.
_BUILT_IN = "phrases=built-in/3"
_added: list[str] = []


def add_refusal_phrases(phrases: Iterable[str]) -> None:
    """Add your own phrases, in any language: a clause that contains one of them declines. Case and accents are ignored."""
    folded = [words for phrase in phrases if (words := fold(phrase)) and words not in _added]
    if folded:
        _added.extend(folded)
        refusal_patterns.cache_clear()


def phrases_signature() -> str:
    """The phrases in use: those of this package, with a hash of the added ones."""
    added = hashlib.blake2b("\n".join(sorted(_added)).encode(), digest_size=4).hexdigest()
    return f"{_BUILT_IN}+{added}" if _added else _BUILT_IN


@cache
def refusal_phrases() -> dict[str, Phrases]:
    """The phrases per language code, with all fragments filled in."""
    return {code: _read_language(entry) for code, entry in _read_file().items() if isinstance(entry, dict)}


@cache
def refusal_patterns() -> RefusalPatterns:
    """The compiled patterns; they are compiled on the first call."""
    shared, languages = _read_file(), refusal_phrases()
    joins = "|".join(phrases.joins for phrases in languages.values() if phrases.joins)
    openers = "|".join(words for phrases in languages.values() for words in (phrases.breaks, phrases.joins) if words)
    return RefusalPatterns(
        scripts=[ScriptPatterns(letters, [languages[code] for code in codes]) for letters, codes in _SCRIPTS.items()],
        clause_ends=re.compile("|".join([*_CLAUSE_ENDS, rf",\s+(?=(?:{openers})\b)"]), re.IGNORECASE),
        joins=re.compile(rf"(?:{joins})\s"),
        answering=re.compile(fold(_unwrap(shared["answering"]))),
        contrast=re.compile(rf"(?:{fold(_unwrap(shared['contrast']))})"),
        added=re.compile("|".join(map(re.escape, _added)) or r"(?!)"),
    )


@cache
def _read_file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _read_language(entry: dict[str, Any]) -> Phrases:
    fragments = {name: _unwrap(fragment) for name, fragment in entry.get("fragments", {}).items()}

    def expand(pattern: str) -> str:
        return _FRAGMENT.sub(lambda match: fragments[match[1]], _unwrap(pattern))

    texts = {key: expand(entry.get(key, "")) for key in ("cues", "breaks", "joins")}
    lists = {key: list(map(expand, entry.get(key, ()))) for key in ("declines", "leads", "harmless", "echoes")}
    return Phrases(**texts, **lists)  # type: ignore[arg-type]


def _unwrap(pattern: str) -> str:
    return _LINE_BREAK.sub("", pattern.lstrip())


def _compile_any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(fold, patterns)) or r"(?!)")
