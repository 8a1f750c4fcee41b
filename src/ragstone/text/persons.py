"""Find people and secret keys in a text by rules, next to the data of `personal.py`.

A person is found by a title, by a label (`Patient: …`), or by a common given name before a surname. Rarer names, single given
names, names in capitals, and most names in scripts without capitals are missed: precision comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

from ragstone.text.lexicon import late_pattern, lexicon, word_set
from ragstone.text.personal import Finding, find_personal

# Capitalised, with a small letter. It gives nothing back, so that the time is linear.
_WORD = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я](?=[\w'’-]*[a-zß-öø-ÿā-žα-ωа-я])[\w'’-]*+"
_LINKS = r"(?: (?:de|da|di|del|della|dos|van|von|zu|der|den|la|le|bin|al|ter))*"
_NAME = rf"(?:{_WORD}|[A-Z]\.)(?:{_LINKS} (?:{_WORD}|[A-Z]\.)){{0,3}}"
_TITLED = late_pattern(
    rf"(?<![\w.])(?:(?:Mrs?|Ms|Dr|Prof|Mme|Mlle)\b\.?|(?:Sra?|Sig|Srta)\.|Miss|Professor|Herrn?|Frau|Monsieur|Madame|Señora?|"
    rf"Signora?)(?: (?:Dr|Prof)\.?)* (?P<name>{_NAME})"
)
_LABELLED = late_pattern(
    r"\b(?:(?:full |first |last |sur)?name|patient|customer|client|employee|applicant|tenant|insured|account holder|cardholder|"
    r"signed(?: by)?|beneficiary|kunde|kundin|patientin|mitarbeiter|mitarbeiterin|mieter|antragsteller|versicherte|"
    rf"nom|nombre|cliente|paciente|empleado) ?: ?(?-i:(?P<name>{_WORD}{_LINKS} (?:{_WORD}|[A-Z]\.)(?: {_WORD})?))",
    re.IGNORECASE,
)
# Capitalised words in a row, with initials and links.
_RUN = late_pattern(rf"(?<![\w@./'’-]){_WORD}(?:{_LINKS} (?:{_WORD}|[A-Z]\.))+")
_BEFORE_PLACES = frozenset({"St", "Saint", "Sankt", "San", "Santa", "São", "Port", "Fort", "Mount", "Lake", "Cape"})
_SURNAME_LINKS = word_set("de da di del della dos van von zu der den la le bin al ter el")
_TOKEN = re.compile(r"\S+")
_CHINESE = late_pattern(r"(?:姓名|患者|客户|员工|申请人)[:：] ?(?P<name>[\u4e00-\u9fff]{2,4})(?![\u4e00-\u9fff])")
# Keys by the prefixes of their issuers; and what a label calls a password or a key.
_KEY = late_pattern(
    r"(?<![\w-])(?:AKIA[0-9A-Z]{16}|(?:sk|pk|rk)-[\w-]{20,}|(?:sk|pk|rk)_(?:live|test)_\w{16,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|"
    r"glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{35}|hf_\w{30,}|npm_\w{30,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})(?![\w-])|"
    r"-----BEGIN (?:\w+ )*PRIVATE KEY-----"
)
_LABELLED_KEY = late_pattern(
    r"\b(?:password|passwd|passphrase|passwort|kennwort|mot de passe|contraseña|api[-_ ]?key|access[-_ ]?key|secret[-_ ]?key|"
    r"client[-_ ]?secret|access[-_ ]?token)(?: is| ist| est| es)? ?[:=] ?[\"'`]?(?P<key>[^\s\"'`,;]*[^\s\"'`,;.])",
    re.IGNORECASE,
)
_MASKED = re.compile(r"\*{3}|[•●]{3}|x{4}|^(?:<|\$?\{|\[)", re.IGNORECASE)
_LEAST_KEY = 6
# Accounts have at least this many digits.
_LEAST_DIGITS = 10
# The number of characters after a name that tell a place.
_REACH = 100
# A capitalised word is not a surname if it ends the name of a place or an organisation.
_NOT_A_PERSON = word_set(
    "street road avenue boulevard lane square park bridge station airport hospital clinic university college school church "
    "cathedral museum library institute foundation award prize medal group company inc ltd llc gmbh ag corp corporation bank "
    "island islands river lake mount mountain hill bay beach harbour harbor port pier county city town village house hall tower "
    "castle palace hotel theatre theater stadium act law theorem effect disease syndrome test method algorithm day week cup "
    "straße strasse platz allee brücke bahnhof klinik universität schule kirche verlag preis stiftung rue place pont gare hôpital "
    "calle plaza puente museo universidad airlines press records motors brothers sons arena center centre medical"
)


def find_sensitive(text: str) -> list[Finding]:
    """Personal data by form, secret keys and persons, in order and without overlaps. A person is found without a title."""
    # A number with words after it may have the check digits of an account by chance.
    found = ((one, sum(map(str.isdigit, text[one.start : one.end]))) for one in find_personal(text))
    findings = [one for one, digits in found if one.kind != "account" or digits >= _LEAST_DIGITS]
    spans = [("key", match.span()) for match in _KEY.finditer(text)]
    for match in _LABELLED_KEY.finditer(text):
        key = match["key"]
        if len(key) >= _LEAST_KEY and not _is_placeholder(key):
            spans.append(("key", match.span("key")))
    matches = (match.span("name") for pattern in (_TITLED, _LABELLED, _CHINESE) for match in pattern.finditer(text))
    for start, found_end in (*matches, *_after_given_names(text)):
        name = _trimmed(text[start:found_end])
        end = start + len(name)
        if name and not _is_place(name, text[end : end + _REACH]):
            spans.append(("person", (start, end)))
    taken = bytearray(len(text))
    for start, end, _ in findings:
        taken[start:end] = b"1" * (end - start)
    for kind, (start, end) in spans:
        if not any(taken[start:end]):
            taken[start:end] = b"1" * (end - start)
            findings.append(Finding(start, end, kind))
    return sorted(findings)


def _is_placeholder(key: str) -> bool:
    """Whether it is masked, in brackets, or made of ordinary words: ****, <password>, Required, see-docs."""
    words = re.findall(r"[^\W\d_]+", key)
    has_digit = any(map(str.isdigit, key))
    is_plain = not has_digit and all(word in (word.lower(), word.upper(), word.capitalize()) for word in words)
    return is_plain or _MASKED.search(key) is not None


def _after_given_names(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a given name with the initials, links and the surname after it, within runs of capitalised words."""
    given = _given_names()
    for run in _RUN.finditer(text):
        start = None
        before = text[max(0, run.start() - 5) : run.start()].split()[-1:]
        for word in _TOKEN.finditer(run[0]):
            is_given = word[0] in given or word[0].partition("-")[0] in given
            if start is None:
                # St. Louis and Santa Ana are places.
                in_place = before and before[0].rstrip(".") in _BEFORE_PLACES
                start = word.start() if is_given and not in_place else None
            elif not is_given and word[0].rstrip(".").lower() not in _SURNAME_LINKS and len(word[0].rstrip(".")) > 1:
                if word[0].rstrip("'’s").lower() not in _common_words():
                    yield run.start() + start, run.start() + word.end()
                start = None
            before = [word[0]]


@cache
def _given_names() -> frozenset[str]:
    lines = (resources.files("ragstone.text") / "given_names.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())


@cache
def _common_words() -> frozenset[str]:
    return word_set(lexicon("names")["beginners"])


def _trimmed(name: str) -> str:
    """A name without a possessive ending and without the first common word after it."""
    kept: list[str] = []
    for word in name.split():
        if word.lower() in _common_words():
            break
        kept.append(word)
    return re.sub(r"['’]s?$|-$", "", " ".join(kept))


def _is_place(name: str, rest: str) -> bool:
    """Whether the name, or the capitalised words after it, end like a place or an organisation."""
    following = re.match(rf"(?: (?:& |and )?{_WORD})*", rest)
    words = [*name.split()[1:], *(following[0].split() if following else ())]
    return any(word.lower() in _NOT_A_PERSON for word in words)
