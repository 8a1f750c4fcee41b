"""Does an answer say that its sources are wrong? By phrases, in English and Chinese, that anybody can read and extend."""

from __future__ import annotations

import re

# RGB's own words, which its prompt asks for.
RGB_WORDS = ("factual error", "事实性错误")

_SOURCES = r"(?:documents?|passages?|contexts?|texts?|sources?|articles?|information|statements?|claims?|snippets?)"
_WRONG = (
    r"(?:factual(?:ly)? (?:errors?|mistakes?|inaccura\w+|incorrect|wrong|inaccurate)|incorrect\w*|inaccurate\w*|"
    r"erroneous\w*|wrong\w*|mistaken\w*|false|misinformation|errors?|mistakes?|not (?:true|correct|accurate|right))"
)
_ENGLISH = re.compile(
    rf"\bfactual(?:ly)? (?:errors?|mistakes?|inaccura\w+|incorrect|wrong)|"
    rf"\b{_SOURCES}\b[^.;!?\n]{{0,80}}\b{_WRONG}\b|"
    rf"\b{_WRONG}\b[^.;!?\n]{{0,40}}\b(?:in|of|from) the (?:\w+ ){{0,2}}{_SOURCES}\b|"
    rf"\b(?:contrary to|contradicts?) (?:what )?the (?:\w+ ){{0,2}}{_SOURCES}\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"事实(?:性|上)?(?:的)?错误|"
    r"(?:文档|文件|资料|材料|文中|文章|段落|信息|内容)[^。；！？\n]{0,30}(?:有误|错误|不正确|不准确|不属实|不符合事实|与事实不符)"
)
_DENIED_BEFORE = re.compile(
    r"\b(?:no|not|without|any|never|free of|n't)\b[^.;!?\n]{0,25}$|(?:没有|无|未发现|不存在)[^。；！？\n]{0,10}$", re.I
)
_DENIED_WITHIN = re.compile(
    r"\b(?:no|not|n't|never|without|free of)\b(?! (?:true|correct|accurate|right))|(?:没有|未发现|不存在|并无)", re.I
)


def find_error_notice(answer: str) -> str | None:
    """The words that say so, or None; "there are no factual errors" says the opposite."""
    for pattern in (_ENGLISH, _CHINESE):
        for found in pattern.finditer(answer):
            if not _DENIED_BEFORE.search(answer[: found.start()]) and not _DENIED_WITHIN.search(found[0]):
                return found[0]
    return None
