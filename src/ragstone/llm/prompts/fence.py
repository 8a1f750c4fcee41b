"""Encloses data in a prompt in tags that the data cannot forge.

    <question kqzfbn>
    When does the last boat leave?
    </question kqzfbn>
    <claims kqzfbn 2>
    [1 kqzfbn] The last boat leaves at 21:40.
    [2 kqzfbn] It runs daily.
    </claims kqzfbn>

Items of a list may have letters instead: [A kqzfbn], [B kqzfbn]. The code is derived from a hash of all data in the message, so equal data gives an equal prompt and a cache hit. It is changed
until it occurs neither in the data nor in the instructions, so neither can contain a valid tag.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

Data = Mapping[str, str | Sequence[str]]

# Without vowels, so that codes are not words; six letters give 47 million codes.
_LETTERS = "bcdfghjkmnpqrstvwxz"
_CODE_LENGTH = 6
_TRIES_PER_LENGTH = 8

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Chat template marks: some servers interpret them even inside a message.
_TURN_MARKS = re.compile(
    r"<(?=[|｜])"
    r"|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn)>)"
    r"|<(?=<\s?/?SYS>>)|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
    r"|<(?=/?(?:think|thinking|tool_call|tool_response|tools)>)"
)


def fence_all(data: Data, template: str, lettered: Collection[str] = ()) -> dict[str, str]:
    """Return each piece of data between its tags. `template` is the text around; items of `lettered` lists have letters."""
    clean = {name: _clean(value) for name, value in data.items()}
    code = make_code(clean, template)
    return {name: _fence(name, value, code, name in lettered) for name, value in clean.items()}


def fence_plainly(data: Data, template: str) -> dict[str, str]:
    """Return each piece of data between tags without a code; what looks like such a tag in the data is broken.

    For small models, which the code confuses: the exam of a 1.5B model had 17 of 24 verdicts right with codes and 20 without.
    Messages that begin with the same piece share a prefix. Lists are fenced with a code.
    """
    if not all(isinstance(value, str) for value in data.values()):
        return fence_all(data, template)
    tag = re.compile(
        rf"[<\uff1c\u2039\u3008\u27e8\ufe64](?=\s*/?\s*(?:{'|'.join(map(re.escape, data))})\b)", re.IGNORECASE
    )
    clean = {name: tag.sub(r"\g<0> ", harmless(str(value))) for name, value in data.items()}
    return {name: f"<{name}>\n{value}\n</{name}>" for name, value in clean.items()}


def make_code(data: Data, template: str = "") -> str:
    """Return letters that do not occur in the data or the template; deterministic."""
    texts = [part for name, value in data.items() for part in (name, *_parts(value))]
    digest = hashlib.sha256("".join(f"{len(text)}:{text}" for text in texts).encode("utf-8", "surrogatepass")).digest()
    hay = unicodedata.normalize("NFKC", "\n".join((template, *texts))).casefold()
    salt = 0
    while (code := _letters(digest, salt)) in hay:
        salt += 1
    return code


def harmless(text: str) -> str:
    """Replace characters and chat template marks that a server may reject or misinterpret."""
    # One search is cheaper, and most texts contain none of these.
    if _ODD.search(text):
        text = _CONTROLS.sub(_picture, _LINE_ENDS.sub("\n", text))
    return _TURN_MARKS.sub(r"\g<0> ", text) if "<" in text or "[" in text else text


def _clean(value: str | Sequence[str]) -> str | list[str]:
    return harmless(value) if isinstance(value, str) else [harmless(item) for item in value]


def _parts(value: str | Sequence[str]) -> Iterable[str]:
    """Return the parts of a value. The number of items is a part, so that different lists differ."""
    return (value,) if isinstance(value, str) else (f"[{len(value)}]", *value)


def _fence(name: str, value: str | Sequence[str], code: str, with_letters: bool) -> str:
    if isinstance(value, str):
        return f"<{name} {code}>\n{value}\n</{name} {code}>"
    labels: Iterable[object] = letters(len(value)) if with_letters else range(1, len(value) + 1)
    items = "".join(f"[{label} {code}] {item}\n" for label, item in zip(labels, value, strict=True))
    return f"<{name} {code} {len(value)}>\n{items}</{name} {code}>"


def letters(count: int) -> list[str]:
    """Return the labels A to Z, then AA, AB and so on."""
    return [_label(place) for place in range(count)]


def _label(place: int) -> str:
    return (_label(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _letters(digest: bytes, salt: int) -> str:
    """Return letters from a hash; longer after several tries, so that an unused code always exists."""
    length = _CODE_LENGTH + salt // _TRIES_PER_LENGTH
    number = int.from_bytes(hashlib.shake_256(digest + salt.to_bytes(8, "big")).digest(length + 8), "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[rest])
    return "".join(letters)


def _picture(match: re.Match[str]) -> str:
    """Return a visible replacement for a character that cannot be sent."""
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
