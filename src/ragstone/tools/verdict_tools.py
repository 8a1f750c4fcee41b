"""Verdicts by tokens or as JSON: the choice for a model, its trial before the first verdict, and the tools."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ragstone.llm.base import LLM, LLMError, LLMRefusedError
from ragstone.llm.endpoints import SERVERS, BaseURL, find_endpoints
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.llm.wrappers import ordinary_calls
from ragstone.llm.yes_no import YesNoLLM
from ragstone.tools.calibrations import Calibrations
from ragstone.tools.judge_exam import load_items
from ragstone.tools.llama import is_llama, is_trained_judge
from ragstone.tools.llm_judges import JudgeChecker, JudgeReader
from ragstone.tools.local_judges import with_question
from ragstone.tools.token_judges import SUPPORT, TokenChecker, TokenGrader

# Servers that run a model on the user's own machines.
_OWN_SERVERS = ("ollama", "llamacpp", "vllm")
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
# Billions of parameters of a small model.
_SMALL = 9.0
# Options of a checker that replies in JSON.
_SIZES = ("repeats", "claims_per_call", "chunks_per_call")
# Words that a small local model reads of a long text.
_LLAMA_WINDOW = 700


async def find_token_fault(llm: LLM, book: PromptBook) -> str | None:
    """Ask a question of the exam; return why the model cannot be asked for tokens, or None if it can.

    A model that does not answer now is not at fault: its calls fail one by one.
    """
    data = next(item.data for item in load_items() if item.kind == "verdict")
    shown = {"evidence": with_question(data["question"], data["text"]), "claim": data["claim"]}
    try:
        with ordinary_calls():
            return await YesNoLLM(llm, book, (SUPPORT,)).find_fault(SUPPORT, shown)
    except LLMRefusedError as error:
        return str(error)
    except LLMError:
        return None


def open_verdicts(role: str, model: Any, judge: Judge, options: Mapping[str, Any], calibrations: Calibrations) -> Any:
    """The checker or the grader of a language model. Without a trial, `auto` is tokens where these are likely.

    The large judge is always asked in the form that it was trained in.
    """
    if is_trained_judge(model):
        from ragstone.tools.large_judges import open_large_tool  # noqa: PLC0415  (reads its card)

        return open_large_tool(role, judge.llm, in_turn=is_llama(model))
    way = choose_verdicts(options.get("verdicts", "auto"), model, options.get("base_url"), options.get("repeats", 1))
    # Verdicts by tokens are asked for without images.
    if way == "json" or (way == "auto" and judge.vision):
        sizes: dict[str, Any] = {name: value for name, value in options.items() if name in _SIZES}
        return JudgeChecker(judge, **sizes) if role == "checker" else JudgeReader(judge)
    inside = is_llama(model)
    kind = TokenChecker if role == "checker" else TokenGrader
    window = _LLAMA_WINDOW if inside else None
    return kind(judge.llm, judge.prompts, window, one_by_one=inside, calibrations=calibrations)


def choose_verdicts(wanted: str | Mapping[str, str], model: Any, base_url: BaseURL, repeats: int = 1) -> str:
    """`tokens`, `json`, or `auto`: tokens unless a trial shows that the server returns no probabilities.

    `wanted` may have the result of such trials, by model. `auto` is for models that are local or small. An openai/ name on this machine may be a proxy of a large one, so its
    size counts. Repeats ask for JSON, because they measure how far sampled replies agree.
    """
    if isinstance(wanted, Mapping):
        wanted = wanted.get(model, "auto") if isinstance(model, str) else "auto"
    if wanted != "auto":
        return wanted
    if is_llama(model):
        return "tokens"
    return "auto" if repeats == 1 and isinstance(model, str) and _is_local_or_small(model, base_url) else "json"


def _is_local_or_small(model: str, base_url: BaseURL) -> bool:
    provider, _, name = model.strip().partition("/")
    if provider not in SERVERS or not name:
        return False
    sizes = [float(size) for size in _SIZE.findall(name)]
    if sizes:
        return max(sizes) <= _SMALL
    return provider in _OWN_SERVERS and all(_is_loopback(one.base) for one in find_endpoints(provider, name, base_url))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
