"""Signatures: the text that records how a score was made, as data.

`token_f1|v1|words/1` is a metric, its version and the evidence below it. Tools (`checker:openai/gpt-4o-mini,temperature=0`)
and the hashes of their prompts (`claims:0123456789ab`) follow. The text form is stored with every score and never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from string import hexdigits

_LOCAL_JUDGE = "local-judge/"
_TRAINED_JUDGE = "trained/"
_TEMPERATURE = "temperature="
# A prompt that the run no longer has a hash for.
_UNKNOWN_HASH = "unknown"


@dataclass(frozen=True)
class JudgeSignature:
    """One model of a tool: its name, and whether it is a language model (only these have a temperature)."""

    name: str
    is_llm: bool

    @classmethod
    def parse(cls, text: str) -> JudgeSignature:
        """Read `openai/gpt-4o-mini,temperature=0;25x10`: the name comes first, the settings follow."""
        name, *settings = text.replace(";", ",").split(",")
        return cls(name.partition("(")[0].strip(), any(part.startswith(_TEMPERATURE) for part in settings))


@dataclass(frozen=True)
class ToolSignature:
    """The models of a tool: one, or the steps of a cascade from the local judge upwards."""

    text: str

    def __str__(self) -> str:
        return self.text

    @cached_property
    def judges(self) -> tuple[JudgeSignature, ...]:
        """The models in the order of their calls."""
        return tuple(map(JudgeSignature.parse, self.text.split(">")))

    @property
    def name(self) -> str:
        """The name of the model that is called first."""
        return self.judges[0].name

    @property
    def llms(self) -> tuple[str, ...]:
        """The names of the language models."""
        return tuple(judge.name for judge in self.judges if judge.is_llm)

    @property
    def uses_local_judge(self) -> bool:
        """Whether the packaged local judge is called first."""
        return self.name.startswith(_LOCAL_JUDGE)

    @property
    def trained_judge(self) -> str | None:
        """`trained/NAME` if a judge made by `ragstone train` is used."""
        return self.name.partition("#")[0] if self.name.startswith(_TRAINED_JUDGE) else None


@dataclass(frozen=True)
class Signature:
    """How a score or a piece of evidence was made. `text` is the stored form; parts of an unknown form are in `other`."""

    text: str
    metric: str = ""
    version: str = ""
    evidence: tuple[str, ...] = ()
    # Not compared: the text decides, and a mapping has no hash.
    tools: Mapping[str, ToolSignature] = field(default_factory=dict, compare=False)
    prompts: tuple[tuple[str, str], ...] = ()
    other: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    @classmethod
    def build(
        cls, own: str, evidence: Iterable[str], tools: Mapping[str, str], prompts: Iterable[tuple[str, str]]
    ) -> Signature:
        """The signature of `own`: a metric with its version, or the stamp of an evidence function."""
        parts = [own, *evidence, *(f"{name}:{text}" for name, text in tools.items())]
        return cls.parse("|".join(dict.fromkeys([*parts, *(f"{name}:{digest}" for name, digest in prompts)])))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read the stored form; every text is accepted."""
        parts = text.split("|") if text else []
        metric = parts.pop(0) if parts and not _is_stamp(parts[0]) else ""
        version = parts.pop(0) if metric and parts and parts[0][:1] == "v" and parts[0][1:].isalnum() else ""
        evidence, prompts, other = [], [], []
        tools: dict[str, ToolSignature] = {}
        for part in parts:
            name, colon, value = part.partition(":")
            if _is_stamp(part):
                evidence.append(part)
            elif not colon or not name.isidentifier() or name in tools:
                other.append(part)
            elif _is_hash(value):
                prompts.append((name, value))
            else:
                tools[name] = ToolSignature(value)
        return cls(text, metric, version, tuple(evidence), tools, tuple(prompts), tuple(other))

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts as they are stored."""
        return tuple(self.text.split("|"))

    @property
    def uses_local_judge(self) -> bool:
        """Whether any tool uses the packaged local judge."""
        return any(tool.uses_local_judge for tool in self.tools.values())

    @property
    def is_local(self) -> bool:
        """Whether the packaged local judge decides alone; a language model may have extracted the claims."""
        return any(tool.uses_local_judge and not tool.llms for tool in self.tools.values())

    @property
    def llms(self) -> tuple[str, ...]:
        """The names of all language models."""
        return tuple(dict.fromkeys(name for tool in self.tools.values() for name in tool.llms))

    @property
    def trained_judge(self) -> str | None:
        """The judge made by `ragstone train`, if one was used."""
        return next((tool.trained_judge for tool in self.tools.values() if tool.trained_judge), None)

    def describe_change(self, after: Signature) -> str:
        """The parts that only one of two signatures has: `judge:a → judge:b`."""
        removed = [part for part in self.parts if part not in after.parts]
        added = [part for part in after.parts if part not in self.parts]
        return f"{', '.join(removed) or 'nothing'} → {', '.join(added) or 'nothing'}"


def _is_stamp(part: str) -> bool:
    """Whether a part is `name/version` or `name/version(settings)` of an evidence function."""
    name, slash, version = part.partition("(")[0].partition("/")
    return bool(slash) and name.isidentifier() and version.isalnum()


def _is_hash(text: str) -> bool:
    """Whether it is the hash of a prompt, or several joined by + for prompts that replace one another."""
    parts = text.split("+")
    return text == _UNKNOWN_HASH or all(len(part) >= 8 and set(part) <= set(hexdigits) for part in parts)
