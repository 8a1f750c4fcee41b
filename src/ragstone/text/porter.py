"""The Porter stemmer (Porter 1980) with nltk's default changes, so that ROUGE and METEOR match other implementations.

The changes: short words and a list of irregular ones are kept, `dies` and `died` keep their e, y becomes i after a consonant
only (`happi`, but `enjoy`), and -alli, -fulli, -bli, -logi are suffixes.
"""

from __future__ import annotations


def _pairs(spelled: str) -> dict[str, str]:
    """`ational:ate` as an ending and its replacement; a word without a colon is its own replacement."""
    return {pair.partition(":")[0]: pair.rpartition(":")[2] for pair in spelled.split()}


_IRREGULAR = _pairs(
    "sky skies:sky dying:die lying:lie tying:tie news inning innings:inning outing outings:outing canning cannings:canning "
    "howe proceed exceed succeed"
)
# Longest endings first.
_PLURALS = _pairs("sses:ss ies:i ss s:")
_DOUBLE_SUFFIXES = _pairs(
    "ational:ate ization:ize iveness:ive fulness:ful ousness:ous tional:tion biliti:ble entli:ent ousli:ous ation:ate "
    "alism:al aliti:al iviti:ive fulli:ful enci:ence anci:ance izer:ize ator:ate bli:ble eli:e"
)
_MORE_SUFFIXES = _pairs("icate:ic ative: alize:al iciti:ic ical:ic ness: ful:")
_LAST_SUFFIXES = _pairs(
    "ement: ance: ence: able: ible: ment: ant: ent: ion: ism: ate: iti: ous: ive: ize: al: er: ic: ou:"
)


class _Kinds(dict[int, str]):
    """Letters as v, y or c: a letter is a consonant unless it is listed."""

    def __missing__(self, letter: int) -> str:
        return "c"


_KINDS = _Kinds({**{ord(vowel): "v" for vowel in "aeiou"}, ord("y"): "y"})


def stem(word: str) -> str:
    """The stem of an English word."""
    length, word = len(word), word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if length <= 2:
        return word
    word = _drop_past(_drop_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _replace(_drop_double(word), _MORE_SUFFIXES)
    return _drop_e(_drop_last(word))


def _shape(word: str) -> str:
    """Each letter as v or c; a y is a vowel after a consonant and a consonant elsewhere."""
    shape = word.translate(_KINDS)
    if "y" not in shape:
        return shape
    kinds: list[str] = []
    for kind in shape:
        kinds.append(kind if kind != "y" else "v" if kinds and kinds[-1] == "c" else "c")
    return "".join(kinds)


def _measure(word: str) -> int:
    """The number of vowel-consonant sequences: the m of Porter's paper."""
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y: the paper's *o; in nltk also a vowel and a consonant alone."""
    shape = _shape(word)
    return shape == "vc" or (shape[-3:] == "cvc" and word[-1] not in "wxy")


def _longest(word: str, suffixes: dict[str, str]) -> str | None:
    """The longest matching suffix of the word."""
    if word.endswith(tuple(suffixes)):  # most words have none: one fast test for all
        return next(suffix for suffix in suffixes if word.endswith(suffix))
    return None


def _replace(word: str, suffixes: dict[str, str]) -> str:
    """Replace the longest matching suffix if the stem before it is long enough."""
    suffix = _longest(word, suffixes)
    if suffix is None or not _measure(word[: -len(suffix)]):
        return word
    return word[: -len(suffix)] + suffixes[suffix]


def _drop_plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    suffix = _longest(word, _PLURALS)
    return word if suffix is None else word[: -len(suffix)] + _PLURALS[suffix]


def _drop_past(word: str) -> str:
    """Remove -ed and -ing and repair the stem: hopp(ing) is hop, fil(ing) is file."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    shape = _shape(rest)
    if "v" not in shape:
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest[-2:-1] == rest[-1] and shape[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if shape.count("vc") == 1 and _ends_short(rest) else rest


def _drop_double(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replace(word, _DOUBLE_SUFFIXES)


def _drop_last(word: str) -> str:
    suffix = _longest(word, _LAST_SUFFIXES)
    if suffix is None or _measure(word[: -len(suffix)]) < 2:
        return word
    rest = word[: -len(suffix)]
    return word if suffix == "ion" and rest[-1] not in "st" else rest


def _drop_e(word: str) -> str:
    """Remove a final e, and replace a double l by a single one."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
