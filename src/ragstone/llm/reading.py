"""Reading a reply: the object that the model meant, or why there is none.

What is wanted is the last complete object that fits. Where two that fit differ, and nothing says that the last one corrects the
first, it is a failure and not a guess; so is a reply that is cut off, however much of it there is.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from ragstone.llm.failures import LLMReplyError
from ragstone.llm.loose_json import DoubledError, JSONError, UnclosedError, unique_object
from ragstone.llm.repair import Piece, between, drop_thoughts, find_pieces, stands_alone, strip_marks
from ragstone.llm.shaping import ShapeError, fit, fit_list, is_entry, list_field
from ragstone.text.refusals import find_refusal

T = TypeVar("T", bound=BaseModel)


class Fault(StrEnum):
    """Why a reply cannot be used; the error's text begins with it."""

    EMPTY = "empty reply"
    CUT_OFF = "cut off"
    DECLINED = "the model declined"
    NOT_JSON = "no JSON"
    AMBIGUOUS = "ambiguous"
    WRONG_SHAPE = "not what was asked for"


# What comes before an object that replaces the one before it, and before one that is none of the model's answer.
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
# What only models say, beside the refusals that answers have.
_MODEL_DECLINES = re.compile(
    r"\b(?:i (?:will not|won't|cannot|can't|am not able to|am unable to) (?:be able to )?(?:help|assist|comply|evaluate|"
    r"judge|process|fulfil|fulfill|do|provide|continue)|against my (?:guidelines|policies|programming))\b"
    r"|お手伝い(?:すること(?:は|が))?できません|お答えできません|不能协助|无法协助",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 2000


def read_reply(text: str, kind: type[T], finish_reason: str = "stop") -> T:
    """The object in a reply, or an LLMReplyError whose text begins with one of the faults."""
    if finish_reason == "length":
        _fail(Fault.CUT_OFF, text, "the model reached its limit of tokens")
    if finish_reason == "content_filter":
        _fail(Fault.DECLINED, text, "the provider's filter stopped the reply")
    body = strip_marks(text)
    whole = _whole(body)
    if isinstance(whole, str):
        body, whole = whole, _whole(whole)
    if isinstance(whole, dict):
        # Nearly all replies are as they should be; those with halves of characters are not.
        if "\\ud" not in body.casefold():
            with suppress(ValidationError):
                return kind.model_validate(whole)
        return _choose([Piece(0, len(body), whole)], body, kind, text)
    return _read_prose(body, kind, text)


def _whole(body: str) -> Any:
    """The value where the whole text is strict JSON."""
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
        _fail(Fault.AMBIGUOUS if isinstance(fault, DoubledError) else Fault.NOT_JSON, text, str(fault))
    if unending and not (pieces and not between(body, pieces)[-1]):
        _fail(Fault.CUT_OFF, text, "the reply ends in the middle of the model's thoughts")
    return _choose(pieces, body, kind, text)


def _choose(pieces: list[Piece], body: str, kind: type[T], text: str) -> T:
    """The object that is meant, of all that stand in the text."""
    # Lists in prose are marks of sources more often than replies.
    objects = [piece for piece in pieces if piece.fault or isinstance(piece.value, dict)]
    fitting: list[tuple[Piece, T]] = []
    faults: list[str] = []
    for piece in objects:
        try:
            fitting.append((piece, _fit_piece(piece, kind)))
        except (ShapeError, JSONError) as fault:
            faults.append(str(fault))
    _refuse_broken(objects, fitting, text)
    if fitting:
        return _take_last(fitting, body, text)
    if not objects and len(pieces) == 1 and stands_alone(body, pieces[0], list_field(kind) or ""):
        return _or_fail(pieces[0].value, kind, text)
    if objects and _are_entries(objects, pieces, body, kind):
        return _or_fail([piece.value for piece in objects], kind, text)
    return _explain(pieces, faults, body, text)


def _fit_piece(piece: Piece, kind: type[T]) -> T:
    if piece.fault:
        raise piece.fault
    return fit(piece.value, kind)


def _refuse_broken(objects: list[Piece], fitting: list[tuple[Piece, T]], text: str) -> None:
    """Refuse JSON that cannot be read and that no readable object follows: it may have been the answer."""
    if objects and (fault := objects[-1].fault):
        _fail(Fault.AMBIGUOUS if isinstance(fault, DoubledError) else Fault.NOT_JSON, text, str(fault))
    broken = [piece for piece in objects if piece.fault]
    if broken and not any(piece.start > broken[-1].start for piece, _ in fitting):
        _fail(Fault.NOT_JSON, text, str(broken[-1].fault))


def _take_last(fitting: list[tuple[Piece, T]], body: str, text: str) -> T:
    """The last of the objects that fit, unless one before it says something else for no visible reason."""
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
    """Whether the objects are the entries of the wanted list, one after the other with nothing else between."""
    words = between(body, pieces)[1:-1]
    return len(objects) == len(pieces) and not any(map(_bare, words)) and all(is_entry(p.value, kind) for p in objects)


def _bare(words: str) -> str:
    return words.strip(" \t\n,;-*•0123456789.)")


def _or_fail(items: list[Any], kind: type[T], text: str) -> T:
    try:
        return fit_list(items, kind)
    except ShapeError as fault:
        _fail(Fault.WRONG_SHAPE, text, str(fault))


def _explain(pieces: list[Piece], faults: list[str], body: str, text: str) -> NoReturn:
    """Fail with the reason that helps most."""
    said = [body] if not pieces else [*between(body, pieces), *(entry for piece in pieces for entry in _texts(piece))]
    if any(_declines(words) for words in said if words):
        _fail(Fault.DECLINED, text)
    if faults:
        _fail(Fault.WRONG_SHAPE, text, faults[-1])
    _fail(Fault.NOT_JSON, text)


def _texts(piece: Piece) -> list[str]:
    """The texts of an object, as in {"error": "I cannot help with that."}."""
    return [entry for entry in piece.value.values() if isinstance(entry, str)] if isinstance(piece.value, dict) else []


def _declines(words: str) -> bool:
    words = words[:_LONGEST_REFUSAL]
    return bool(find_refusal(words) or _MODEL_DECLINES.search(words.replace("’", "'")))


def _fail(fault: Fault, text: str, details: str = "") -> NoReturn:
    raise LLMReplyError(f"{fault}: {details}" if details else str(fault), text)
