"""The options that choose the models of a run and limit their calls: one table for Python, the command line and ragstone.toml."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NamedTuple, Self

from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools.keywords import describe_unknown

# How verdicts are asked for.
VERDICTS = ("auto", "tokens", "json")
# When images are sent.
IMAGES = ("auto", "on", "off")
# The panels of these options in the help of a command.
MODELS, COST = "Judge and other models", "Limits and cost"


class Option(NamedTuple):
    """An option of the command line. The first long flag is its name and its key in ragstone.toml; the others are old spellings."""

    flags: str
    panel: str
    help: str
    default: Any = None
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    envvar: str | None = None
    hidden: bool = False
    # Type of its value, if the default does not show it.
    type: Any = None
    # Its value if it is written without one.
    bare: str | None = None

    @property
    def kind(self) -> Any:
        """Type of its value, such as `int` or `list[str]`; text if nothing shows it."""
        shown = str if self.default in (None, ...) else list[str] if self.default == [] else type(self.default)
        return self.type or shown


def _option(
    default: Any,
    help: str,
    metavar: str | None = None,
    *,
    python: str = "",
    name: str = "",
    panel: str = MODELS,
    shown: Any = None,
    **more: Any,
) -> Any:
    """A field of `ModelOptions`.

    `help` describes it on the command line, and in Python unless `python` does. `name` and `shown` are its name and its
    default on the command line, if they differ. A field that is True by default is switched off there: `--no-cache`.
    """
    shown = False if default is True else default if shown is None else shown
    option = Option("", panel, help, shown, metavar, **more)
    return field(default=default, metadata={"help": python or help, "name": name, "option": option})


def _python_option(default: Any, help: str) -> Any:
    """A field of `ModelOptions` without an option in every command."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class ModelOptions:
    """Models and call limits. Without a named model only local models are used.

    `ragstone.Judge` takes the same names as keyword arguments.
    """

    judge: Any = _option(
        None,
        "Judge model: openai/gpt-4o-mini, ollama/llama3.1, llama/NAME, file.py:function, local, local-large, trained/NAME, or "
        "local>openai/gpt-4o-mini to escalate uncertain verdicts.",
        "MODEL",
        python="Judge model: a name such as `openai/gpt-4o-mini`, a function, or an object; `local` is the local judge, "
        "`local>openai/gpt-4o-mini` escalates uncertain verdicts.",
    )
    extractor: Any = _option(
        None, "Model that extracts claims.", "MODEL", python="Model that extracts claims, in place of the judge."
    )
    checker: Any = _option(
        None,
        "Model that checks claims: a judge, a checker of the field (factcg, ollama/bespoke-minicheck; `ragstone models` lists "
        "them), or file.py:function of claims and texts.",
        "MODEL",
        python="Model that checks claims, in place of the judge: a name, also of a checker of the field such as `factcg`; or a "
        "function of claims and texts that returns probabilities.",
    )
    agreement: float = _option(0.9, "Confidence at which the local judge decides without escalating.", "SHARE")
    trained_judge: Any = _python_option(None, "Your own tool in place of the judge `trained/NAME`.")
    estimator: Any = _python_option(None, "Your own tool in place of the local judge's estimates.")
    embedder: Any = _option(
        None, "Embedding model: local, openai/text-embedding-3-small, or a+b for the mean.", "MODEL"
    )
    scorer: Any = _option(None, "Model for token probabilities: local, hf/NAME, or a server with echo.", "MODEL")
    reward_model: Any = _option(None, "Local reward model.", "MODEL", hidden=True)
    toxicity_model: Any = _option(None, "Local toxicity classifier.", "MODEL", hidden=True)
    corpus: Any = _option(
        None,
        "Documents, or a JSONL file of chunks, to look claims up in (factscore). Repeatable.",
        "PATH",
        python="Documents, or a JSONL file of chunks, that claims are looked up in: a path, several, or an object with `search`.",
        shown=[],
    )
    base_url: Any = _option(
        None, "Address of an OpenAI-compatible server; several, or a file of them, share the calls.", "URL", shown=[]
    )
    claims: str = _option("sentences", "Form of claims: sentences or triplets.", "FORM")
    scale: str = _option("points", "Scale of grades: points (0-100), stars (1-5), ten (1-10) or binary.")
    grading: Sequence[str] = _option((), "Grading steps: cot, few-shot, rubric, own-reference.", "NAMES", shown="")
    aspect: str = _python_option("quality", "Pairwise judging: the aspect in which answers are compared.")
    order: str = _python_option("both", 'Pairwise judging: in "both" orders or in one "random" order.')
    claims_per_call: int = _option(25, "Claims checked per call.", "N", min=1, hidden=True)
    chunks_per_call: int = _option(10, "Chunks checked per call.", "N", min=1, hidden=True)
    repeats: int = _option(
        1, "Times each question is asked.", "N", python="Times each verdict is asked for; the majority counts.", min=1
    )
    verdicts: str = _option(
        "auto",
        "Verdicts by token probabilities or as JSON: auto, tokens or json.",
        "HOW",
        python='"tokens" (one yes or no per claim and text, with its probability), "json", or "auto": tokens for local and small models.',
    )
    exam: bool = _option(
        True,
        "Do not examine the judge first.",
        python="False: a language model is not examined before it checks claims.",
    )
    calibration: Any = _option(
        True,
        "Do not use what --calibrate measured.",
        python="False: probabilities and means are not calibrated by what judge-check and agree measured.",
    )
    images: str = _option(
        "auto",
        "Send the images of chunks to the judge: auto (if the model is known to see), on or off.",
        "WHEN",
        python='"auto": images of chunks are sent to models that are known to see them; "on": to every model; "off": to none.',
    )
    prompts: str | os.PathLike[str] | None = _option(
        None, "Folder with prompts that replace the built-in ones.", "FOLDER"
    )
    budget: Any = _option(
        None,
        "Stop before more than this is spent, for example 5usd.",
        "AMOUNT",
        python='Most that may be spent, such as "5usd". Runs that share one Budget object spend it together.',
        panel=COST,
    )
    timeout_s: float = _option(120.0, "Time limit per call.", "SECONDS", name="timeout", panel=COST)
    deadline_s: float | None = _option(
        None, "Time limit for all calls together.", "SECONDS", name="deadline", panel=COST, type=float
    )
    requests_per_minute: float | None = _option(
        None, "Maximum calls per minute.", "N", name="rpm", panel=COST, type=float
    )
    tokens_per_minute: float | None = _option(
        None, "Maximum tokens per minute.", "N", name="tpm", panel=COST, type=float
    )
    cache: bool = _option(
        True,
        "Do not use replies stored by earlier runs.",
        python="False: replies of earlier runs are not used.",
        panel=COST,
    )
    offline: bool = _python_option(False, "True: only replies of earlier runs are used; a missing reply fails.")
    batch: Any = _option(
        False,
        "Ask language models through their batch API: half the price, up to a day.",
        python="True: language models are asked through their batch API; a folder: through files in OpenAI's batch format.",
        panel=COST,
    )

    def __post_init__(self) -> None:
        for name in ("repeats", "claims_per_call", "chunks_per_call"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be 1 or more, got {value!r}")

        limits = ("timeout_s", "deadline_s", "requests_per_minute", "tokens_per_minute")
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in limits and value is not None and not 0 < value < math.inf:
                flag = f"--{_command_line_name(item)}"
                raise UsageError(f"{item.name} ({flag}) must be a finite number above 0, got {value!r}")
        if self.budget is not None:
            from ragstone.llm.budget import parse_budget  # noqa: PLC0415  (slow import)

            parse_budget(self.budget)
        if self.batch and not self.cache:
            raise UsageError("batches need the cache for their replies: leave out --no-cache (cache=False).")
        if self.images not in IMAGES:
            raise UnknownNameError("value of images", self.images, IMAGES, f"Choose from: {', '.join(IMAGES)}.")
        # A mapping has the results of trials, by model.
        if not isinstance(self.verdicts, Mapping) and self.verdicts not in VERDICTS:
            hint = f"Choose from: {', '.join(VERDICTS)}."
            raise UnknownNameError("way of asking for verdicts", self.verdicts, VERDICTS, hint)

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> Self:
        """Options from keyword arguments of `evaluate`; an unknown name is a TypeError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(keywords) - known):
            raise TypeError(describe_unknown("evaluate", unknown[0], known))
        # `None` means the default unless None is itself a value.
        defaults = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        return cls(**{k: v for k, v in keywords.items() if v is not None or defaults[k] is None})

    def keywords(self) -> dict[str, Any]:
        """The options that differ from their defaults, as keyword arguments for `evaluate`."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @classmethod
    def from_command_line(cls, values: Mapping[str, Any]) -> Self:
        """Options from values by their names on the command line."""
        found: dict[str, Any] = {}
        for item in fields(cls):
            if (value := values.get(_command_line_name(item))) is not None:
                found[item.name] = not value if item.default is True else None if value == [] else value
        if given := values.get("base_url"):
            from ragstone.llm.endpoints import list_addresses  # noqa: PLC0415  (slow import)

            found["base_url"] = list_addresses(given[0] if len(given) == 1 else given) or given[0]
        if "grading" in found:
            found["grading"] = tuple(name.strip() for name in values["grading"].split(",") if name.strip())
        return cls(**found)


def _command_line_name(item: Field[Any]) -> str:
    name: str = item.metadata.get("name") or item.name
    return f"no_{name}" if item.default is True else name


# The options on the command line by their names there.
OPTIONS: dict[str, Option] = {
    name: item.metadata["option"]._replace(flags=f"--{name.replace('_', '-')}")
    for item in fields(ModelOptions)
    if "option" in item.metadata
    for name in [_command_line_name(item)]
}
ModelOptions.__doc__ = f"{(ModelOptions.__doc__ or '').rstrip()}\n\n    Attributes:\n" + "".join(
    f"        {item.name}: {item.metadata['help']}\n" for item in fields(ModelOptions)
)
