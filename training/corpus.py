"""The articles and paragraphs that synthetic pairs are made from, cleaned and cut into sentences."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import NamedTuple

_SENTENCE_END = re.compile(r"(?<=[a-z0-9)\"”’%][.!?])[\"”]? +(?=[A-Z\"“])")
_CLEAN = [
    (re.compile(r"\([;,\s]*\)"), ""),
    (re.compile(r"(?<=\w) - (?=\w)"), "-"),
    (re.compile(r'" ([^"]*?) "'), r'"\1"'),
    (re.compile(r"\s+"), " "),
    (re.compile(r"(?<=[a-z])\.(?=[A-Z][a-z])"), ". "),
    (re.compile(r" ([,.;:])"), r"\1"),
]
_SUBJECT = re.compile(
    r"^((?:The |An? )?[A-Z][\w'’.\-]*(?: (?:of|the|and|de|von|van|in|for|&|[A-Z][\w'’.\-]*))*?)(?: \([^)]*\))?,? (?:is|was|are|were) "
)


class Article(NamedTuple):
    """Sentences in their order, and what the article is about where its opening says so."""

    name: str
    subject: str
    sentences: list[str]


class Question(NamedTuple):
    """A question about one paragraph, with the answers that people gave."""

    article: str
    context: str
    question: str
    answers: list[str]


def held_out(name: str) -> bool:
    """Whether an article is kept for validation: one in twelve, by its name alone."""
    return sum(name.encode()) % 12 == 0


def read_claims(folder: Path) -> list[dict[str, str]]:
    """The labelled pairs."""
    with lzma.open(folder / "claims" / "claims.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def reserved_sentences(claims: list[dict[str, str]]) -> set[str]:
    """The sentences of evidence that is kept for validation and test: no article that holds one is used."""
    texts = (row["evidence"] for row in claims if row["task"] == "support" and row["split"] != "train")
    return {key for text in texts for sentence in cut(tidy(text)) if (key := _key(sentence))}


def read_articles(folder: Path, reserved: set[str]) -> list[Article]:
    """The encyclopaedia's articles, without headings and lists, and without those that share reserved sentences."""
    found = []
    with lzma.open(folder / "wiki" / "articles.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            sentences = [s for raw in row["text"].split("\n") if (s := _sentence(raw))]
            if len(sentences) >= 4 and not any(_key(sentence) in reserved for sentence in sentences):
                found.append(Article(row["title"], _subject(sentences[0]), sentences))
    return found


def read_questions(folder: Path, claims: list[dict[str, str]], reserved: set[str]) -> list[Question]:
    """SQuAD's questions that are not kept for validation or test, on paragraphs that are not either."""
    kept = {row["question"] for row in claims if row["task"] == "answer_match" and row["split"] != "train"}
    pages = json.loads((folder / "squad" / "dev_v1.1_from_pages.json").read_text(encoding="utf-8"))
    pages["Alps"] = json.loads((folder / "squad" / "alps_train_v1.1.json").read_text(encoding="utf-8"))
    found = []
    for name, paragraphs in pages.items():
        for paragraph in paragraphs:
            context = paragraph["context"]
            if any(_key(sentence) in reserved for sentence in cut(tidy(context))):
                continue
            asked = (qa for qa in paragraph["qas"] if qa["question"] not in kept)
            found += [Question(name, context, qa["question"], _texts(qa["answers"])) for qa in asked]
    return found


def tidy(text: str) -> str:
    """Text without the marks that taking it from a page has left."""
    for pattern, replacement in _CLEAN:
        text = pattern.sub(replacement, text)
    return text.strip()


def cut(text: str) -> list[str]:
    """A paragraph's sentences; a rough cut is enough here."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence]


def _texts(answers: list[dict[str, str] | str]) -> list[str]:
    texts = [answer if isinstance(answer, str) else answer["text"] for answer in answers]
    return list(dict.fromkeys(texts))


def _key(sentence: str) -> str:
    folded = re.sub(r"[^a-z0-9]+", " ", sentence.lower()).strip()
    return folded if folded.count(" ") >= 7 else ""


def _sentence(raw: str) -> str:
    if "Section::::" in raw or raw.startswith("*") or raw[-1:] not in ".!?\"'”":
        return ""
    words = raw.split()
    while words and len(words[0]) > 1 and words[0].isupper() and len(words) > 6 and words[1][:1].isupper():
        words = words[1:]
    text = tidy(" ".join(words))
    usable = 5 <= len(words) <= 60 and text[:1].isupper() and text.count("*") == 0
    return text if usable else ""


def _subject(sentence: str) -> str:
    match = _SUBJECT.match(sentence)
    return match[1] if match and len(match[1]) < 40 else ""
