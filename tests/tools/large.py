"""A stand-in for the large judge: its base is installed as an empty file, and a function replies in its trained form."""

import math
import re

from ragstone.models import llama_engine
from ragstone.models.catalogue import MODELS
from ragstone.models.store import Store
from ragstone.tools import llama

_TASK = re.compile(
    r"Evidence:\n(?P<text>.*)\n\nClaim: (?P<claim>.*)\n\nDoes the evidence support the claim\?", re.DOTALL
)


def install_base(folder, monkeypatch):
    """A store in which the base of the large judge is installed, and used by default."""
    store = Store(folder / "models")
    monkeypatch.setenv("RAGSTONE_MODELS", str(store.folder))
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "")
    monkeypatch.setattr(llama_engine, "find_spec", lambda _: True)
    store.put(MODELS["judge-1.5b"].source.repository, {"base.gguf": b"GGUF"}, "a test")
    llama._chat.cache_clear()
    return store


class LargeEngine:
    """Supports a claim that the evidence contains, denies one of which it has the words but for "not", else does not know."""

    def __init__(self):
        self.bodies = []

    def __call__(self, body):
        self.bodies.append(body)
        return reply_to(body)

    @property
    def asked(self):
        return [body["messages"][-1]["content"] for body in self.bodies]


def reply_to(body):
    """A chat completion as llama.cpp's server sends it."""
    message = body["messages"][-1]["content"]
    task = _TASK.fullmatch(message)
    if task is None:
        word = "yes"
    else:
        claim = task["claim"].rstrip(".")
        plain = task["text"].replace(" not ", " ")
        word = "yes" if claim in task["text"] else "no" if claim in plain else "unknown"
    if body["messages"][0]["content"].startswith("Say in one"):
        return {"choices": [{"message": {"content": "The text is silent."}, "finish_reason": "stop"}]}
    if body["messages"][0]["content"] != "Answer yes, no or unknown.":
        return {"choices": [{"message": {"content": "The boat leaves.\nThe moon is cheese."}, "finish_reason": "stop"}]}
    top = [{"token": word, "logprob": math.log(0.97)}]
    top += [{"token": other, "logprob": math.log(0.015)} for other in ("yes", "no", "unknown") if other != word]
    choice = {"message": {"content": word}, "finish_reason": "length"}
    choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return {"choices": [choice], "usage": {"prompt_tokens": 60, "completion_tokens": 1}}
