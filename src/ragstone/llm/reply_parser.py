"""Parses a model's reply into the requested object.

The last complete object that fits is used. If several fitting objects differ and no word marks the last as a correction,
the reply is ambiguous and fails. A truncated reply always fails.

Slightly wrong forms are accepted: keys may differ in case, separators and number ("supportedBy", "claim" for "claims"), a list
may be an object with numbers as keys, and an entry may be a list in field order or the bare value for the claim at its
position. A key with another meaning is never accepted.

Error messages are sent to the model in a second request, so they are part of cache keys: do not reword them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any, NoReturn, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ragstone.llm.base import LLMReplyError
from ragstone.llm.loose_json import (
    DuplicateKeyError,
    JSONError,
    Piece,
    UnclosedError,
    between,
    find_pieces,
    stands_alone,
    unique_object,
)
from ragstone.text.refusals import find_refusal

T = TypeVar("T", bound=BaseModel)

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
# Suffixes of a key that do not change its meaning.
_FILLERS = {"chunks", "chunk", "sentences", "passages", "numbers", "number", "ids", "id", "no", "list", "indices"}
_NUMBER_KEY = re.compile(r"(?:claim|chunk|item|triplet|question)?[\s_#\[]*(\d{1,6})[\].]?", re.IGNORECASE)
_SURROGATES = re.compile("[\ud800-\udfff]")
_MOST_FAULTS_SHOWN = 3
_THOUGHT_WORDS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_THOUGHT_BEGINS = re.compile(rf"[<\[◁](?P<word>{_THOUGHT_WORDS})[>\]▷]", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"[<\[◁]/(?:{_THOUGHT_WORDS})[>\]▷]", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final(?:[^<{]*)<\|message\|>")
_TURN_ENDS = re.compile(r"(?:<\|(?:im_end|end|return|eot_id|endoftext)\|>|</s>|<end_of_turn>)\s*\Z")


class Fault(StrEnum):
    """Why a reply is not usable; the error message starts with it."""

    EMPTY = "empty reply"
    CUT_OFF = "cut off"
    DECLINED = "the model declined"
    NOT_JSON = "no JSON"
    AMBIGUOUS = "ambiguous"
    WRONG_SHAPE = "not what was asked for"


# Words before an object that corrects the previous one, and before an object that is only a draft.
_CORRECTS = re.compile(
    r"\b(?:final|finally|correct(?:ed|ion|ing)?|revised?|updated?|improved|instead|actually|wait|endgültige?|korrigiert\w*|"
    r"korrektur|corrigée?|corregid[oa]|definitiv[oa]|finale?|correzione|corrigid[oa]|итог\w*|исправлен\w*)\b"
    r"|最终|更正|修正|訂正|最終",
    re.IGNORECASE,
)
_IS_DRAFT = re.compile(
    r"\b(?:example|draft|template|format|schema|first attempt|beispiel|entwurf|ejemplo|exemple|brouillon|пример|черновик)\b"
    r"|例如|草稿|格式",
    re.IGNORECASE,
)
# Refusals that only models write, in addition to those of answers.
_MODEL_DECLINES = re.compile(
    r"\b(?:i (?:will not|won't|cannot|can't|am not able to|am unable to) (?:be able to )?(?:help|assist|comply|evaluate|"
    r"judge|process|fulfil|fulfill|do|provide|continue)|against my (?:guidelines|policies|programming))\b"
    r"|お手伝い(?:すること(?:は|が))?できません|お答えできません|不能协助|无法协助",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 2000
_REPEATS = "the reply repeats itself without end"
_LONGEST_PERIOD, _LEAST_REPEATED = 400, 24


def read_reply(text: str, kind: type[T], finish_reason: str = "stop") -> T:
    """Return the object in a reply, or raise an LLMReplyError that starts with a Fault."""
    if finish_reason == "length":
        _fail(Fault.CUT_OFF, text, _REPEATS if repeats_itself(text) else "the model reached its limit of tokens")
    if finish_reason == "content_filter":
        _fail(Fault.DECLINED, text, "the provider's filter stopped the reply")
    body = strip_marks(text)
    whole = _whole(body)
    if isinstance(whole, str):
        body, whole = whole, _whole(whole)
    if isinstance(whole, dict):
        # The common case. Escaped lone surrogates need the slow path.
        if "\\ud" not in body.casefold():
            with suppress(ValidationError):
                return kind.model_validate(whole)
        return _choose([Piece(0, len(body), whole)], body, kind, text)
    return _read_prose(body, kind, text)


def repeats_itself(text: str) -> bool:
    """Return whether a text ends with the same words four times or more, as a reply does that would never end.

    Digits count as equal: some models number what they repeat.
    """
    tail = re.sub(r"\d+", "0", text)[-5 * _LONGEST_PERIOD :]
    for period in range(1, min(_LONGEST_PERIOD, len(tail) // 4) + 1):
        same = next((at for at in range(len(tail) - period) if tail[-1 - at] != tail[-1 - at - period]), None)
        if (len(tail) - period if same is None else same) >= max(3 * period, _LEAST_REPEATED):
            return True
    return False


def _whole(body: str) -> Any:
    """Return the value if the whole text is strict JSON."""
    try:
        return json.loads(body, object_pairs_hook=unique_object)
    except (ValueError, RecursionError):
        return None


def _read_prose(body: str, kind: type[T], text: str) -> T:
    body, unending = drop_thoughts(body)
    if not body:
        _fail(Fault.CUT_OFF if unending else Fault.EMPTY, text)
    try:
        pieces = find_pieces(body)
    except UnclosedError as fault:
        _fail(Fault.CUT_OFF, text, str(fault))
    except JSONError as fault:
        _fail(Fault.AMBIGUOUS if isinstance(fault, DuplicateKeyError) else Fault.NOT_JSON, text, str(fault))
    if unending and not (pieces and not between(body, pieces)[-1]):
        _fail(Fault.CUT_OFF, text, "the reply ends in the middle of the model's thoughts")
    if not pieces and (read := getattr(kind, "from_prose", None)) and (found := read(body)):
        spelled: T = found
        return spelled
    return _choose(pieces, body, kind, text)


def _choose(pieces: list[Piece], body: str, kind: type[T], text: str) -> T:
    """Choose the intended object among all pieces of JSON."""
    # Lists in prose are usually citations.
    objects = [piece for piece in pieces if piece.fault or isinstance(piece.value, dict)]
    fitting: list[tuple[Piece, T]] = []
    faults: list[str] = []
    for piece in objects:
        try:
            if piece.fault:
                raise piece.fault
            fitting.append((piece, _fit(piece.value, kind)))
        except (_ShapeError, JSONError) as fault:
            faults.append(str(fault))
    _refuse_broken(objects, fitting, text)
    if fitting:
        return _take_last(fitting, body, text)
    if not objects and len(pieces) == 1 and stands_alone(body, pieces[0], _list_field(kind) or ""):
        return _or_fail(pieces[0].value, kind, text)
    if objects and _are_entries(objects, pieces, body, kind):
        return _or_fail([piece.value for piece in objects], kind, text)
    return _explain(pieces, faults, body, text)


def _refuse_broken(objects: list[Piece], fitting: list[tuple[Piece, T]], text: str) -> None:
    """Reject broken JSON unless a readable object follows it, because it may have been the answer."""
    if objects and (fault := objects[-1].fault):
        _fail(Fault.AMBIGUOUS if isinstance(fault, DuplicateKeyError) else Fault.NOT_JSON, text, str(fault))
    broken = [piece for piece in objects if piece.fault]
    if broken and not any(piece.start > broken[-1].start for piece, _ in fitting):
        _fail(Fault.NOT_JSON, text, str(broken[-1].fault))


def _take_last(fitting: list[tuple[Piece, T]], body: str, text: str) -> T:
    """Return the last fitting object, unless an earlier one differs for no visible reason."""
    words = between(body, [piece for piece, _ in fitting])
    value = fitting[-1][1]
    if any(other != value for _, other in fitting[:-1]):
        others_are_drafts = len(fitting) == 2 and _IS_DRAFT.search(words[0]) and words[1]
        if not (_CORRECTS.search(words[-2]) or others_are_drafts):
            _fail(Fault.AMBIGUOUS, text, f"{len(fitting)} objects that say different things")
    says_nothing = all(not entry for entry in value.model_dump().values() if isinstance(entry, list))
    if says_nothing and any(words) and _declines("\n".join(words)):
        _fail(Fault.DECLINED, text)
    return value


def _are_entries(objects: list[Piece], pieces: list[Piece], body: str, kind: type[BaseModel]) -> bool:
    """Return whether the objects are consecutive entries of the requested list."""
    words = [text.strip(" \t\n,;-*•0123456789.)") for text in between(body, pieces)[1:-1]]
    return len(objects) == len(pieces) and not any(words) and all(_is_entry(p.value, kind) for p in objects)


def _or_fail(items: list[Any], kind: type[T], text: str) -> T:
    try:
        name = _list_field(kind)
        if name is None:
            raise _ShapeError("an object is wanted, not a list")
        return _fit({name: items}, kind)
    except _ShapeError as fault:
        _fail(Fault.WRONG_SHAPE, text, str(fault))


def _explain(pieces: list[Piece], faults: list[str], body: str, text: str) -> NoReturn:
    """Raise the most helpful error."""
    texts = [body] if not pieces else [*between(body, pieces), *(entry for piece in pieces for entry in _texts(piece))]
    if any(_declines(words) for words in texts if words):
        _fail(Fault.DECLINED, text)
    if faults:
        _fail(Fault.WRONG_SHAPE, text, faults[-1])
    _fail(Fault.NOT_JSON, text)


def _texts(piece: Piece) -> list[str]:
    """Return the texts of an object such as {"error": "I cannot help with that."}."""
    return [entry for entry in piece.value.values() if isinstance(entry, str)] if isinstance(piece.value, dict) else []


def _declines(words: str) -> bool:
    words = words[:_LONGEST_REFUSAL]
    return bool(find_refusal(words) or _MODEL_DECLINES.search(words.replace("’", "'")))


def _fail(fault: Fault, text: str, details: str = "") -> NoReturn:
    raise LLMReplyError(f"{fault}: {details}" if details else str(fault), text)


class _ShapeError(ValueError):
    """JSON of the wrong shape. The message does not quote it."""


def _fit(value: Any, kind: type[T]) -> T:
    """Return the object, or raise a _ShapeError."""
    if not isinstance(value, Mapping):
        raise _ShapeError("an object is wanted")
    try:
        return kind.model_validate(_mend_object(value, kind))
    except ValidationError as error:
        # One level of wrapping: {"reply": {…}}, {"name": …, "arguments": {…}}.
        inner = [entry for entry in value.values() if isinstance(entry, Mapping)]
        if len(inner) == 1 and not _match_keys(value, kind):
            return _fit(inner[0], kind)
        # Locations only: values stay out of messages.
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        words = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:_MOST_FAULTS_SHOWN]]
        more = f" (and {len(faults) - len(words)} more)" if len(faults) > len(words) else ""
        raise _ShapeError("; ".join(words) + more) from error


def _list_field(kind: type[BaseModel]) -> str | None:
    """Return the name of the only field if it is a list."""
    names = list(kind.model_fields)
    return names[0] if len(names) == 1 and get_origin(kind.model_fields[names[0]].annotation) is list else None


def _is_entry(value: Mapping[str, Any], kind: type[BaseModel]) -> bool:
    """Return whether the value is one entry of the list that the object consists of."""
    name = _list_field(kind)
    entry: Any = _plain_type(get_args(kind.model_fields[name].annotation)[0]) if name else None
    return _is_model(entry) and set(_match_keys(value, entry)) == set(entry.model_fields)


def _mend_object(value: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, Any]:
    keys = _match_keys(value, kind)
    only = _list_field(kind)
    if not keys and only and value and _numbers(value):
        return {only: _mend(value, kind.model_fields[only].annotation, only)}
    return {name: _mend(value[key], kind.model_fields[name].annotation, name) for name, key in keys.items()}


def _match_keys(value: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, str]:
    """Map fields to keys. An exact key wins, and an integer field prefers a key with a number."""
    matches = {}
    for name, field in kind.model_fields.items():
        keys = [key for key in value if key == name] + [
            key for key in value if key != name and _fold(key) == _fold(name)
        ]
        if _plain_type(field.annotation) is int:
            keys = [key for key in keys if _NUMBER_KEY.fullmatch(str(value[key]).strip())] or keys
        if len(keys) == 1 or (keys and keys[0] == name):
            matches[name] = keys[0]
    return matches


def _fold(key: str) -> str:
    """Normalise a key: no case, separators, plural or filler words."""
    words = [word.casefold() for word in _WORDS.findall(key)]
    while len(words) > 1 and words[-1] in _FILLERS:
        words.pop()
    return "".join(words).removesuffix("s")


def _mend(value: Any, wanted: Any, name: str) -> Any:
    """Convert a value to the form of its type if there is only one way."""
    if get_origin(wanted) is not list:
        return _mend_object(value, wanted) if _is_model(wanted) and isinstance(value, Mapping) else _mend_text(value)
    entry = _plain_type(get_args(wanted)[0])
    if isinstance(value, Mapping) and entry is not int:
        numbers = _numbers(value)
        if numbers:
            return [_mend_entry(value[key], entry, name, number) for number, key in sorted(numbers.items())]
        if _is_model(entry):
            value = [value]
    if not isinstance(value, list):
        return value
    return [_mend_entry(item, entry, name, number) for number, item in enumerate(value, start=1)]


def _mend_entry(item: Any, entry: Any, name: str, number: int) -> Any:
    if _is_model(entry):
        return _mend_model_entry(item, entry, number)
    if entry is str and isinstance(item, Mapping):
        texts = [
            text
            for key, text in item.items()
            if isinstance(text, str) and (len(item) == 1 or _fold(key) == _fold(name))
        ]
        return _mend_text(texts[0]) if len(texts) == 1 else item
    return _mend_text(item)


def _mend_model_entry(item: Any, entry: type[BaseModel], number: int) -> Any:
    fields = entry.model_fields
    numbered = [name for name, field in fields.items() if _plain_type(field.annotation) is int]
    others = [name for name in fields if name not in numbered]
    if isinstance(item, Mapping):
        mended = _mend_object(item, entry)
        missing = len(numbered) == 1 and numbered[0] not in mended
        return {numbered[0]: number, **mended} if missing and set(mended) == set(others) else mended
    if isinstance(item, list) and len(item) == len(fields):
        return dict(zip(fields, map(_mend_text, item), strict=True))
    if isinstance(item, str) and len(numbered) == len(others) == 1:
        return {numbered[0]: number, others[0]: item}
    return item


def _mend_text(value: Any) -> Any:
    """Replace lone surrogates, which cannot be stored."""
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value


def _numbers(value: Mapping[str, Any]) -> dict[int, str]:
    """Return the keys by number if all keys are distinct numbers."""
    numbers = {int(match[1]): key for key in value if (match := _NUMBER_KEY.fullmatch(key.strip()))}
    return numbers if len(numbers) == len(value) else {}


def _plain_type(annotation: Any) -> Any:
    """Return a type without its annotations."""
    return _plain_type(get_args(annotation)[0]) if hasattr(annotation, "__metadata__") else annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def strip_marks(text: str) -> str:
    """Remove the byte order mark and chat template marks, and unescape quotes if all are escaped."""
    text = _SURROGATES.sub("\ufffd", text).strip().strip("\ufeff").strip()
    final = list(_FINAL_CHANNEL.finditer(text))
    if final:
        text = text[final[-1].end() :]
    text = _TURN_ENDS.sub("", text).strip()
    if '"' not in text and "&quot;" in text:
        text = html.unescape(text)
    return text


def drop_thoughts(text: str) -> tuple[str, bool]:
    """Return the text after the model's reasoning, and whether the reasoning is unterminated. Tags inside JSON do not count."""
    while begin := _THOUGHT_BEGINS.search(text):
        if re.search(r"[{\[]", text[: begin.start()]):
            return text, False
        end = _THOUGHT_ENDS.search(text, begin.end())
        if not end:
            return text[begin.end() :].strip(), True
        text = (text[: begin.start()] + text[end.end() :]).strip()
    # Some servers omit the opening tag.
    ends = list(_THOUGHT_ENDS.finditer(text))
    return (text[ends[-1].end() :].strip() if ends else text), False
