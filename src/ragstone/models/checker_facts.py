"""Open checkers of the field: how each one is asked, scored and licensed.

The facts are those of the models' own code and cards. A model in this table is never asked in another form. A checker reads
one claim and one text at a time and returns the probability that the text supports the claim.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from ragstone.errors import DefinitionError, UsageError
from ragstone.text.sentences import sentences

# How a checker runs: an encoder with one verdict per pair, an encoder with one verdict per token of the claim, a T5 model,
# or a chat model on a server.
CLASSIFIER, SPANS, T5, CHAT = "classifier", "spans", "t5", "chat"
_SERVERS = ("ollama", "vllm", "llamacpp", "llama", "openai", "litellm_proxy", "azure", "dial")
_COUNTS = {"words": lambda part: len(part.split()), "marks": lambda part: len(re.findall(r"\w+|[^\w\s]", part))}


@dataclass(frozen=True)
class Window:
    """The part of a long text that a checker reads at once. The highest support of all parts counts."""

    size: int
    # What the size counts: `words` between spaces, `marks` (words and punctuation) or `tokens` of the model.
    unit: str = "words"
    # What stands between two sentences of one line.
    between: str = " "
    # Whether the sentences are divided into equal parts of at most about that size, as AlignScore does.
    equal: bool = False


@dataclass(frozen=True)
class FieldChecker:
    """The facts about one checker."""

    name: str
    runner: str
    # On the Hugging Face hub, with `@REVISION` or `:FILE` if that is needed for weights in a safe format.
    repository: str
    # Matches every spelling of its name, in lower case with hyphens.
    spelled: str
    licence: str
    size_bytes: int
    about: str
    # With {text} and {claim}, and {question} if it is asked with one. Empty: the model reads the pair (text, claim).
    template: str = ""
    # The instructions of a chat model.
    system: str = ""
    words: Mapping[str, float] = field(default_factory=lambda: {"yes": 1.0, "no": 0.0})  # Replies and their support.
    window: Window | None = None
    most_tokens: int = 512
    # Positions of the classes: their number, that of support, and that of contradiction if there is one.
    classes: int = 2
    support: int = 1
    contradiction: int | None = None
    # How the verdicts on the sentences of a claim are joined: `min` or `mean`. Empty: a claim is read as a whole.
    sentences: str = ""
    # How to get it if it cannot be pulled.
    how_to_get: str = ""
    # Another repository with the tokenizer.
    tokenizer: str = ""
    # Published results: text, claim and support.
    published: tuple[tuple[str, str, float], ...] = ()

    @property
    def is_commercial(self) -> bool:
        """Whether its licence allows commercial use."""
        return "NC" not in self.licence

    @property
    def needs(self) -> str:
        """The runtime."""
        served = "a server: ollama/, vllm/, llamacpp/, or llama/ in this process"
        return {CLASSIFIER: _ENCODER, SPANS: _ENCODER, T5: "runs with numpy", CHAT: f"needs {served}"}[self.runner]

    def fill(self, question: str, claim: str, text: str) -> str:
        """The input of the model. Braces in the texts are plain text."""
        parts = {"{question}": question, "{claim}": claim, "{text}": text}
        return re.sub(r"\{(?:question|claim|text)\}", lambda match: parts[match[0]], self.template)

    def windows(self, text: str, count_tokens: Callable[[str], int]) -> list[str]:
        """The parts of a text that are read one by one; at least one."""
        window = self.window
        if window is None:
            return [text]
        count = _COUNTS.get(window.unit, count_tokens)
        lines = [[*_units(line, window.size, count)] for line in text.splitlines()]
        if window.equal or window.between == "\n":
            lines = [[unit for line in lines for unit in line]]
        if window.equal:
            return _equal_parts(text, lines[0], window.size) or [text]
        units = [unit for line in lines for unit in (*line, "\n")][:-1]
        return [*_packed(units, window, count)] or [text]

    def claim_parts(self, claim: str) -> list[str]:
        """The sentences of a claim if the checker reads them one by one; else the claim."""
        return [claim[start:end] for start, end in sentences(claim)] or [claim] if self.sentences else [claim]


_ENCODER = "runs with onnxruntime (ONNX) or torch and transformers (safetensors)"


def _units(line: str, size: int, count: Callable[[str], int]) -> Iterator[str]:
    """The sentences of a line. One that exceeds the window is cut between words, so that the claim after it is never cut off."""
    spans = sentences(line)
    for part in [line[start:end] for start, end in spans] or ([line.strip()] if line.strip() else []):
        words, at = part.split(), 0
        if count(part) <= size or len(words) < 2:
            yield part
            continue
        while at < len(words):
            step = len(words) - at
            while step > 1 and count(" ".join(words[at : at + step])) > size:
                step = max(1, step // 2)
            yield " ".join(words[at : at + step])
            at += step


def _packed(units: Sequence[str], window: Window, count: Callable[[str], int]) -> Iterator[str]:
    """Whole sentences up to the size of the window. Line breaks are kept."""
    parts: list[list[str]] = [[]]
    size = 0
    for unit in units:
        more = count(unit)
        if size + more > window.size:
            parts.append([])
            size = 0
        parts[-1].append(unit)
        size += more
    yield from filter(None, (window.between.join(part).replace(" \n ", "\n").strip() for part in parts))


def _equal_parts(text: str, units: Sequence[str], size: int) -> list[str]:
    step = max(1, len(units) // (len(text.split()) // size + 1))
    return [" ".join(units[at : at + step]) for at in range(0, len(units), step)]


def _load() -> Iterator[FieldChecker]:
    text = (resources.files("ragstone.models") / "checkers.toml").read_text(encoding="utf-8")
    for name, facts in tomllib.loads(text).items():
        window = Window(**facts.pop("window")) if "window" in facts else None
        published = tuple(tuple(item) for item in facts.pop("published", ()))
        try:
            checker = FieldChecker(name=name, window=window, published=published, **facts)
        except TypeError as error:
            raise DefinitionError(f"checkers.toml, {name}: {error}") from None
        yield checker


CHECKERS: dict[str, FieldChecker] = {checker.name: checker for checker in _load()}
# What may stand behind a name: formats, and quantisations such as q4-k-m.
_SUFFIX = r"(-(gguf|ggml|onnx|awq|gptq|fp8|latest|instruct|i?q\d\w*(-[a-z0]{1,2}){0,2}|f16|bf16|fp16|\d+b))*"
# Families with a form of their own, of which the table has some members.
_FAMILIES = (r"granite.*guardian", r"lettuced[et]+ct", r"hhem")


@cache
def recognise(model: str) -> FieldChecker | None:
    """The checker that a name means, in any spelling: `factcg`, `org/name@revision`, `ollama/NAME:TAG`, `llama/FILE.gguf`."""
    server, path = split_server(model.strip())
    if server not in ("", *_SERVERS) or ".py:" in path:
        return None
    plain = re.sub(r"\.gguf$", "", path.lower())
    # A file in a repository (`:onnx/model.onnx`) or a tag of Ollama (`:7b-q3_K_L`) follows the name.
    dashed = _dashed(plain.partition("@")[0].partition(":")[0].rpartition("/")[2])
    for checker in CHECKERS.values():
        if re.fullmatch(rf"({_dashed(checker.name)}|{checker.spelled}){_SUFFIX}", dashed):
            return checker
    if any(re.search(family, dashed) for family in _FAMILIES):
        raise UsageError(
            f"'{model}' is asked in a form of its own that Ragstone does not know. Choose from: {', '.join(CHECKERS)}"
        )
    return None


def _dashed(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")


def split_server(model: str) -> tuple[str, str]:
    """Split `ollama/NAME` into server and name. The server is empty for a model that runs in this process."""
    first, _, rest = model.partition("/")
    if first in ("local", "hf") and rest:
        return "", rest
    return (first, rest) if rest and first in _SERVERS else ("", model)
